package process

import (
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"golang.org/x/sys/unix"
)

// TestOnThread holds that what is done to a thread is done to no other, and
// never to the first, which cannot end.
func TestOnThread(t *testing.T) {
	t.Parallel()
	var all sync.WaitGroup
	for range 300 {
		all.Add(1)
		onThread(func() {
			defer all.Done()
			assert.NotEqual(t, unix.Getpid(), unix.Gettid())
			before, err := unix.PrctlRetInt(unix.PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0)
			assert.NoError(t, err)
			assert.Zero(t, before, "a thread that another run has used")
			assert.NoError(t, unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
		})
	}
	all.Wait()
	for range 100 {
		all.Go(func() {
			after, err := unix.PrctlRetInt(unix.PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0)
			assert.NoError(t, err)
			assert.Zero(t, after)
		})
	}
	all.Wait()
}
