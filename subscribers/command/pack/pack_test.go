package pack_test

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/grapnel-dev/grapnel/subscribers/command/codemie"
	"github.com/grapnel-dev/grapnel/subscribers/command/dialect"
	"github.com/grapnel-dev/grapnel/subscribers/command/native"
	"github.com/grapnel-dev/grapnel/subscribers/command/pack"
)

// find knows two dialects: what a pack is does not depend on which there are.
func find(name string) (*dialect.Dialect, bool) {
	for _, d := range []*dialect.Dialect{native.New(), codemie.New()} {
		if d.Name == name {
			return d, true
		}
	}
	return nil, false
}

const hooksFile = `{"hooks":[{"name":"check","on":["pre_tool_use.bash"],"command":["${GRAPNEL_PACK}/bin/check.sh"]}]}`

// content is the files of a pack; a name that ends in "*" is a program.
type content map[string]string

// good is a pack without a manifest.
func good() content {
	return content{
		"hooks/hooks.json": hooksFile,
		"bin/check.sh*":    "#!/bin/sh\necho no >&2\nexit 2\n",
	}
}

func checksum(text string) string {
	digest := sha256.Sum256([]byte(text))
	return hex.EncodeToString(digest[:])
}

// manifest makes the manifest of some files.
func manifest(t testing.TB, version string, c content, change func(map[string]any)) string {
	t.Helper()
	files := map[string]string{}
	for name, text := range c {
		files[strings.TrimSuffix(name, "*")] = checksum(text)
	}
	m := map[string]any{
		"name": "no-secrets", "version": version, "description": "keeps secrets out",
		"dialects": map[string]string{"grapnel": "hooks/hooks.json"}, "files": files,
	}
	if change != nil {
		change(m)
	}
	text, err := json.Marshal(m)
	require.NoError(t, err)
	return string(text)
}

// with adds a manifest.
func (c content) with(manifest string) content {
	all := content{"pack.json": manifest}
	for name, text := range c {
		all[name] = text
	}
	return all
}

func (c content) directory(t testing.TB) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "source")
	require.NoError(t, os.Mkdir(dir, 0o755))
	for name, text := range c {
		mode := os.FileMode(0o644)
		if plain, ok := strings.CutSuffix(name, "*"); ok {
			name, mode = plain, 0o755
		}
		path := filepath.Join(dir, filepath.FromSlash(name))
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		require.NoError(t, os.WriteFile(path, []byte(text), mode))
	}
	return dir
}

func TestAPackIsReadAndSaysWhatItIs(t *testing.T) {
	t.Parallel()
	c := good()
	c["hooks/codemie.json"] = `{"version":2,"activeProfile":"default","profiles":{"default":{"hooks":{"PreToolUse":[{"matcher":"Bash","hooks":[{"type":"command","command":"${GRAPNEL_PACK}/bin/check.sh"}]}]}}}}`
	dir := c.with(manifest(t, "1.2.3-rc.1+build.5", c, func(m map[string]any) {
		m["license"], m["homepage"], m["requires"] = "MIT OR Apache-2.0", "https://example.com/x", map[string]string{"grapnel": ">=1.0.0"}
		m["dialects"] = map[string]string{"grapnel": "hooks/hooks.json", "codemie": "hooks/codemie.json"}
	})).directory(t)
	require.NoError(t, os.MkdirAll(filepath.Join(dir, ".git", "objects"), 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(dir, ".git", "HEAD"), []byte("x"), 0o644))
	p, err := pack.Open(dir, find)
	require.NoError(t, err)
	assert.Equal(t, "no-secrets", p.Manifest().Name)
	assert.Equal(t, "1.2.3-rc.1+build.5", p.Manifest().Version)
	assert.Len(t, p.Manifest().Files, 3)
	assert.Empty(t, p.Problems())
	require.Len(t, p.Hooks(), 2)
	assert.Equal(t, pack.Hook{Dialect: "grapnel", Name: "check", Events: []string{"pre_tool_use"}, Runs: "${GRAPNEL_PACK}/bin/check.sh"}, p.Hooks()[1])
	assert.Equal(t, "${GRAPNEL_PACK}/bin/check.sh", p.Hooks()[0].Runs)
}

