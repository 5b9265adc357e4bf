package pack

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Options tune [Install]. The zero value works.
type Options struct {
	// Force installs an older version, or other content under the same version.
	Force bool
	// Grapnel is the version of grapnel that packs may require, as "1.2.3" or
	// "v1.2.3". One that is no semantic version, such as that of a program built
	// from a work tree, fits everything.
	Grapnel string
}

// Outcome is what [Install] did.
type Outcome struct {
	Installed
	// Previous is the version that it took the place of; empty when there was
	// none.
	Previous string `json:"previous,omitempty"`
	// Unchanged says that these very files were installed already.
	Unchanged bool `json:"unchanged,omitempty"`
}

// Install puts a pack below root, in the place of another version of it. None of
// its hooks runs before it is approved; see the package comment. It is on disk
// when Install returns, and whatever happens before that, the version that was
// there is whole.
//
// It waits for other changes below root until ctx ends. The error wraps
// ErrVersion, ErrRoot or ErrBusy.
func Install(ctx context.Context, p *Pack, root string, o *Options) (Outcome, error) {
	if o == nil {
		o = new(Options)
	}
	var out Outcome
	name := p.manifest.Name
	err := p.fits(o.Grapnel)
	if err == nil {
		err = change(ctx, root, func() error {
			was, err := current(root, name)
			switch {
			case errors.Is(err, ErrNotInstalled):
			case err != nil:
				return err
			default:
				out.Previous = was.version
				if was.version == p.manifest.Version && strings.HasPrefix(p.digest, was.digest) && verify(root, name, was) == nil {
					out.Unchanged, out.Installed = true, describe(root, name)
					return nil
				}
				if err := p.follows(was); err != nil && !o.Force {
					return err
				}
			}
			if err := p.put(root); err != nil {
				return err
			}
			out.Installed = describe(root, name)
			return nil
		})
	}
	if err != nil {
		return Outcome{}, fmt.Errorf("install %s %s: %w", name, p.manifest.Version, err)
	}
	return out, nil
}

// fits compares what the pack requires with the version of grapnel.
func (p *Pack) fits(grapnel string) error {
	grapnel = strings.TrimPrefix(grapnel, "v")
	want := strings.TrimPrefix(p.manifest.Requires.Grapnel, ">=")
	if want == "" || !canonical(grapnel) || compare(grapnel, want) >= 0 {
		return nil
	}
	return fmt.Errorf("%w: it needs grapnel %s or newer, and this is %s", ErrVersion, want, grapnel)
}

// follows says why the pack may not take the place of what is installed.
func (p *Pack) follows(was link) error {
	switch c := compare(p.manifest.Version, was.version); {
	case c < 0:
		return fmt.Errorf("%w: %s is installed, which is newer; --force goes back", ErrVersion, was.version)
	case c == 0 && (was.version != p.manifest.Version || !strings.HasPrefix(p.digest, was.digest)):
		return fmt.Errorf("%w: %s is installed with other content; a version must not change, ask its author for a new one, or use --force", ErrVersion, was.version)
	}
	return nil
}

// put writes the pack beside what there is, and then moves the link.
func (p *Pack) put(root string) (err error) {
	dir, err := free(root, p)
	if err != nil {
		return err
	}
	final := filepath.Join(root, storeName, dir)
	more, err := p.configuration(final)
	if err != nil {
		return err
	}
	staged := filepath.Join(root, storeName, "new-"+rand.Text())
	if err := write(staged, p.files, more); err != nil {
		return fmt.Errorf("%w: %w", ErrRoot, err)
	}
	if err := os.Rename(staged, final); err != nil {
		return fmt.Errorf("%w: %w", ErrRoot, err)
	}
	temporary := filepath.Join(root, storeName, "link-"+rand.Text())
	if err := os.Symlink(filepath.Join(storeName, dir), temporary); err != nil {
		return fmt.Errorf("%w: packs need symbolic links, which are not to be had here: %w", ErrRoot, err)
	}
	if err = syncDirectory(filepath.Dir(final)); err == nil {
		err = os.Rename(temporary, filepath.Join(root, p.manifest.Name))
	}
	if err == nil {
		err = syncDirectory(root)
	}
	if err != nil {
		return fmt.Errorf("%w: %w", ErrRoot, err)
	}
	return nil
}

// write makes a directory with files, and sees to it that they are on disk.
func write(dir string, lists ...map[string]file) error {
	if err := os.Mkdir(dir, 0o700); err != nil {
		return err
	}
	directories := map[string]bool{dir: true}
	for _, files := range lists {
		for _, name := range slices.Sorted(maps.Keys(files)) {
			path := filepath.Join(dir, filepath.FromSlash(name))
			if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
				return err
			}
			for d := filepath.Dir(path); !directories[d]; d = filepath.Dir(d) {
				directories[d] = true
			}
			if err := writeFile(path, files[name]); err != nil {
				return err
			}
		}
	}
	for d := range directories {
		if err := syncDirectory(d); err != nil {
			return err
		}
	}
	return nil
}

func writeFile(path string, f file) error {
	mode := os.FileMode(0o400)
	if f.exec {
		mode = 0o500
	}
	out, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return err
	}
	_, err = out.Write(f.data)
	return errors.Join(err, out.Sync(), out.Close())
}
