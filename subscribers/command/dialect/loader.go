package dialect

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/grapnel-dev/grapnel/runner/trust"
)

// maxWorkspaces bounds how many workspaces' hooks are kept, and maxFiles how
// many files of one dialect are read.
const (
	maxWorkspaces = 256
	maxFiles      = 256
)

// loaded is what the files of one workspace hold.
type loaded struct {
	hooks    []Hook
	events   map[string][]Hook // by the dialect's event name
	problems []Problem
	files    []found
}

// found is a file as it was found; two that are equal have the same content,
// as far as the file system says.
type found struct {
	path     string
	file     File
	root     string // directory that it must not lead out of; empty for the person's own
	size     int64
	modified time.Time
	identity any // device, inode and change time where there are such
}

// loader reads configuration files, and reads them again when they have
// changed.
type loader struct {
	dialect *Dialect
	files   []File
	home    string
	log     *slog.Logger

	mu         sync.Mutex
	workspaces map[string]*loaded
}

func newLoader(d *Dialect, more []File, home string, log *slog.Logger) *loader {
	return &loader{
		dialect: d, files: slices.Concat(more, d.Files), home: home, log: log, workspaces: make(map[string]*loaded),
	}
}

// load returns what there is for a workspace; "" means none.
func (l *loader) load(workspace string) *loaded {
	if workspace != "" {
		workspace = filepath.Clean(workspace)
	}
	files := l.find(workspace)
	l.mu.Lock()
	defer l.mu.Unlock()
	old := l.workspaces[workspace]
	if old != nil && slices.Equal(old.files, files) {
		return old
	}
	now := l.read(files, workspace, old)
	if len(l.workspaces) >= maxWorkspaces {
		clear(l.workspaces)
	}
	l.workspaces[workspace] = now
	for _, p := range now.problems {
		l.log.Warn("dialect: configuration", "dialect", l.dialect.Name, "problem", p.Error())
	}
	return now
}

// find lists the files that there are.
func (l *loader) find(workspace string) []found {
	var list []found
	for _, f := range l.files {
		base, pattern, root := workspace, f.Path, workspace
		switch rest, home := strings.CutPrefix(f.Path, "~/"); {
		case home:
			base, pattern, root = l.home, rest, ""
		case filepath.IsAbs(f.Path):
			base, pattern, root = "/", strings.TrimPrefix(f.Path, "/"), ""
		case workspace == "" || workspace == l.home:
			continue // at home they are the person's own
		}
		for _, path := range expand(base, pattern) {
			info, err := os.Stat(path)
			if err != nil || !info.Mode().IsRegular() {
				continue
			}
			if len(list) < maxFiles {
				list = append(list, found{path, f, root, info.Size(), info.ModTime(), identity(info)})
			}
		}
	}
	return list
}

// expand lists the paths below base that a pattern means, in order of names.
func expand(base, pattern string) []string {
	if !strings.Contains(pattern, "*") {
		return []string{filepath.Join(base, pattern)}
	}
	matches, err := fs.Glob(os.DirFS(base), pattern)
	if err != nil {
		return nil
	}
	slices.Sort(matches)
	for i := range matches {
		matches[i] = filepath.Join(base, matches[i])
	}
	return matches
}

func (l *loader) read(files []found, workspace string, old *loaded) *loaded {
	now := &loaded{files: files, events: make(map[string][]Hook)}
	var texts []Text
	for _, f := range files {
		from := Origin{File: f.path, Source: f.file.Source, Own: f.file.Own}
		if f.root != "" {
			from.Workspace = workspace
		}
		if from.Source == trust.Extension || from.Source == trust.Downloaded {
			from.Base = filepath.Dir(f.path)
		}
		text, err := f.text()
		if err != nil {
			now.problems = append(now.problems, Problem{File: f.path, Text: err.Error()})
			now.keep(old, f.path)
			continue
		}
		texts = append(texts, Text{from, text})
		hooks, problems := l.dialect.Read(text, from)
		now.problems = append(now.problems, problems...)
		if len(hooks) == 0 && len(problems) > 0 {
			// Somebody is in the middle of writing it, or wants to be rid of
			// its hooks: what was there last stays.
			now.keep(old, f.path)
			continue
		}
		now.hooks = append(now.hooks, hooks...)
	}
	if l.dialect.Settle != nil {
		var problems []Problem
		now.hooks, problems = l.dialect.Settle(texts, now.hooks)
		now.problems = append(now.problems, problems...)
	}
	for _, h := range now.hooks {
		for _, event := range h.Events {
			now.events[event] = append(now.events[event], h)
		}
	}
	return now
}

// keep takes over what a file held when it could last be read.
func (l *loaded) keep(old *loaded, path string) {
	if old == nil {
		return
	}
	kept := 0
	for _, h := range old.hooks {
		if h.Origin.File == path {
			l.hooks = append(l.hooks, h)
			kept++
		}
	}
	if kept > 0 {
		l.problems = append(l.problems, Problem{File: path, Text: fmt.Sprintf("it cannot be read now; the %d hooks that it had stay in force", kept)})
	}
}

// text reads the file. What is in a workspace must not lead out of it.
func (f found) text() ([]byte, error) {
	var file *os.File
	var err error
	if f.root == "" {
		file, err = os.OpenFile(f.path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	} else {
		var root *os.Root
		if root, err = os.OpenRoot(f.root); err != nil {
			return nil, err
		}
		defer root.Close()
		var name string
		if name, err = filepath.Rel(f.root, f.path); err != nil {
			return nil, err
		}
		file, err = root.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	}
	if err != nil {
		return nil, err
	}
	defer file.Close()
	if info, err := file.Stat(); err != nil || !info.Mode().IsRegular() {
		return nil, errors.New("it is not a regular file")
	}
	text, err := io.ReadAll(io.LimitReader(file, MaxFile+1))
	if err == nil && len(text) > MaxFile {
		err = fmt.Errorf("it has more than %d bytes", MaxFile)
	}
	return text, err
}