// TestManifests holds what a manifest may say.
func TestManifests(t *testing.T) {
	t.Parallel()
	set := func(key string, value any) func(map[string]any) { return func(m map[string]any) { m[key] = value } }
	file := func(name, value string) func(map[string]any) {
		return func(m map[string]any) { m["files"].(map[string]string)[name] = value }
	}
	for what, test := range map[string]struct {
		change func(map[string]any)
		want   error
		says   string
	}{
		"unknown key":            {set("script", "install.sh"), pack.ErrFormat, "script"},
		"key in another case":    {set("Name", "x"), pack.ErrFormat, "Name"},
		"no name":                {set("name", ""), pack.ErrFormat, "name:"},
		"name with a slash":      {set("name", "a/b"), pack.ErrFormat, "name:"},
		"name that goes up":      {set("name", ".."), pack.ErrFormat, "name:"},
		"name in capitals":       {set("name", "Pack"), pack.ErrFormat, "name:"},
		"hidden name":            {set("name", ".store"), pack.ErrFormat, "name:"},
		"device as a name":       {set("name", "nul"), pack.ErrFormat, "device"},
		"long name":              {set("name", strings.Repeat("a", 65)), pack.ErrFormat, "name:"},
		"version with v":         {set("version", "v1.0.0"), pack.ErrFormat, "version:"},
		"short version":          {set("version", "1.0"), pack.ErrFormat, "version:"},
		"version with a path":    {set("version", "1.0.0-../../x"), pack.ErrFormat, "version:"},
		"long version":           {set("version", "1.0.0-"+strings.Repeat("a", 70)), pack.ErrFormat, "version:"},
		"leading zero":           {set("version", "1.02.0"), pack.ErrFormat, "version:"},
		"requires something":     {set("requires", map[string]string{"node": "1"}), pack.ErrFormat, "node"},
		"requires less":          {set("requires", map[string]string{"grapnel": "<1.0.0"}), pack.ErrFormat, "requires:"},
		"requires no range":      {set("requires", map[string]string{"grapnel": "1.0.0"}), pack.ErrFormat, "requires:"},
		"escape sequence":        {set("description", "a\x1b[2Jb"), pack.ErrFormat, "description:"},
		"bidi override":          {set("description", "a\u202eb"), pack.ErrFormat, "description:"},
		"long description":       {set("description", strings.Repeat("a", 1001)), pack.ErrFormat, "description:"},
		"script as a homepage":   {set("homepage", "javascript:alert(1)"), pack.ErrFormat, "homepage:"},
		"file as a homepage":     {set("homepage", "file:///etc/passwd"), pack.ErrFormat, "homepage:"},
		"no dialects":            {set("dialects", map[string]string{}), pack.ErrFormat, "dialects:"},
		"unknown dialect":        {set("dialects", map[string]string{"nobodys": "hooks/hooks.json"}), pack.ErrFormat, "nobodys"},
		"dialect with a path":    {set("dialects", map[string]string{"../x": "hooks/hooks.json"}), pack.ErrFormat, "dialects:"},
		"dialect's file missing": {set("dialects", map[string]string{"grapnel": "hooks/other.json"}), pack.ErrFormat, "other.json"},
		"dialect's file outside": {set("dialects", map[string]string{"grapnel": "../hooks.json"}), pack.ErrFormat, "../hooks.json"},
		"dialect's other file":   {set("dialects", map[string]string{"grapnel": "bin/check.sh"}), pack.ErrFormat, ".json"},
		"many dialects": {func(m map[string]any) {
			d := map[string]string{}
			for i := range 33 {
				d[fmt.Sprintf("d%d", i)] = "hooks/hooks.json"
			}
			m["dialects"] = d
		}, pack.ErrFormat, "dialects:"},
		"no files":            {set("files", nil), pack.ErrFormat, "pack build"},
		"files of a list":     {set("files", []string{"a"}), pack.ErrFormat, ""},
		"file that goes up":   {file("a/../../b", checksum("")), pack.ErrFormat, ".."},
		"absolute file":       {file("/etc/passwd", checksum("")), pack.ErrFormat, "relative"},
		"file of Windows":     {file(`a\b`, checksum("")), pack.ErrFormat, "portable"},
		"drive":               {file("C:/x", checksum("")), pack.ErrFormat, "portable"},
		"stream":              {file("a:b", checksum("")), pack.ErrFormat, "portable"},
		"device":              {file("bin/aux.sh", checksum("")), pack.ErrFormat, "device"},
		"final dot":           {file("a.", checksum("")), pack.ErrFormat, "portable"},
		"hidden":              {file(".bashrc", checksum("")), pack.ErrFormat, "portable"},
		"empty element":       {file("a//b", checksum("")), pack.ErrFormat, "relative"},
		"option":              {file("-rf", checksum("")), pack.ErrFormat, "portable"},
		"letters of others":   {file("é", checksum("")), pack.ErrFormat, "portable"},
		"new line":            {file("a\nb", checksum("")), pack.ErrFormat, "portable"},
		"nul":                 {file("a\x00b", checksum("")), pack.ErrFormat, "portable"},
		"deep":                {file(strings.Repeat("a/", 16)+"a", checksum("")), pack.ErrFormat, "deep"},
		"long path":           {file(strings.Repeat("a", 201), checksum("")), pack.ErrFormat, "characters"},
		"checksum of itself":  {file("pack.json", checksum("")), pack.ErrFormat, "own checksum"},
		"checksum too short":  {file("bin/check.sh", "abc"), pack.ErrFormat, "SHA-256"},
		"checksum in capital": {file("bin/check.sh", strings.ToUpper(checksum("x"))), pack.ErrFormat, "SHA-256"},
		"other checksum":      {file("bin/check.sh", checksum("x")), pack.ErrContent, "bin/check.sh has another checksum"},
		"missing file":        {file("bin/more.sh", checksum("x")), pack.ErrContent, "bin/more.sh is missing"},
		"extra file": {func(m map[string]any) { delete(m["files"].(map[string]string), "bin/check.sh") },
			pack.ErrContent, "bin/check.sh is not in the list"},
		"many files": {func(m map[string]any) {
			for i := range pack.MaxFiles {
				m["files"].(map[string]string)[fmt.Sprintf("f%d", i)] = checksum("")
			}
		}, pack.ErrTooLarge, "files:"},
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			c := good()
			_, err := pack.Open(c.with(manifest(t, "1.0.0", c, test.change)).directory(t), find)
			require.ErrorIs(t, err, test.want)
			assert.ErrorContains(t, err, test.says)
		})
	}
	for what, text := range map[string]string{
		"nothing":    "",
		"no object":  "[]",
		"two":        `{"name":"a"}{"name":"b"}`,
		"twice":      `{"name":"a","name":"b"}`,
		"deep":       strings.Repeat("[", 100_000),
		"large":      `{"description":"` + strings.Repeat("a", pack.MaxManifest) + `"}`,
		"not UTF-8":  "{\"name\":\"a\xff\"}",
		"a name too": `{"name":null}`,
	} {
		_, err := pack.Open(good().with(text).directory(t), find)
		assert.ErrorIs(t, err, pack.ErrFormat, what)
	}
	_, err := pack.Open(good().directory(t), find)
	require.ErrorIs(t, err, pack.ErrFormat)
	assert.ErrorContains(t, err, "no pack.json")
}

