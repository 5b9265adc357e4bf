package process_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"syscall"

	"github.com/grapnel-dev/grapnel/runner/process"
)

// misbehave is a program that runs one command in the way that its arguments
// say, for tests that kill the program itself.
func misbehave(args []string) {
	r := process.New(&process.Options{Supervisor: []string{"/proc/self/exe", "supervise"}})
	_, err := r.Run(context.Background(), process.Spec{Shell: args[0], Dir: args[1], Env: os.Environ()})
	fmt.Fprintln(os.Stderr, err)
}

// connect is a command that uses the network.
func connect(what, network, address string) {
	var err error
	if what == "dial" {
		_, err = net.Dial(network, address)
	} else {
		// Go listens with MPTCP where it can, which Landlock does not see.
		var config net.ListenConfig
		config.SetMultipathTCP(false)
		_, err = config.Listen(context.Background(), network, address)
	}
	switch {
	case err == nil:
		fmt.Println("done")
	case errors.Is(err, syscall.EACCES), errors.Is(err, syscall.EPERM):
		fmt.Println("refused")
	default:
		fmt.Println(err)
	}
}
