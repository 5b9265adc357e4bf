package install

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
)

// scriptFormat is a directory with one program for each event, named after it.
type scriptFormat struct{}

// maxScript is more than a script of ours ever has.
const maxScript = 64 << 10

func (f scriptFormat) plan(s *Settings, dir string, wanted []registration) ([]*Change, []string, error) {
	if runtime.GOOS == "windows" {
		return nil, nil, fmt.Errorf("%s runs PowerShell scripts on Windows, which are not written yet", s.target.agent)
	}
	names, err := programs(dir)
	if err != nil {
		return nil, nil, err
	}
	var changes []*Change
	var left []string
	for _, r := range wanted {
		c, err := read(filepath.Join(dir, r.event))
		if err != nil {
			return nil, nil, err
		}
		if _, ours := f.ours(s, c.Old); c.Old != nil && !ours {
			return nil, nil, fmt.Errorf("%s: %w: it is a hook of somebody else, and there is one for each event; move it away, or call %s from it",
				c.Path, ErrSettings, s.line(r.event))
		}
		c.New = []byte("#!/bin/sh\n# Put here by grapnel; `grapnel uninstall " + s.target.agent + "` takes it away.\nexec " + s.line(r.event) + "\n")
		c.mode |= 0o500
		changes = append(changes, c)
	}
	for _, name := range names {
		if slices.ContainsFunc(wanted, func(r registration) bool { return r.event == name }) {
			continue
		}
		c, err := read(filepath.Join(dir, name))
		if err != nil {
			return nil, nil, err
		}
		if _, ours := f.ours(s, c.Old); ours {
			changes = append(changes, c) // New is nil: it goes
		} else if isScript(c.Old) && bytes.Contains(c.Old, []byte(shimName)) {
			left = append(left, name+": "+c.Path)
		}
	}
	if len(changes) == 0 {
		changes = []*Change{{Path: dir, Target: dir}}
	}
	return changes, left, nil
}

// programs lists what can be hooks in dir; one that is not there has none.
func programs(dir string) ([]string, error) {
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	var names []string
	for _, e := range entries {
		// A backup of ours is no hook.
		if info, err := os.Stat(filepath.Join(dir, e.Name())); err == nil && info.Mode().IsRegular() && !strings.Contains(e.Name(), backupMark) {
			names = append(names, e.Name())
		}
	}
	return names, nil
}

func isScript(b []byte) bool { return len(b) < maxScript && bytes.HasPrefix(b, []byte("#!")) }

// ours returns the arguments of a script that does nothing but start our hook.
func (f scriptFormat) ours(s *Settings, script []byte) (argv []string, ours bool) {
	if !isScript(script) {
		return nil, false
	}
	argv = words(string(script))
	return argv, isOurs(argv, s.binary, s.target.agent)
}

func (f scriptFormat) read(s *Settings, dir string, out *FileStatus) {
	names, err := programs(dir)
	if err != nil {
		out.Exists, out.Err = true, err
		return
	}
	for _, name := range names {
		c, err := read(filepath.Join(dir, name))
		if err != nil {
			out.Exists, out.Err = true, err
			return
		}
		argv, ours := f.ours(s, c.Old)
		if !ours {
			continue
		}
		out.Exists = true
		out.add(s, name, quote(c.Path), argv[0], func(registration) bool {
			return argv[len(argv)-1] == name && c.mode&0o100 != 0
		})
	}
}
