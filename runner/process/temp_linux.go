package process

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// privateTemp gives a command whose sandbox closes the file system a directory
// for temporary files that no other command has, and sets TMPDIR to it. It is
// removed after the run.
func (r *Runner) privateTemp(s *Spec) (remove func(), err error) {
	if !s.Sandbox.closed() || len(r.options.Supervisor) == 0 {
		return func() {}, nil
	}
	fail := func(err error) (func(), error) {
		return nil, fmt.Errorf("%w: %s: make a directory for its temporary files: %w", ErrStart, s.Command[0], err)
	}
	base, err := filepath.EvalSymlinks(os.TempDir()) // the sandbox takes no links
	if err != nil {
		return fail(err)
	}
	dir, err := os.MkdirTemp(base, "grapnel-run-")
	if err != nil {
		return fail(err)
	}
	s.Sandbox.ReadWrite = append(slices.Clone(s.Sandbox.ReadWrite), dir)
	s.Env = slices.DeleteFunc(slices.Clone(s.Env), func(entry string) bool { return strings.HasPrefix(entry, "TMPDIR=") })
	s.Env = append(s.Env, "TMPDIR="+dir)
	return func() {
		if err := removeTree(dir); err != nil {
			r.log.Warn("process: a command's temporary files are left behind", "directory", dir, "error", err)
		}
	}, nil
}

// removeTree removes a directory, also where a command has closed some below.
// Nobody is left who could put links in the way.
func removeTree(dir string) error {
	err := os.RemoveAll(dir)
	if err == nil {
		return nil
	}
	_ = filepath.WalkDir(dir, func(path string, d fs.DirEntry, _ error) error {
		if d != nil && d.IsDir() {
			_ = os.Chmod(path, 0o700)
		}
		return nil
	})
	return os.RemoveAll(dir)
}
