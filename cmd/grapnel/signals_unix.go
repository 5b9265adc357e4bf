//go:build unix

package main

import (
	"os"
	"syscall"
)

// hangup is the signal that has the policy read anew.
func hangup() os.Signal { return syscall.SIGHUP }
