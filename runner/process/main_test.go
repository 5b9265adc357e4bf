package process_test

import (
	"fmt"
	"os"
	"testing"

	"go.uber.org/goleak"

	"github.com/grapnel-dev/grapnel/runner/process"
)

// TestMain makes the test binary a supervisor and some badly behaved commands.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 {
		switch os.Args[1] {
		case "supervise":
			if err := process.Supervise(); err != nil {
				fmt.Fprintln(os.Stderr, err)
				os.Exit(1)
			}
			os.Exit(0)
		case "misbehave":
			misbehave(os.Args[2:])
			os.Exit(0)
		case "elsewhere":
			if err := runElsewhere(); err != nil {
				fmt.Fprintln(os.Stderr, err)
				os.Exit(1)
			}
			os.Exit(0)
		case "dial", "listen":
			connect(os.Args[1], os.Args[2], os.Args[3])
			os.Exit(0)
		}
	}
	goleak.VerifyTestMain(m)
}
