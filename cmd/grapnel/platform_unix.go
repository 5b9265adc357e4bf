//go:build unix

package main

import (
	"context"
	"fmt"
	"os"
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

// makePrivate closes a directory of ours to other users, and refuses one into
// which they could have put keys of theirs.
func makePrivate(dir string) error {
	info, err := os.Stat(dir)
	if err != nil {
		return err
	}
	owner, ok := info.Sys().(*syscall.Stat_t)
	if ok && os.Getuid() != 0 && int(owner.Uid) != os.Getuid() {
		return fail(exitFailed, "give one of your own with --state", fmt.Errorf("%s belongs to another user", dir))
	}
	if info.Mode().Perm()&0o022 != 0 {
		return fail(exitFailed, "look at what is in it, then run chmod go-rwx "+dir, fmt.Errorf("other users may write to %s (mode %04o)", dir, info.Mode().Perm()))
	}
	if info.Mode().Perm()&0o055 != 0 {
		return os.Chmod(dir, 0o700)
	}
	return nil
}
