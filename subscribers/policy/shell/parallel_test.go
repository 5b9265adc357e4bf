package shell_test

import (
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/grapnel-dev/grapnel/subscribers/policy/shell"
	"github.com/grapnel-dev/grapnel/subscribers/policy/shell/place"
)

// TestManyAtOnce is for the race detector: a library below keeps state that its
// callers share unless they bring their own.
func TestManyAtOnce(t *testing.T) {
	t.Parallel()
	var wg sync.WaitGroup
	for range 16 {
		wg.Go(func() {
			for _, text := range []string{`r$'\155' -rf /`, `$(printf 'r%s' m) -rf /`, `echo ${IFS} {a,b}`} {
				roots := place.Roots{Home: "/home/dev"}
				assert.NotNil(t, shell.Analyze(text, "/work", place.NewResolver(roots), roots))
			}
		})
	}
	wg.Wait()
}
