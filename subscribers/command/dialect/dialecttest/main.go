package dialecttest

import (
	"fmt"
	"os"
	"testing"

	"go.uber.org/goleak"

	"github.com/grapnel-dev/grapnel/runner/process"
)

// supervise is the argument by which the test binary is a supervisor.
const supervise = "supervise"

// Main runs a package's tests, and fails when a goroutine is left over. It does
// not return.
func Main(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == supervise {
		goleak.VerifyTestMain(supervisor{})
		return
	}
	goleak.VerifyTestMain(m)
}

// supervisor is what runs in place of the tests.
type supervisor struct{}

func (supervisor) Run() int {
	if err := process.Supervise(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

// Runner returns a runner of hook commands whose supervisors are this test
// binary, see [Main]. It is closed with the test.
func Runner(t testing.TB) *process.Runner {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	r := process.New(&process.Options{Supervisor: []string{self, supervise}, Limit: 8})
	t.Cleanup(func() {
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	})
	return r
}
