//go:build unix

package process

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

const (
	shellPath         = "/bin/sh"
	needsWindowsNames = false
	handsDownFiles    = true
)

func mayExecute(info fs.FileInfo) bool { return info.Mode()&0o111 != 0 }

func candidates(file string) []string { return []string{file} }

func signalName(n int) string {
	if s := unix.SignalName(syscall.Signal(n)); s != "" {
		return s
	}
	return fmt.Sprintf("signal %d", n)
}

// startError finds out what an error number of starting a command means. The
// kernel gives the same number for a missing file, a missing interpreter and a
// missing directory.
func startError(s Spec, err error) error {
	name, file := s.Command[0], s.file()
	if s.Program != s.Command[0] && file == s.Program {
		name = file
	}
	var number syscall.Errno
	if !errors.As(err, &number) {
		return fmt.Errorf("%w: %s: %w", ErrStart, name, err)
	}
	if number == syscall.E2BIG {
		return fmt.Errorf("%w: %s: one of the arguments or variables, or all of them together, is more than the system takes; read large values from stdin", ErrTooLong, name)
	}
	if dirErr := usableDir(s.Dir); dirErr != nil {
		return dirErr
	}
	switch number {
	case syscall.ENOENT, syscall.EACCES, syscall.EPERM, syscall.ENOTDIR:
		if err := executable(name, file); err != nil {
			return err
		}
		shut := number == syscall.EACCES && s.Sandbox.closed()
		if line := interpreter(file); line != "" {
			if shut && executable(line, line) == nil {
				return fmt.Errorf("%w: the first line of %s asks for %.100q, which its sandbox does not let it execute; add that to read_only", ErrInterpreter, name, line)
			}
			return fmt.Errorf("%w: the first line of %s asks for %.100q, which is missing or not executable", ErrInterpreter, name, line)
		}
		if number == syscall.ENOENT {
			return fmt.Errorf("%w: the program loader that %s asks for is missing: was it built for another system?", ErrInterpreter, name)
		}
		if shut {
			return fmt.Errorf("%w: %s: its sandbox does not let it execute the file or its program loader; add where they are to read_only", ErrNotExecutable, name)
		}
		return fmt.Errorf("%w: %s: %w", ErrNotExecutable, name, number)
	case syscall.ENOEXEC:
		return fmt.Errorf("%w: %s is neither a program of this system nor a script whose first line names its interpreter (#!/bin/sh)", ErrInterpreter, name)
	}
	return fmt.Errorf("%w: %s: %w", ErrStart, name, number)
}

func usableDir(dir string) error {
	info, err := os.Stat(dir)
	switch {
	case err != nil:
		return fmt.Errorf("%w: %s: %w", ErrDir, dir, errors.Unwrap(err))
	case !info.IsDir():
		return fmt.Errorf("%w: %s is not a directory", ErrDir, dir)
	case unix.Access(dir, unix.X_OK) != nil:
		return fmt.Errorf("%w: %s may not be entered", ErrDir, dir)
	}
	return nil
}

// interpreter returns what the file's #! line asks for, or "".
func interpreter(file string) string {
	f, err := os.Open(file)
	if err != nil {
		return ""
	}
	defer f.Close()
	head := make([]byte, 256)
	n, _ := io.ReadFull(f, head)
	line, _, _ := bytes.Cut(head[:n], []byte("\n"))
	if !bytes.HasPrefix(line, []byte("#!")) {
		return ""
	}
	fields := strings.Fields(string(line[2:]))
	if len(fields) == 0 {
		return "nothing"
	}
	if strings.HasSuffix(string(line), "\r") {
		return fields[len(fields)-1] + " (with a carriage return: save the file with Unix line ends)"
	}
	return fields[0]
}

// weakest is the confinement of a run without a supervisor.
const weakest = Group

// sealFiles keeps files that this process was started with from every program
// that it starts. Those that it opens itself are closed on exec anyway.
func sealFiles() {
	d, err := os.Open("/dev/fd")
	if err != nil {
		return
	}
	defer d.Close()
	names, _ := d.Readdirnames(-1)
	for _, name := range names {
		if fd, err := strconv.Atoi(name); err == nil && fd > 2 {
			unix.CloseOnExec(fd)
		}
	}
}
