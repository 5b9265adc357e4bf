package pack_test

import (
	"fmt"
	"os"
	"testing"

	"go.uber.org/goleak"

	"github.com/grapnel-dev/grapnel/runner/process"
)

// TestMain also is the supervisor of the hook commands that the tests run.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == "supervise" {
		if err := process.Supervise(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	goleak.VerifyTestMain(m)
}
