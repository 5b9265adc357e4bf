package pack

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/grapnel-dev/grapnel/internal/filelock"
)

// Names below a root. No pack can have one of these.
const (
	storeName = ".store"
	lockName  = ".lock"
)

// digestDigits is how much of the digest is part of a directory's name.
const digestDigits = 32

// lockLimit is how long a change waits for those of others.
const lockLimit = 30 * time.Second

// change calls f while nobody else changes the packs below root. What earlier
// changes left behind is removed before and after it.
func change(ctx context.Context, root string, f func() error) (err error) {
	if !filepath.IsAbs(root) {
		return fmt.Errorf("%w: %.200q is not an absolute path", ErrRoot, root)
	}
	if err := os.MkdirAll(filepath.Join(root, storeName), 0o700); err != nil {
		return fmt.Errorf("%w: %w", ErrRoot, err)
	}
	lock, err := os.OpenFile(filepath.Join(root, lockName), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrRoot, err)
	}
	defer func() { err = errors.Join(err, lock.Close()) }()
	if err := take(ctx, lock, root); err != nil {
		return err
	}
	if err := sweep(root); err != nil {
		return err
	}
	if err := f(); err != nil {
		return errors.Join(err, sweep(root))
	}
	return sweep(root)
}

func take(ctx context.Context, lock *os.File, root string) error {
	ctx, cancel := context.WithTimeout(ctx, lockLimit)
	defer cancel()
	for wait := time.Millisecond; ; wait = min(2*wait, 16*time.Millisecond) {
		taken, err := filelock.Try(lock)
		switch {
		case err != nil:
			return fmt.Errorf("%w: %w", ErrRoot, err)
		case taken:
			return nil
		}
		select {
		case <-time.After(wait):
		case <-ctx.Done():
			return fmt.Errorf("%w: %s: %w", ErrBusy, root, ctx.Err())
		}
	}
}

// sweep removes what no pack's link leads to. The caller has the lock.
func sweep(root string) error {
	used := make(map[string]bool)
	names, err := os.ReadDir(root)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrRoot, err)
	}
	for _, e := range names {
		if l, err := current(root, e.Name()); err == nil {
			used[l.dir] = true
		} else if e.Type()&fs.ModeSymlink != 0 {
			// Whatever it leads to, it is not known not to be needed.
			if target, err := os.Readlink(filepath.Join(root, e.Name())); err == nil {
				used[filepath.Base(target)] = true
			}
		}
	}
	stored, err := os.ReadDir(filepath.Join(root, storeName))
	if err != nil {
		return fmt.Errorf("%w: %w", ErrRoot, err)
	}
	for _, e := range stored {
		if used[e.Name()] {
			continue
		}
		if err := os.RemoveAll(filepath.Join(root, storeName, e.Name())); err != nil {
			return fmt.Errorf("%w: what is left of an earlier change cannot be removed: %w", ErrRoot, err)
		}
	}
	return nil
}

// link is what a pack's name leads to.
type link struct {
	dir     string // below the store
	version string
	digest  string // the beginning of it
}

// path is the directory of the installed version.
func (l link) path(root string) string { return filepath.Join(root, storeName, l.dir) }

// current reads the link of a pack. The error wraps ErrNotInstalled where there
// is none, and ErrRoot where something else is in its place.
func current(root, name string) (link, error) {
	path := filepath.Join(root, name)
	if !namePattern.MatchString(name) {
		return link{}, fmt.Errorf("%w: %.80q is no name of one", ErrNotInstalled, name)
	}
	info, err := os.Lstat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return link{}, fmt.Errorf("%w: %s", ErrNotInstalled, name)
	case err != nil:
		return link{}, fmt.Errorf("%w: %w", ErrRoot, err)
	case info.Mode()&fs.ModeSymlink == 0:
		return link{}, fmt.Errorf("%w: %s was not installed: it is %s; take it away", ErrRoot, path, kindOf(info.Mode()))
	}
	target, err := os.Readlink(path)
	if err != nil {
		return link{}, fmt.Errorf("%w: %w", ErrRoot, err)
	}
	// NAME-VERSION-DIGEST, with .N behind it where it was installed again.
	l := link{dir: filepath.Base(target)}
	rest, ok := strings.CutPrefix(l.dir, name+"-")
	i := strings.LastIndexByte(rest, '-')
	if ok = ok && i > 0 && target == filepath.Join(storeName, l.dir); ok {
		l.version = rest[:i]
		l.digest, _, _ = strings.Cut(rest[i+1:], ".")
		ok = canonical(l.version) && len(l.digest) == digestDigits
	}
	if !ok {
		return link{}, fmt.Errorf("%w: %s was not installed: it is a link to %.200q; take it away", ErrRoot, path, target)
	}
	return l, nil
}

// free is a name in the store for a pack that nobody has.
func free(root string, p *Pack) (string, error) {
	name := p.manifest.Name + "-" + p.manifest.Version + "-" + p.digest[:digestDigits]
	for n := 1; n < maxEntries; n++ {
		dir := name
		if n > 1 {
			dir += fmt.Sprintf(".%d", n)
		}
		if _, err := os.Lstat(filepath.Join(root, storeName, dir)); errors.Is(err, fs.ErrNotExist) {
			return dir, nil
		} else if err != nil {
			return "", fmt.Errorf("%w: %w", ErrRoot, err)
		}
	}
	return "", fmt.Errorf("%w: there is no free name for %s", ErrRoot, name)
}
