package main

import (
	"os"
	"syscall"
)

// hangup is never sent here; `grapnel policy reload` does the same.
func hangup() os.Signal { return syscall.SIGHUP }
