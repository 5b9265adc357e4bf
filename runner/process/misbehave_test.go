package process_test

import (
	"context"
	"fmt"
	"os"

	"github.com/grapnel-dev/grapnel/runner/process"
)

// misbehave is a program that runs one command in the way that its arguments
// say, for tests that kill the program itself.
func misbehave(args []string) {
	r := process.New(&process.Options{Supervisor: []string{"/proc/self/exe", "supervise"}})
	_, err := r.Run(context.Background(), process.Spec{Shell: args[0], Dir: args[1], Env: os.Environ()})
	fmt.Fprintln(os.Stderr, err)
}
