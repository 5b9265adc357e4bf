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
		if err := process.Supervise(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	goleak.VerifyTestMain(m)
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
