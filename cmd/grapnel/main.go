// Command grapnel is the hook bus for coding agents: the daemon, what agents
// start, and everything people ask of it. See `grapnel help`.
package main

import (
	"context"
	"os"
)

func main() {
	os.Exit(int(run(context.Background(), os.Args[1:], streams{os.Stdin, os.Stdout, os.Stderr}, os.Getenv)))
}
