package main

import (
	"context"
	"os/exec"
	"syscall"
)

const executableSuffix = ".exe"

func detach(cmd *exec.Cmd) {
	const detachedProcess = 0x00000008
	cmd.SysProcAttr = &syscall.SysProcAttr{CreationFlags: detachedProcess | syscall.CREATE_NEW_PROCESS_GROUP}
}

// privateFiles has nothing to do: a profile's directories are its user's alone.
func privateFiles() {}

// shellCommand runs a line as an agent does.
func shellCommand(ctx context.Context, line string) *exec.Cmd {
	return exec.CommandContext(ctx, "bash", "-c", line)
}

// makePrivate has nothing to do, for the same reason.
func makePrivate(string) error { return nil }
