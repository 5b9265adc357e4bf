package main

import (
	"errors"
	"os"
	"runtime"
	"strconv"

	"github.com/grapnel-dev/grapnel/internal/edge/hookwire"
)

const upHint = "; start it with `grapnel up`, and see `grapnel doctor`"

// runBinary lets the full binary answer, which can start the daemon or decide
// from the last signed policy bundle. It is looked for beside this program and
// where the command line says, never along PATH: a workspace may change that.
func (s *shim) runBinary(stdin []byte, absent error) hookwire.Response {
	path, err := fullBinary(s.binary)
	if err != nil {
		return s.alone("the daemon is not running (" + absent.Error() + ") and " + err.Error() + upHint)
	}
	answer, err := s.run(path, stdin)
	if err != nil {
		return s.alone("the daemon is not running and " + path + " hook failed: " + err.Error() + upHint)
	}
	return answer
}

// run starts path with the same arguments and stdin, and takes its answer. It
// runs as a child and not in place of this process, so that the watchdog stays
// and a crash becomes a proper answer.
func (s *shim) run(path string, stdin []byte) (hookwire.Response, error) {
	in, toChild, err := os.Pipe()
	if err != nil {
		return hookwire.Response{}, err
	}
	fromOut, out, err := os.Pipe()
	if err != nil {
		return hookwire.Response{}, err
	}
	fromErr, errw, err := os.Pipe()
	if err != nil {
		return hookwire.Response{}, err
	}
	argv := append(append([]string{path, "hook"}, s.places...), s.agent, s.event)
	child, err := os.StartProcess(path, argv, &os.ProcAttr{Files: []*os.File{in, out, errw}})
	in.Close()
	out.Close()
	errw.Close()
	if err != nil {
		return hookwire.Response{}, err
	}
	s.child.Store(child)
	go func() {
		toChild.Write(stdin)
		toChild.Close()
	}()
	stderr := make(chan []byte, 1)
	go func() {
		b, _ := readAll(fromErr, hookwire.MaxResponse)
		stderr <- b
	}()
	stdout, err := readAll(fromOut, hookwire.MaxResponse)
	if err != nil {
		return hookwire.Response{}, err
	}
	state, err := child.Wait()
	if err != nil {
		return hookwire.Response{}, err
	}
	answer := hookwire.Response{Exit: state.ExitCode(), Stdout: stdout, Stderr: <-stderr}
	if !hookwire.Usable(s.agent, s.event, answer) {
		text := firstLine(answer.Stderr)
		return answer, errors.New("no usable answer, exit code " + strconv.Itoa(answer.Exit) + ": " + text)
	}
	return answer, nil
}

// fullBinary finds the grapnel binary: given, or beside this program.
func fullBinary(given string) (string, error) {
	name := "grapnel"
	if runtime.GOOS == "windows" {
		name += ".exe"
	}
	path := given
	if path == "" {
		self, err := os.Executable()
		if err != nil {
			return "", err
		}
		for range 8 { // Linux has resolved it already
			target, err := os.Readlink(self)
			if err != nil {
				break
			}
			if !absolute(target) {
				target = directory(self) + target
			}
			self = target
		}
		path = directory(self) + name
	}
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return "", errors.New("there is no " + path)
	case !info.Mode().IsRegular():
		return "", errors.New(path + " is not a program")
	case runtime.GOOS != "windows" && info.Mode().Perm()&0o022 != 0:
		return "", errors.New(path + " can be written by other users, so it is not run")
	}
	return path, nil
}

func firstLine(b []byte) string {
	for i, c := range b {
		if c == '\n' || i == 300 {
			return string(b[:i])
		}
	}
	return string(b)
}

// directory returns path up to and with its last separator.
func directory(path string) string {
	i := len(path)
	for i > 0 && !os.IsPathSeparator(path[i-1]) {
		i--
	}
	return path[:i]
}
