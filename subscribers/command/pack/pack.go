package pack

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/grapnel-dev/grapnel/subscribers/command/dialect"
)

// Limits of a pack.
const (
	// MaxFiles is how many files it may have, besides the manifest.
	MaxFiles = 1000
	// MaxFile is how large each may be, in bytes.
	MaxFile = 32 << 20
	// MaxTotal bounds all of them together, in bytes.
	MaxTotal = 128 << 20
	// MaxArchive is how large an archive may be, in bytes, and what it
	// decompresses to, headers included.
	MaxArchive = MaxTotal + 32<<20
	// MaxManifest is how large pack.json may be, in bytes.
	MaxManifest = 512 << 10
)

// ManifestFile is the name of the manifest.
const ManifestFile = "pack.json"

// Errors of this package. Each is wrapped with what it is about and what to do;
// tell them apart with errors.Is.
var (
	// ErrFormat: this is no pack, or holds what no pack may.
	ErrFormat = errors.New("bad hook pack")
	// ErrTooLarge: it is larger than packs may be.
	ErrTooLarge = errors.New("hook pack is too large")
	// ErrContent: its files are not what its manifest says.
	ErrContent = errors.New("hook pack is not what its manifest says")
	// ErrVersion: the installed version is newer, or the same with other
	// content, or the pack needs a newer grapnel.
	ErrVersion = errors.New("hook pack has the wrong version")
	// ErrRoot: the directory for packs cannot be used, or something else is in
	// the way there.
	ErrRoot = errors.New("bad directory for hook packs")
	// ErrNotInstalled: there is no pack of that name.
	ErrNotInstalled = errors.New("hook pack is not installed")
	// ErrBusy: somebody else has been changing packs for too long.
	ErrBusy = errors.New("hook packs are locked by another process")
)

// Pack is a hook pack that was read and checked. It does not change.
type Pack struct {
	manifest Manifest
	digest   string // of the manifest and so of everything
	files    map[string]file
	hooks    []Hook
	problems []dialect.Problem
}

// Hook is a hook of a pack, for people.
type Hook struct {
	Dialect string   `json:"dialect"`
	Name    string   `json:"name"`
	Events  []string `json:"events"`
	// Runs is what it runs, with ${GRAPNEL_PACK} for the pack's directory.
	Runs string `json:"runs"`
}

// Open reads a pack, a directory or an archive, and checks all of it. find
// returns the dialect of a name.
//
// The error wraps ErrFormat, ErrTooLarge or ErrContent, or is the file system's.
func Open(path string, find func(name string) (*dialect.Dialect, bool)) (*Pack, error) {
	p, err := open(path, find)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return p, nil
}

func open(path string, find func(name string) (*dialect.Dialect, bool)) (*Pack, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, withoutPath(err)
	}
	var t *tree
	switch {
	case info.IsDir():
		t, err = readDirectory(path, newTree())
	case info.Mode().IsRegular():
		t, err = readArchive(path)
	default:
		err = fmt.Errorf("%w: it is neither a directory nor an archive but %s", ErrFormat, kindOf(info.Mode()))
	}
	if err != nil {
		return nil, err
	}
	return check(t, find)
}

// check makes a pack of what was read.
func check(t *tree, find func(name string) (*dialect.Dialect, bool)) (*Pack, error) {
	p, err := whole(t.files)
	if err != nil {
		return nil, err
	}
	for _, name := range slices.Sorted(maps.Keys(p.files)) {
		if reserved(name) {
			return nil, fmt.Errorf("%w: the name %s is taken: configuration is installed there; put the file into a directory", ErrFormat, name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(p.manifest.Dialects)) {
		d, ok := find(name)
		if !ok {
			return nil, fmt.Errorf("%w: this grapnel knows no hook dialect %q", ErrFormat, name)
		}
		if err := p.read(d); err != nil {
			return nil, err
		}
	}
	return p, nil
}

// whole reads the manifest and compares the files with it.
func whole(files map[string]file) (*Pack, error) {
	text, ok := files[ManifestFile]
	if !ok {
		return nil, fmt.Errorf("%w: there is no %s in it", ErrFormat, ManifestFile)
	}
	m, err := parseManifest(text.data)
	if err != nil {
		return nil, err
	}
	for _, name := range slices.Sorted(maps.Keys(m.Files)) {
		f, ok := files[name]
		switch {
		case !ok:
			return nil, fmt.Errorf("%w: %s is missing", ErrContent, name)
		case sum(f.data) != m.Files[name]:
			return nil, fmt.Errorf("%w: %s has another checksum", ErrContent, name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(files)) {
		if _, ok := m.Files[name]; !ok && name != ManifestFile {
			return nil, fmt.Errorf("%w: %s is not in the list of files; `grapnel hooks pack build` brings the list up to date", ErrContent, name)
		}
	}
	return &Pack{manifest: m, digest: sum(text.data), files: files}, nil
}

// Manifest is what the pack says about itself.
func (p *Pack) Manifest() Manifest { return p.manifest.clone() }

// Digest is the SHA-256 of the manifest, in hexadecimal. Two packs with one
// digest have the same files.
func (p *Pack) Digest() string { return p.digest }

// Hooks lists the hooks by dialect, in the order of their files.
func (p *Pack) Hooks() []Hook { return slices.Clone(p.hooks) }

// Problems is what the dialects say is wrong with their files; hooks that are
// wrong do not load, and the others do.
func (p *Pack) Problems() []dialect.Problem { return slices.Clone(p.problems) }

func sum(data []byte) string {
	digest := sha256.Sum256(data)
	return hex.EncodeToString(digest[:])
}

// withoutPath takes the path out of an error that gets it anyway.
func withoutPath(err error) error {
	if e, ok := errors.AsType[*os.PathError](err); ok {
		return e.Err
	}
	return err
}

// reserved reports whether configuration is installed under a name.
func reserved(name string) bool {
	name = strings.ToLower(name)
	return strings.HasPrefix(name, "hooks.") && strings.HasSuffix(name, ".json") && name != "hooks.json" && !strings.Contains(name, "/")
}
