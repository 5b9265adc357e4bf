package process

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
)

const (
	// cmd.exe pastes a variable's value into the text before it parses it, so
	// there is no shell here that event values are safe in.
	shellPath         = ""
	needsWindowsNames = true
	handsDownFiles    = false
)

func mayExecute(info fs.FileInfo) bool {
	name := strings.ToLower(info.Name())
	return strings.HasSuffix(name, ".exe") || strings.HasSuffix(name, ".com")
}

func candidates(file string) []string { return []string{file, file + ".exe", file + ".com"} }

func signalName(n int) string { return fmt.Sprintf("signal %d", n) }

func startError(s Spec, err error) error {
	if dirErr := usableDir(s.Dir); dirErr != nil {
		return dirErr
	}
	if fileErr := executable(s.Program, s.Program); fileErr != nil {
		return fileErr
	}
	return fmt.Errorf("%w: %s: %w", ErrStart, s.Command[0], err)
}

func usableDir(dir string) error {
	info, err := os.Stat(dir)
	switch {
	case err != nil:
		return fmt.Errorf("%w: %s: %w", ErrDir, dir, errors.Unwrap(err))
	case !info.IsDir():
		return fmt.Errorf("%w: %s is not a directory", ErrDir, dir)
	}
	return nil
}

// weakest is the confinement of a run without a supervisor.
const weakest = Job

// sealFiles has nothing to do: handles are inherited one by one.
func sealFiles() {}
