package pack

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"github.com/grapnel-dev/grapnel/subscribers/command/dialect"
)

// Build brings the list of files in the manifest of a directory up to date, and
// checks the pack as [Open] does. The rest of pack.json is the author's; the
// list may be missing. The file is replaced at once, and only when everything
// is in order.
//
// The error is as that of Open.
func Build(dir string, find func(name string) (*dialect.Dialect, bool)) (*Pack, error) {
	p, err := build(dir, find)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", dir, err)
	}
	return p, nil
}

func build(dir string, find func(name string) (*dialect.Dialect, bool)) (*Pack, error) {
	t, err := readDirectory(dir, newTree())
	if err != nil {
		return nil, err
	}
	old, ok := t.files[ManifestFile]
	if !ok {
		return nil, fmt.Errorf("%w: there is no %s in it", ErrFormat, ManifestFile)
	}
	m, err := decodeManifest(old.data)
	if err != nil {
		return nil, err
	}
	m.Files = make(map[string]string, len(t.files))
	for name, f := range t.files {
		if name != ManifestFile {
			m.Files[name] = sum(f.data)
		}
	}
	text, err := m.text()
	if err != nil {
		return nil, err
	}
	t.files[ManifestFile] = file{data: text}
	p, err := check(t, find)
	if err != nil || bytes.Equal(text, old.data) {
		return p, err
	}
	return p, replace(dir, text)
}

// replace writes pack.json.
func replace(dir string, text []byte) error {
	temporary := filepath.Join(dir, ManifestFile+"."+rand.Text())
	f, err := os.OpenFile(temporary, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return err
	}
	_, err = f.Write(text)
	if err = errors.Join(err, f.Close()); err == nil {
		err = os.Rename(temporary, filepath.Join(dir, ManifestFile))
	}
	if err != nil {
		return errors.Join(err, os.Remove(temporary))
	}
	return nil
}

// Write writes the pack as a tar.gz archive. The same pack gives the same bytes
// with the same version of grapnel: there are no times and no owners in it, and
// files are in the order of their names.
func (p *Pack) Write(w io.Writer) error {
	z := gzip.NewWriter(w)
	a := tar.NewWriter(z)
	for _, name := range slices.Sorted(maps.Keys(p.files)) {
		f := p.files[name]
		h := &tar.Header{Typeflag: tar.TypeReg, Name: name, Size: int64(len(f.data)), Mode: 0o644}
		if f.exec {
			h.Mode = 0o755
		}
		if err := a.WriteHeader(h); err != nil {
			return fmt.Errorf("archive: %w", err)
		}
		if _, err := a.Write(f.data); err != nil {
			return fmt.Errorf("archive: %w", err)
		}
	}
	if err := errors.Join(a.Close(), z.Close()); err != nil {
		return fmt.Errorf("archive: %w", err)
	}
	return nil
}
