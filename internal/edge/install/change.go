package install

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// ErrChanged is wrapped when the settings file is not what it was when the
// change was planned. Nothing has been written.
var ErrChanged = errors.New("the settings file has changed meanwhile; try again")

// Change is an edit of a settings file that has been planned and not made.
type Change struct {
	// Path is the settings file; where it is a symbolic link, Target is what
	// is edited, else the same.
	Path, Target string
	// Old and New are the file's bytes before and after. Old is nil when there
	// is no file yet, New when there is none any more.
	Old, New []byte

	// was and mode are the file's permissions before and after.
	was, mode fs.FileMode
	// rooms are as many directories above the file that go with it when
	// nothing else is in them.
	rooms int
	// secrets are JSON literals that no diff shows.
	secrets []string
}

// Empty reports whether there is nothing to do.
func (c *Change) Empty() bool {
	return bytes.Equal(c.Old, c.New) && (c.Old == nil) == (c.New == nil) && (c.was == c.mode || c.Old == nil)
}

// Diff is the change as unified text; empty when there is nothing to do. A
// token for posted hooks is not shown, so that it cannot be applied then.
func (c *Change) Diff() string {
	if c.Empty() {
		return ""
	}
	from, to := c.Path, c.Path
	if c.Old == nil {
		from = os.DevNull
	}
	if c.New == nil {
		to = os.DevNull
	}
	diff := unified(from, to, string(c.Old), string(c.New))
	for _, s := range c.secrets {
		diff = strings.ReplaceAll(diff, s, shownSecret)
	}
	return diff
}

// read begins a change of the file at path.
func read(path string) (*Change, error) {
	c := &Change{Path: path, Target: path, mode: 0o600}
	info, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return c, nil
	}
	if err != nil {
		return nil, err
	}
	if info.Mode()&fs.ModeSymlink != 0 {
		if c.Target, err = filepath.EvalSymlinks(path); err != nil {
			return nil, fmt.Errorf("%s is a symbolic link that leads nowhere (%w); remove it or create its target", path, err)
		}
		if info, err = os.Stat(c.Target); err != nil {
			return nil, err
		}
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s: %w: it is not a regular file", path, ErrSettings)
	}
	c.mode = info.Mode().Perm()
	c.was = c.mode
	if c.Old, err = readLimited(c.Target); err != nil {
		return nil, err
	}
	return c, nil
}

// readLimited reads what can be settings; one byte more makes the parser
// refuse it by its size.
func readLimited(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, maxSettings+1))
	if b == nil {
		b = []byte{}
	}
	return b, err
}

// Apply writes the change and returns the path of the backup, which is empty
// when nothing was there before, nothing changes or the file was ours alone. An
// error wraps [ErrChanged] when somebody else wrote the file after it was read.
func (c *Change) Apply() (backup string, err error) {
	if c.Empty() {
		return "", nil
	}
	if c.New == nil {
		return "", c.remove()
	}
	dir := filepath.Dir(c.Target)
	if c.Old == nil {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return "", err
		}
	}
	temporary, err := c.stage(dir)
	if err != nil {
		return "", fmt.Errorf("cannot write in %s: %w", dir, err)
	}
	defer os.Remove(temporary) // gone already when all went well

	now, err := readLimited(c.Target)
	switch {
	case errors.Is(err, fs.ErrNotExist) && c.Old == nil:
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return "", err
	case err != nil || c.Old == nil || !bytes.Equal(now, c.Old):
		return "", fmt.Errorf("%s: %w", c.Path, ErrChanged)
	default:
		if backup, err = c.backUp(); err != nil {
			return "", fmt.Errorf("cannot write a backup in %s: %w", dir, err)
		}
	}
	if err := os.Rename(temporary, c.Target); err != nil {
		return backup, err
	}
	return backup, syncDir(dir)
}

// remove takes away a file that was ours alone, and what was made for it.
func (c *Change) remove() error {
	if now, err := readLimited(c.Target); err != nil || !bytes.Equal(now, c.Old) {
		return fmt.Errorf("%s: %w", c.Path, ErrChanged)
	}
	// Where it is a symbolic link, the link goes: nothing is to be loaded.
	if err := os.Remove(c.Path); err != nil {
		return err
	}
	dir := filepath.Dir(c.Path)
	for range c.rooms {
		if os.Remove(dir) != nil {
			break // something of others is in it
		}
		dir = filepath.Dir(dir)
	}
	return syncDir(dir)
}

// stage writes the new bytes beside the file.
func (c *Change) stage(dir string) (path string, err error) {
	f, err := os.CreateTemp(dir, ".grapnel-settings-*")
	if err != nil {
		return "", err
	}
	_, err = f.Write(c.New)
	if err == nil {
		err = f.Chmod(c.mode)
	}
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return "", errors.Join(err, os.Remove(f.Name()))
	}
	return f.Name(), nil
}

// backupMark is in the name of every backup.
const backupMark = ".grapnel-backup-"

// backUp keeps the old bytes under a name that nothing has yet.
func (c *Change) backUp() (string, error) {
	base := c.Target + backupMark + time.Now().UTC().Format("20060102T150405Z")
	for i := 0; ; i++ {
		path := base
		if i > 0 {
			path = fmt.Sprintf("%s-%d", base, i)
		}
		f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, c.mode)
		if errors.Is(err, fs.ErrExist) && i < 100 {
			continue
		}
		if err != nil {
			return "", err
		}
		_, err = f.Write(c.Old)
		if err == nil {
			err = f.Sync()
		}
		return path, errors.Join(err, f.Close())
	}
}
