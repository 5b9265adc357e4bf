//go:build unix

package main_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// TestMain builds the programs that the tests run: nothing here calls into the
// package, everything goes through processes, sockets and files.
func TestMain(m *testing.M) {
	os.Exit(testMain(m))
}

func testMain(m *testing.M) int {
	dir, err := os.MkdirTemp("", "grapnel-test-")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	if dir, err = filepath.EvalSymlinks(dir); err != nil {
		panic(err)
	}
	build := exec.Command("go", "build", "-ldflags=-s -w", "-o", dir+"/", ".", "../grapnel-hook", "github.com/nats-io/nats-server/v2")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stderr, "build the programs: %v\n%s", err, out)
		return 1
	}
	os.Setenv("GRAPNEL_TEST_PROGRAMS", dir)
	code := m.Run()
	// Every test looks for its own; this is for whatever they do not know of.
	if left := running(dir); len(left) > 0 {
		fmt.Fprintf(os.Stderr, "processes that outlived the tests: %v\n", left)
		for _, p := range left {
			p.kill()
		}
		return 1
	}
	return code
}

// programs is where the built programs are.
func programs() string { return os.Getenv("GRAPNEL_TEST_PROGRAMS") }

func program(name string) string { return filepath.Join(programs(), name) }
