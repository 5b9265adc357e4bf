package pack

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"golang.org/x/mod/semver"

	"github.com/grapnel-dev/grapnel/internal/strictjson"
)

// maxDialects is for how many dialects a pack may have hooks.
const maxDialects = 32

// Manifest is what a pack says about itself, in pack.json.
type Manifest struct {
	// Name is what it is called where it is installed: lower-case letters,
	// digits, - and _, at most 64.
	Name string `json:"name"`
	// Version is a semantic version without "v".
	Version string `json:"version"`
	// Description is a line or two for people.
	Description string `json:"description"`
	// License is a name or SPDX expression.
	License string `json:"license,omitempty"`
	// Homepage is a web address.
	Homepage string `json:"homepage,omitempty"`
	// Requires is what has to be there.
	Requires Requires `json:"requires,omitzero"`
	// Dialects says for each dialect which file is its configuration.
	Dialects map[string]string `json:"dialects"`
	// Files is the SHA-256, in hexadecimal, of every file but pack.json.
	Files map[string]string `json:"files"`
}

// Requires is what a pack needs.
type Requires struct {
	// Grapnel is ">=" and a version of grapnel; empty means any.
	Grapnel string `json:"grapnel,omitempty"`
}

var (
	namePattern    = regexp.MustCompile(`^[a-z0-9][a-z0-9_-]{0,63}$`)
	dialectPattern = regexp.MustCompile(`^[a-z0-9][a-z0-9-]{0,63}$`)
	sumPattern     = regexp.MustCompile(`^[0-9a-f]{64}$`)
)

// parseManifest reads pack.json strictly.
func parseManifest(text []byte) (Manifest, error) {
	m, err := decodeManifest(text)
	if err != nil {
		return m, err
	}
	if err := m.check(); err != nil {
		return m, fmt.Errorf("%w: %s: %w", ErrFormat, ManifestFile, err)
	}
	return m, nil
}

func decodeManifest(text []byte) (Manifest, error) {
	var m Manifest
	if err := strictjson.Unmarshal(text, &m, MaxManifest); err != nil {
		return m, fmt.Errorf("%w: %s: %w", ErrFormat, ManifestFile, err)
	}
	return m, nil
}

// check reports what is wrong with it.
func (m *Manifest) check() error {
	if err := m.checkHead(); err != nil {
		return err
	}
	switch {
	case len(m.Files) > MaxFiles:
		return fmt.Errorf("%w: files: there are more than %d", ErrTooLarge, MaxFiles)
	case len(m.Files) == 0:
		return fmt.Errorf("files: there are none; `grapnel hooks pack build` lists them")
	}
	for _, name := range slices.Sorted(maps.Keys(m.Files)) {
		if err := checkName(name); err != nil {
			return fmt.Errorf("files: %w", err)
		}
		if strings.EqualFold(name, ManifestFile) {
			return fmt.Errorf("files: %s cannot have its own checksum", name)
		}
		if !sumPattern.MatchString(m.Files[name]) {
			return fmt.Errorf("files: %s: %.80q is no SHA-256 in 64 lower-case hexadecimal digits", name, m.Files[name])
		}
	}
	for _, d := range slices.Sorted(maps.Keys(m.Dialects)) {
		if _, ok := m.Files[m.Dialects[d]]; !ok {
			return fmt.Errorf("dialects: %s: %.200q is not in the list of files", d, m.Dialects[d])
		}
	}
	return nil
}

// checkHead is check without the files.
func (m *Manifest) checkHead() error {
	switch {
	case !namePattern.MatchString(m.Name):
		return fmt.Errorf("name: %.80q is not a name: lower-case letters, digits, - and _, at most 64", m.Name)
	case !canonical(m.Version):
		return fmt.Errorf("version: %.80q is not a semantic version such as 1.2.3", m.Version)
	case m.Requires.Grapnel != "" && !canonical(strings.TrimPrefix(m.Requires.Grapnel, ">=")) || m.Requires.Grapnel != "" && !strings.HasPrefix(m.Requires.Grapnel, ">="):
		return fmt.Errorf("requires: grapnel: %.80q is not >= and a version, such as >=1.2.3", m.Requires.Grapnel)
	case len(m.Dialects) > maxDialects:
		return fmt.Errorf("dialects: there are more than %d", maxDialects)
	case len(m.Dialects) == 0:
		return fmt.Errorf("dialects: there are none; say which file is which dialect's configuration")
	}
	if err := checkElement(m.Name); err != nil {
		return fmt.Errorf("name: %w", err)
	}
	for _, field := range []struct {
		name, value string
		limit       int
	}{{"description", m.Description, 1000}, {"license", m.License, 100}, {"homepage", m.Homepage, 500}} {
		if len(field.value) > field.limit || strings.ContainsFunc(field.value, func(r rune) bool { return !unicode.IsPrint(r) }) {
			return fmt.Errorf("%s: it has more than %d bytes, or characters that cannot be shown", field.name, field.limit)
		}
	}
	if m.Homepage != "" {
		u, err := url.Parse(m.Homepage)
		if err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http" {
			return fmt.Errorf("homepage: %.80q is no web address", m.Homepage)
		}
	}
	for _, d := range slices.Sorted(maps.Keys(m.Dialects)) {
		switch {
		case !dialectPattern.MatchString(d):
			return fmt.Errorf("dialects: %.80q is not the name of a dialect", d)
		case !strings.HasSuffix(m.Dialects[d], ".json"):
			return fmt.Errorf("dialects: %s: %.200q is not a .json file", d, m.Dialects[d])
		}
	}
	return nil
}

// canonical reports whether v is a semantic version, written out.
func canonical(v string) bool {
	v = "v" + v
	return len(v) <= 65 && semver.IsValid(v) && semver.Canonical(v)+semver.Build(v) == v
}

// compare compares two versions; those that are none are older than all.
func compare(a, b string) int { return semver.Compare("v"+a, "v"+b) }

func (m *Manifest) clone() Manifest {
	c := *m
	c.Dialects, c.Files = maps.Clone(m.Dialects), maps.Clone(m.Files)
	return c
}

// text is the manifest as [Build] writes it.
func (m *Manifest) text() ([]byte, error) {
	var out bytes.Buffer
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	if err := e.Encode(m); err != nil {
		return nil, err
	}
	return out.Bytes(), nil
}
