package archtest_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/mod/modfile"
)

func TestEveryDependencyHasAReason(t *testing.T) {
	t.Parallel()
	tr := load(t)
	text, err := os.ReadFile(filepath.Join(tr.root, "go.mod"))
	require.NoError(t, err)
	mod, err := modfile.Parse("go.mod", text, nil)
	require.NoError(t, err)
	assert.Equal(t, module, mod.Module.Mod.Path)
	assert.Empty(t, mod.Replace, "a clone must build as it is")
	contributing, err := os.ReadFile(filepath.Join(tr.root, "CONTRIBUTING.md"))
	require.NoError(t, err)

	required := map[string]bool{}
	for _, r := range mod.Require {
		required[r.Mod.Path] = true
		if !r.Indirect {
			assert.Regexp(t, "(?m)^\\| `"+regexp.QuoteMeta(r.Mod.Path)+"` \\| \\S", string(contributing), "go.mod requires it, and CONTRIBUTING.md does not say why")
		}
	}
	for _, row := range regexp.MustCompile("(?m)^\\| `([^` ]+\\.[^` ]+/[^` ]+)` \\|").FindAllStringSubmatch(string(contributing), -1) {
		assert.True(t, required[row[1]], "CONTRIBUTING.md gives a reason for %s, which go.mod does not require", row[1])
	}
}

// Parts of words are joined here so that this file does not find itself.
var neverNamed = []struct{ text, reason string }{
	{"proxy.golang" + ".org", "where modules come from is the builder's choice"},
	{"sum.golang" + ".org", "where modules come from is the builder's choice"},
	{"registry.npmjs" + ".org", "where packages come from is the builder's choice"},
	{"pypi" + ".org", "where packages come from is the builder's choice"},
	{"docker" + ".io/", "where images come from is the builder's choice"},
	{"ghcr" + ".io/", "where images come from is the builder's choice"},
	{"quay" + ".io/", "where images come from is the builder's choice"},
	{"/work" + "/main", "a path of somebody's machine"},
	{"/work" + "/shared", "a path of somebody's machine"},
}

func TestFilesNameNothingFromElsewhere(t *testing.T) {
	t.Parallel()
	tr := load(t)
	tr.walk(t, func(name string) {
		text, err := os.ReadFile(filepath.Join(tr.root, filepath.FromSlash(name)))
		require.NoError(t, err)
		if !utf8.Valid(text) {
			return
		}
		for _, n := range neverNamed {
			if i := strings.Index(string(text), n.text); i >= 0 {
				assert.Fail(t, "named", "%s:%d: %s: %s", name, 1+strings.Count(string(text[:i]), "\n"), n.text, n.reason)
			}
		}
	})
}

func TestProjectFiles(t *testing.T) {
	t.Parallel()
	tr := load(t)
	for name, want := range map[string]string{
		"LICENSE":                  "Apache License",
		"CONTRIBUTING.md":          "make check",
		"CHANGELOG.md":             "## [Unreleased]",
		"Makefile":                 "help:",
		".ci/run":                  "set -euo pipefail",
		".github/workflows/ci.yml": ".ci/run",
		"staticcheck.conf":         "checks",
		".editorconfig":            "root = true",
	} {
		text, err := os.ReadFile(filepath.Join(tr.root, filepath.FromSlash(name)))
		require.NoError(t, err)
		assert.Contains(t, string(text), want, name)
		assert.True(t, strings.HasSuffix(string(text), "\n"), "%s ends with a newline", name)
	}
	license, err := os.ReadFile(filepath.Join(tr.root, "LICENSE"))
	require.NoError(t, err)
	assert.Contains(t, string(license), "Copyright 2026 The grapnel authors")
	assert.Contains(t, string(license), "END OF TERMS AND CONDITIONS")
}
