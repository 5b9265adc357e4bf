package process

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// Lookup turns a command's name as configured into an absolute path. A name
// with a slash must be absolute; a bare one is searched for in the absolute
// directories of path alone, never in the working directory. Do it once, when
// the configuration is read: what a command is must not change with whatever
// PATH is later.
//
// The error wraps [ErrNotFound], [ErrNotExecutable] or [ErrSpec].
func Lookup(name, path string) (string, error) {
	if name == "" {
		return "", fmt.Errorf("%w: the command is empty", ErrSpec)
	}
	if strings.IndexByte(name, 0) >= 0 {
		return "", fmt.Errorf("%w: there is a NUL byte in the command %.40q", ErrSpec, name)
	}
	if filepath.IsAbs(name) {
		return name, executable(name, name)
	}
	if strings.ContainsAny(name, `/\`) {
		return "", fmt.Errorf("%w: the command %.200q is a relative path; write the absolute path", ErrSpec, name)
	}
	refused := false
	for _, dir := range filepath.SplitList(path) {
		if !filepath.IsAbs(dir) {
			refused = true
			continue
		}
		for _, candidate := range candidates(filepath.Join(dir, name)) {
			if executable(candidate, candidate) == nil {
				return candidate, nil
			}
		}
	}
	hint := ""
	if refused {
		hint = "; relative entries of PATH are not searched"
	}
	return "", fmt.Errorf("%w: %.200q is in no directory of PATH%s; install it or write its absolute path", ErrNotFound, name, hint)
}

// executable reports why the file cannot be a command; name is what people
// know it by.
func executable(name, file string) error {
	info, err := os.Stat(file)
	switch {
	case err != nil:
		return fmt.Errorf("%w: %s", ErrNotFound, name)
	case info.IsDir():
		return fmt.Errorf("%w: %s is a directory", ErrNotExecutable, name)
	case !mayExecute(info):
		return fmt.Errorf("%w: %s has no execute permission; chmod +x it", ErrNotExecutable, name)
	}
	return nil
}
