package trust_test

import (
	"fmt"
	"os"
	"testing"

	"go.uber.org/goleak"

	"github.com/grapnel-dev/grapnel/runner/process"
	"github.com/grapnel-dev/grapnel/runner/trust"
)

// TestMain makes the test binary a supervisor, and a process that approves.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 {
		switch os.Args[1] {
		case "supervise":
			exit(process.Supervise())
		case "approve":
			exit(approveAll(os.Args[2], os.Args[3]))
		}
	}
	goleak.VerifyTestMain(m)
}

func exit(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

// approveAll approves thirty hooks of its own in the store at path.
func approveAll(path, name string) error {
	store, err := trust.Open(path)
	if err != nil {
		return err
	}
	defer store.Close()
	gauge := trust.NewGauge(nil)
	for i := range 30 {
		m, err := gauge.Measure(trust.Definition{Dialect: "d", File: "/f", ID: fmt.Sprintf("%s-%d", name, i), Source: trust.Workspace})
		if err != nil {
			return err
		}
		if err := store.Approve(m, "nobody", anyTime()); err != nil {
			return err
		}
	}
	return nil
}