func TestEveryDialectMustReadItsFile(t *testing.T) {
	t.Parallel()
	for text, says := range map[string]string{
		`{"hooks":[]}`: "no hooks",
		`nonsense`:     "does not load",
		`{"hooks":[{"on":["nothing.at.all.x"],"shell":"true"}]}`:                           "hooks[0]",
		`{"hooks":[{"on":["stop"],"command":["${GRAPNEL_PACK}/bin/other.sh"]}]}`:           "${GRAPNEL_PACK}/bin/other.sh\", which is not in the pack",
		`{"hooks":[{"on":["stop"],"command":["./bin/other.sh"]}]}`:                         "which is not in the pack",
		`{"hooks":[{"on":["stop"],"command":["../other/bin/check.sh"]}]}`:                  "which is not in the pack",
		`{"hooks":[{"on":["stop"],"command":["${GRAPNEL_PACK}/../other/bin/check.sh"]}]}`:  "which is not in the pack",
		`{"hooks":[{"on":["stop"],"command":["x","` + strings.Repeat("a", 1<<20) + `"]}]}`: "bytes",
	} {
		c := good()
		c["hooks/hooks.json"] = text
		_, err := pack.Open(c.with(manifest(t, "1.0.0", c, nil)).directory(t), find)
		if assert.Error(t, err, says) {
			assert.ErrorContains(t, err, says)
			assert.NotContains(t, err.Error(), "/grapnel-pack")
		}
	}
	for _, text := range []string{
		`{"hooks":[{"on":["stop"],"command":["./bin/check.sh"]}]}`,
		`{"hooks":[{"on":["stop"],"command":["bin/../bin/check.sh"]}]}`,
		`{"hooks":[{"on":["stop"],"command":["/usr/bin/env","sh"]}]}`,
		`{"hooks":[{"on":["stop"],"shell":"${GRAPNEL_PACK}/bin/check.sh"},{"on":["stop"],"shell":"true","typo":1}]}`,
	} {
		c := good()
		c["hooks/hooks.json"] = text
		p, err := pack.Open(c.with(manifest(t, "1.0.0", c, nil)).directory(t), find)
		require.NoError(t, err, text)
		if strings.Contains(text, "typo") {
			require.Len(t, p.Problems(), 1, "what is wrong is said")
			assert.Contains(t, p.Problems()[0].Error(), "hooks/hooks.json: hooks[1]")
		}
	}
	c := good()
	c["hooks.other.json"] = "{}"
	_, err := pack.Open(c.with(manifest(t, "1.0.0", c, nil)).directory(t), find)
	require.ErrorIs(t, err, pack.ErrFormat, "a file where configuration is installed could pass for that of a dialect")
	assert.ErrorContains(t, err, "hooks.other.json is taken")
}

