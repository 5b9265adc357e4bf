package main

import (
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
