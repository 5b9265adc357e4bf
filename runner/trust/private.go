package trust

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
)

// privateDir is a directory of this gauge alone; it is made when it is first
// needed.
func (g *Gauge) privateDir() (string, error) {
	if g.options.Dir == "" {
		return "", fmt.Errorf("%w: private copies need a directory, and none is configured", ErrSeal)
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	switch {
	case g.closed:
		return "", fmt.Errorf("%w: the gauge", ErrClosed)
	case g.private != "":
		return g.private, nil
	case !filepath.IsAbs(g.options.Dir):
		return "", fmt.Errorf("%w: the directory for private copies, %.200q, is not an absolute path", ErrSeal, g.options.Dir)
	}
	if err := os.MkdirAll(g.options.Dir, 0o700); err != nil {
		return "", fmt.Errorf("%w: %w", ErrSeal, err)
	}
	if err := checkPrivate(g.options.Dir); err != nil {
		return "", fmt.Errorf("%w: %w", ErrSeal, err)
	}
	dir, err := os.MkdirTemp(g.options.Dir, "pinned-")
	if err != nil {
		return "", fmt.Errorf("%w: %w", ErrSeal, err)
	}
	g.private = dir
	return dir, nil
}

// checkPrivate reports why others than this user could write to a directory.
func checkPrivate(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	id, err := identify(d)
	if err = errors.Join(err, d.Close()); err != nil {
		return err
	}
	if !id.mode.IsDir() || !id.private(os.Geteuid()) {
		return fmt.Errorf("%s belongs to somebody else, or others may write to it; chown it to yourself and chmod it to 0700", dir)
	}
	return nil
}

// copyFile reads f into a private copy, under its own base name: interpreters go
// by the extension.
func copyFile(dir string, f *os.File, id identity, limit int64) (c *content, err error) {
	fail := func(err error) (*content, error) {
		return nil, fmt.Errorf("%w: a private copy cannot be made: %w", ErrSeal, err)
	}
	own, err := os.MkdirTemp(dir, "file-")
	if err != nil {
		return fail(err)
	}
	defer func() {
		if err != nil {
			_ = os.RemoveAll(own)
		}
	}()
	path := filepath.Join(own, filepath.Base(f.Name()))
	w, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return fail(err)
	}
	c, err = readContent(f, id, limit, onlyWriter{w})
	if err != nil {
		_ = w.Close()
		return nil, err
	}
	if err = errors.Join(w.Chmod(0o500), w.Close()); err != nil {
		return fail(err)
	}
	c.copied = path
	return c, nil
}

// link is a path with the given base name that leads to the descriptor fd of
// whoever follows it.
func (g *Gauge) link(fd int, name string) (string, error) {
	private, err := g.privateDir()
	if err != nil {
		return "", err
	}
	dir := filepath.Join(private, "fd", strconv.Itoa(fd))
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", fmt.Errorf("%w: %w", ErrSeal, err)
	}
	path, target := filepath.Join(dir, name), descriptorPath(fd)
	if err := os.Symlink(target, path); err != nil && !errors.Is(err, fs.ErrExist) {
		return "", fmt.Errorf("%w: %w", ErrSeal, err)
	}
	if got, err := os.Readlink(path); err != nil || got != target {
		return "", fmt.Errorf("%w: %s was changed to lead to %q (%v)", ErrSeal, path, got, err)
	}
	return path, nil
}

func descriptorPath(fd int) string { return "/proc/self/fd/" + strconv.Itoa(fd) }