func TestTooManyFilesAndBytes(t *testing.T) {
	t.Parallel()
	c := good()
	dir := c.with(manifest(t, "1.0.0", c, nil)).directory(t)
	for i := range 5 {
		path := filepath.Join(dir, fmt.Sprintf("large%d", i))
		require.NoError(t, os.WriteFile(path, nil, 0o600))
		require.NoError(t, os.Truncate(path, pack.MaxFile))
	}
	_, err := pack.Open(dir, find)
	require.ErrorIs(t, err, pack.ErrTooLarge, "all of them together")
	dir = c.with(manifest(t, "1.0.0", c, nil)).directory(t)
	for i := range pack.MaxFiles {
		require.NoError(t, os.WriteFile(filepath.Join(dir, fmt.Sprintf("f%d", i)), nil, 0o600))
	}
	_, err = pack.Open(dir, find)
	require.ErrorIs(t, err, pack.ErrTooLarge)
	dir = c.with(manifest(t, "1.0.0", c, nil)).directory(t)
	for i := range 4 * pack.MaxFiles {
		require.NoError(t, os.Mkdir(filepath.Join(dir, fmt.Sprintf("d%d", i)), 0o700))
	}
	_, err = pack.Open(dir, find)
	require.ErrorIs(t, err, pack.ErrTooLarge)
}
