package process

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Defaults of [Spec].
const (
	DefaultGrace     = 2 * time.Second
	DefaultMaxOutput = 1 << 20
)

// MaxFiles is how many open files a command can inherit by [Spec.Files].
const MaxFiles = 32

// maxRequest bounds the arguments and the environment together, in bytes. The
// kernel's own limit is lower on most systems.
const maxRequest = 8 << 20

// Spec says what to run. Exactly one of Command and Shell is set.
type Spec struct {
	// Command is the argument vector; its first element is an absolute path
	// (see [Lookup]).
	Command []string
	// Shell is text for /bin/sh -c. It must be a constant of the
	// configuration: nothing that an event says may ever stand in it. Values
	// travel in Env, and the text refers to them as "$NAME".
	Shell string
	// Name is $0 of the shell text; defaults to "hook".
	Name string
	// Program is the file that is executed where that is not Command[0] (or the
	// shell): an absolute path, or "/proc/self/fd/N" for one of Files, N from 3.
	// What the command finds as its argv[0] stays Command[0]; a script that
	// Program names finds Program as its $0. Defaults to Command[0].
	Program string
	// Files are open files that the command inherits as descriptors 3, 4 and so
	// on, at most [MaxFiles]. They stay the caller's, who closes them after Run.
	// The command shares their offsets. Windows hands none down.
	Files []*os.File
	// Sandbox is what the command is kept from; the zero value is nothing.
	Sandbox Sandbox
	// Dir is the working directory, an existing absolute path.
	Dir string
	// Env is the whole environment as NAME=value; [Environment] makes one.
	Env []string
	// Stdin is written to the command's standard input, which is then closed.
	Stdin []byte
	// Timeout ends the command when it takes longer; zero means that only the
	// context ends it.
	Timeout time.Duration
	// Grace is the time between SIGTERM and SIGKILL; defaults to
	// [DefaultGrace].
	Grace time.Duration
	// MaxOutput is how many bytes of each of stdout and stderr are kept;
	// defaults to [DefaultMaxOutput]. What comes after is counted and dropped.
	MaxOutput int
}

// withDefaults checks the specification and fills in what was left out; the
// error wraps [ErrSpec].
func (s Spec) withDefaults() (Spec, error) {
	bad := func(format string, args ...any) (Spec, error) {
		return s, fmt.Errorf("%w: %s", ErrSpec, fmt.Sprintf(format, args...))
	}
	switch {
	case (len(s.Command) == 0) == (s.Shell == ""):
		return bad("set either a command or a shell text")
	case s.Shell != "" && shellPath == "":
		return bad("shell text needs a POSIX shell, which this system has not; write the command as a list")
	case s.Dir == "" || !filepath.IsAbs(s.Dir):
		return bad("the working directory %.200q is not an absolute path", s.Dir)
	case s.Timeout < 0 || s.Grace < 0 || s.MaxOutput < 0:
		return bad("time-out, grace and output limit cannot be negative")
	}
	if s.Shell != "" {
		if s.Name == "" {
			s.Name = "hook"
		}
		s.Command = []string{shellPath, "-c", s.Shell, s.Name}
	}
	if !filepath.IsAbs(s.Command[0]) {
		return bad("the command %.200q is not an absolute path", s.Command[0])
	}
	if s.Program == "" {
		s.Program = s.Command[0]
	}
	if !filepath.IsAbs(s.Program) {
		return bad("the program %.200q is not an absolute path", s.Program)
	}
	if err := s.checkFiles(); err != nil {
		return s, err
	}
	var err error
	if s.Sandbox, err = s.Sandbox.withDefaults(); err != nil {
		return s, err
	}
	size := len(s.Dir)
	for _, list := range [][]string{s.Command, s.Env, {s.Dir, s.Program}} {
		for _, v := range list {
			if strings.IndexByte(v, 0) >= 0 {
				return bad("there is a NUL byte in %.40q: no argument, variable or path can hold one", v)
			}
			size += len(v) + 1
		}
	}
	if size > maxRequest {
		return s, fmt.Errorf("%w: %d bytes", ErrTooLong, size)
	}
	for _, v := range s.Env {
		if strings.IndexByte(v, '=') < 1 {
			return bad("the environment entry %.40q is not NAME=value", v)
		}
	}
	if s.Grace == 0 {
		s.Grace = DefaultGrace
	}
	if s.MaxOutput == 0 {
		s.MaxOutput = DefaultMaxOutput
	}
	return s, nil
}

func (s Spec) checkFiles() error {
	switch {
	case len(s.Files) > MaxFiles:
		return fmt.Errorf("%w: %d open files for the command, at most %d", ErrSpec, len(s.Files), MaxFiles)
	case len(s.Files) > 0 && !handsDownFiles:
		return fmt.Errorf("%w: commands inherit no open files on this system; name the program's path", ErrSpec)
	case slices.Contains(s.Files, nil):
		return fmt.Errorf("%w: one of the open files for the command is nil", ErrSpec)
	}
	if number, ok := strings.CutPrefix(s.Program, descriptorPath); ok {
		n, err := strconv.Atoi(number)
		if err != nil || n < firstFile || n >= firstFile+len(s.Files) || strconv.Itoa(n) != number {
			return fmt.Errorf("%w: the program %.40q is none of the command's %d open files, which start at %s%d", ErrSpec, s.Program, len(s.Files), descriptorPath, firstFile)
		}
	}
	return nil
}

const (
	// firstFile is the descriptor of the first of [Spec.Files].
	firstFile      = 3
	descriptorPath = "/proc/self/fd/"
)

// file is the path under which this process finds the program; the command
// has other descriptors than we.
func (s Spec) file() string {
	number, ok := strings.CutPrefix(s.Program, descriptorPath)
	if !ok {
		return s.Program
	}
	n, _ := strconv.Atoi(number) // checked
	return descriptorPath + strconv.FormatUint(uint64(s.Files[n-firstFile].Fd()), 10)
}
