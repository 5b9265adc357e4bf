//go:build unix

package main

import (
	"context"
	"os/exec"
	"syscall"
)

const executableSuffix = ""

// detach lets cmd live on when the session that started it ends.
func detach(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} }

// privateFiles makes all that this process creates its user's alone.
func privateFiles() { syscall.Umask(0o077) }

// shellCommand runs a line as an agent does.
func shellCommand(ctx context.Context, line string) *exec.Cmd {
	return exec.CommandContext(ctx, "/bin/sh", "-c", line)
}
