package pack

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/grapnel-dev/grapnel/runner/trust"
	"github.com/grapnel-dev/grapnel/subscribers/command/dialect"
)

// Installed is a pack that is installed.
type Installed struct {
	Name        string   `json:"name"`
	Version     string   `json:"version"`
	Description string   `json:"description,omitempty"`
	Homepage    string   `json:"homepage,omitempty"`
	Dialects    []string `json:"dialects,omitempty"`
	// Files are how many files it has, besides the manifest.
	Files int `json:"files"`
	// Dir is where it is.
	Dir string `json:"dir"`
	// Digest is that of [Pack.Digest].
	Digest string `json:"digest,omitempty"`
	// Problem says what is wrong with it, where the manifest cannot be read or
	// something else is in its place; see [Verify] for the rest.
	Problem string `json:"problem,omitempty"`
}

// List lists the packs below root, by name. There being no root is no error.
func List(root string) ([]Installed, error) {
	entries, err := os.ReadDir(root)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrRoot, err)
	}
	var list []Installed
	for _, e := range entries {
		if !strings.HasPrefix(e.Name(), ".") {
			list = append(list, describe(root, e.Name()))
		}
	}
	return list, nil
}

// describe says what there is to say of a pack without reading all of it.
func describe(root, name string) Installed {
	i := Installed{Name: name, Dir: filepath.Join(root, name)}
	l, err := current(root, name)
	if err != nil {
		i.Problem = err.Error()
		return i
	}
	i.Version = l.version
	m, digest, err := l.manifest(root)
	if err != nil {
		i.Problem = err.Error()
		return i
	}
	i.Description, i.Homepage, i.Files, i.Digest = m.Description, m.Homepage, len(m.Files), digest
	i.Dialects = slices.Sorted(maps.Keys(m.Dialects))
	return i
}

// manifest reads the manifest of an installed pack.
func (l link) manifest(root string) (m Manifest, digest string, err error) {
	dir, err := os.OpenRoot(l.path(root))
	if err != nil {
		return m, "", fmt.Errorf("%w: %w", ErrContent, err)
	}
	defer dir.Close()
	t := newTree()
	if err := readFile(dir, ManifestFile, t); err != nil {
		return m, "", fmt.Errorf("%w: %w", ErrContent, err)
	}
	text := t.files[ManifestFile].data
	if digest = sum(text); !strings.HasPrefix(digest, l.digest) {
		return m, "", fmt.Errorf("%w: %s was changed after it was installed", ErrContent, ManifestFile)
	}
	m, err = parseManifest(text)
	return m, digest, err
}

// Verify reports whether an installed pack is what was installed: every file,
// and no other. The error wraps ErrContent when it is not, ErrNotInstalled or
// ErrRoot.
func Verify(root, name string) error {
	l, err := current(root, name)
	if err == nil {
		err = verify(root, name, l)
	}
	if err != nil {
		return fmt.Errorf("verify %s: %w", name, err)
	}
	return nil
}

func verify(root, name string, l link) error {
	t := newTree()
	t.extra = maxDialects
	t, err := readDirectory(l.path(root), t)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrContent, err)
	}
	if digest := sum(t.files[ManifestFile].data); !strings.HasPrefix(digest, l.digest) {
		return fmt.Errorf("%w: %s was changed after it was installed, or is missing", ErrContent, ManifestFile)
	}
	files := maps.Clone(t.files)
	maps.DeleteFunc(files, func(name string, _ file) bool { return reserved(name) })
	p, err := whole(files)
	if err != nil {
		return err
	}
	if p.manifest.Name != name || p.manifest.Version != l.version {
		return fmt.Errorf("%w: it is %s %s", ErrContent, p.manifest.Name, p.manifest.Version)
	}
	want, err := p.configuration(l.path(root))
	if err != nil {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(want)) {
		if got, ok := t.files[name]; !ok || !bytes.Equal(got.data, want[name].data) {
			return fmt.Errorf("%w: %s was changed after it was installed, or is missing", ErrContent, name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(t.files)) {
		if _, ok := want[name]; !ok && reserved(name) {
			return fmt.Errorf("%w: %s is not in the list of files", ErrContent, name)
		}
	}
	return nil
}

// Remove takes an installed pack away, and all its hooks with it. Approvals of
// these stay, for the same version only. It waits for other changes below root
// until ctx ends. The error wraps ErrNotInstalled, ErrRoot or ErrBusy.
func Remove(ctx context.Context, root, name string) error {
	_, err := current(root, name)
	if err == nil {
		err = change(ctx, root, func() error {
			if _, err := current(root, name); err != nil {
				return err
			}
			if err := os.Remove(filepath.Join(root, name)); err != nil {
				return fmt.Errorf("%w: %w", ErrRoot, err)
			}
			return syncDirectory(root)
		})
	}
	if err != nil {
		return fmt.Errorf("remove %s: %w", name, err)
	}
	return nil
}

// Files are what a [dialect.Set] of that dialect reads the hooks of all packs
// below root from, those that are installed later as well. root is absolute.
func Files(root, dialectName string) []dialect.File {
	plain := strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`).Replace(filepath.ToSlash(root))
	return []dialect.File{{Path: plain + "/*/" + configurationName(dialectName), Source: trust.Downloaded}}
}
