package pack

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"

	"github.com/grapnel-dev/grapnel/subscribers/command/dialect"
)

// maxEntries bounds the files and directories of one source.
const maxEntries = 4 * MaxFiles

// file is one file of a pack.
type file struct {
	data []byte
	exec bool
}

// tree collects the files of a pack, whatever they are read from.
type tree struct {
	files   map[string]file
	names   map[string]entry // by their name in lower case
	entries int
	total   int64
	// extra is how many files there may be besides a pack's own.
	extra int
}

// entry is a name that is taken.
type entry struct {
	name string
	dir  bool
}

func newTree() *tree {
	return &tree{files: make(map[string]file), names: make(map[string]entry)}
}

// directory notes a directory.
func (t *tree) directory(name string) error {
	if name == "." || name == "" {
		return t.count()
	}
	return t.claim(name, true)
}

// file reads a file; size is what its source says, or -1.
func (t *tree) file(name string, mode fs.FileMode, size int64, r io.Reader) error {
	if err := t.claim(name, false); err != nil {
		return err
	}
	switch {
	case !mode.IsRegular():
		return fmt.Errorf("%w: %s is %s", ErrFormat, name, kindOf(mode))
	case mode&(fs.ModeSetuid|fs.ModeSetgid|fs.ModeSticky) != 0:
		return fmt.Errorf("%w: %s has a set-user-id, set-group-id or sticky bit", ErrFormat, name)
	case size > MaxFile:
		return fmt.Errorf("%w: %s has more than %d bytes", ErrTooLarge, name, MaxFile)
	case len(t.files) > MaxFiles+t.extra: // the manifest does not count
		return fmt.Errorf("%w: there are more than %d files", ErrTooLarge, MaxFiles)
	}
	data, err := io.ReadAll(io.LimitReader(r, MaxFile+1))
	switch t.total += int64(len(data)); {
	case errors.Is(err, errBomb):
		return err
	case err != nil:
		return fmt.Errorf("%w: %s: %w", ErrFormat, name, err)
	case len(data) > MaxFile:
		return fmt.Errorf("%w: %s has more than %d bytes", ErrTooLarge, name, MaxFile)
	case t.total > MaxTotal+int64(t.extra)*dialect.MaxFile:
		return fmt.Errorf("%w: the files have more than %d bytes", ErrTooLarge, MaxTotal)
	case size >= 0 && size != int64(len(data)):
		return fmt.Errorf("%w: %s has %d bytes in place of %d", ErrFormat, name, len(data), size)
	}
	t.files[name] = file{data: data, exec: mode&0o111 != 0}
	return nil
}

func (t *tree) count() error {
	if t.entries++; t.entries > maxEntries {
		return fmt.Errorf("%w: there are more than %d entries", ErrTooLarge, maxEntries)
	}
	return nil
}

// claim takes a name and those of the directories above it. Two names that some
// system takes for one are refused.
func (t *tree) claim(name string, dir bool) error {
	if err := t.count(); err != nil {
		return err
	}
	if err := checkName(name); err != nil {
		return fmt.Errorf("%w: %w", ErrFormat, err)
	}
	for i := 1; i <= len(name); i++ {
		last := i == len(name)
		if !last && name[i] != '/' {
			continue
		}
		want := entry{name[:i], dir || !last}
		folded := strings.ToLower(want.name)
		had, ok := t.names[folded]
		switch {
		case !ok:
			t.names[folded] = want
		case had.name != want.name:
			return fmt.Errorf("%w: %q and %q are one name where case does not count", ErrFormat, had.name, want.name)
		case had.dir != want.dir:
			return fmt.Errorf("%w: %q is a file and a directory", ErrFormat, want.name)
		case !want.dir:
			return fmt.Errorf("%w: %q is there twice", ErrFormat, want.name)
		}
	}
	return nil
}

// unwrap takes off a single directory around everything, as archives of a
// directory have it.
func (t *tree) unwrap() {
	if _, ok := t.files[ManifestFile]; ok {
		return
	}
	var top string
	for name := range t.files {
		first, _, _ := strings.Cut(name, "/")
		if top != "" && top != first {
			return
		}
		top = first
	}
	if _, ok := t.files[top+"/"+ManifestFile]; !ok {
		return
	}
	files := make(map[string]file, len(t.files))
	for name, f := range t.files {
		files[strings.TrimPrefix(name, top+"/")] = f
	}
	t.files = files
}
