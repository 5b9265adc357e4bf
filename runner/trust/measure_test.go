//go:build unix

package trust_test

import (
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/grapnel-dev/grapnel/runner/process"
	"github.com/grapnel-dev/grapnel/runner/trust"
)

func TestD4MeasuresWhatAnArgumentVectorRuns(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	script := "#!/bin/sh -e\necho \"$0 $*\"\n"
	w.write("hooks/check.sh", script)
	w.write("plain.sh", "echo plain \"$@\"\n")
	w.write("data.json", "{}")
	for name, c := range map[string]struct {
		command []string
		roles   []string
		output  string
		notes   string
	}{
		"a script":         {[]string{"./hooks/check.sh", "a b", "c"}, []string{"script ./hooks/check.sh", "interpreter /bin/sh"}, "a b c\n", ""},
		"an interpreter":   {[]string{"sh", "-u", "plain.sh", "x"}, []string{"program sh", "script plain.sh"}, "plain x\n", ""},
		"options":          {[]string{"sh", "-eo", "noglob", "--", "plain.sh", "x"}, []string{"program sh", "script plain.sh"}, "plain x\n", ""},
		"text":             {[]string{"sh", "-ec", "./hooks/check.sh y", "zero"}, []string{"program sh", "script ./hooks/check.sh", "interpreter /bin/sh"}, " y\n", ""},
		"through env":      {[]string{"env", "A=1", "sh", "plain.sh"}, []string{"program env", "program sh", "script plain.sh"}, "plain\n", ""},
		"an argument":      {[]string{"/bin/sh", "-c", `. "$1"`, "zero", "plain.sh"}, []string{"program /bin/sh", "argument plain.sh"}, "plain plain.sh\n", "known only"},
		"data is not code": {[]string{"cat", "data.json"}, []string{"program cat"}, "{}", ""},
		"standard input":   {[]string{"sh", "-s"}, []string{"program sh"}, "", "standard input"},
		"a download":       {[]string{"true", "npx"}, []string{"program true"}, "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			m := w.measure(w.command(c.command...))
			assert.ElementsMatch(t, c.roles, strings.Split(roles(m), "\n"))
			if name != "an argument" {
				assert.Contains(t, strings.Join(m.Unpinned(), "\n"), c.notes)
			}
			r := w.bound(m, func(s *process.Spec) {
				path, err := process.Lookup(s.Command[0], searchPath)
				if err == nil {
					s.Command = append([]string{path}, s.Command[1:]...)
				}
			})
			got := string(r.Stdout.Bytes)
			if name == "an argument" {
				assert.Contains(t, got, "plain /proc/self/fd/")
				return
			}
			assert.True(t, strings.HasSuffix(got, c.output), got)
		})
	}
	for _, p := range w.measure(w.command("./hooks/check.sh")).Parts() {
		if p.Role == trust.RoleScript {
			assert.Equal(t, trust.Digest(sha256.Sum256([]byte(script))), p.SHA256)
			assert.EqualValues(t, len(script), p.Size)
			assert.Equal(t, filepath.Join(w.dir, "hooks/check.sh"), p.Path)
		}
	}
}

func TestMeasureFollowsInterpreters(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	sh := w.privateShell("my-sh")
	require.NotContains(t, w.dir, "\t")
	// A path with a blank cannot stand in a #! line.
	link := filepath.Join(t.TempDir(), "sh")
	require.NoError(t, os.Symlink(sh, link))
	w.write("inner", "#!"+link+"\necho inner \"$2\" \"$3\"\n")
	inner := filepath.Join(filepath.Dir(link), "inner")
	require.NoError(t, os.Symlink(filepath.Join(w.dir, "inner"), inner))
	w.write("outer", "#!"+inner+" with  blanks \nirrelevant\n")

	m := w.measure(w.command("./outer", "last"))
	assert.Equal(t, "script ./outer\ninterpreter "+inner+"\ninterpreter "+link, roles(m))
	assert.Equal(t, sh, m.Parts()[3].Path, "the real path")
	r := w.bound(m)
	assert.Regexp(t, `^inner /proc/self/fd/\d+ last\n$`, string(r.Stdout.Bytes))

	w.write("by-env", "#!/usr/bin/env sh\necho env \"$1\"\n")
	assert.Equal(t, "env x\n", w.output(w.command("./by-env", "x")))
	w.write("by-split", "#!/usr/bin/env -S sh -e\nfalse\necho no\n")
	assert.Equal(t, 1, w.bound(w.measure(w.command("./by-split"))).ExitCode)

	for i := range 6 {
		at := filepath.Join(filepath.Dir(link), fmt.Sprint(i))
		require.NoError(t, os.WriteFile(at, fmt.Appendf(nil, "#!%s/%d\n", filepath.Dir(link), i+1), 0o755))
	}
	_, err := w.gauge.Measure(w.command(filepath.Dir(link) + "/0"))
	require.ErrorIs(t, err, trust.ErrInterpreter)
}

func TestMeasureRefuses(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	require.NoError(t, syscall.Mkfifo(filepath.Join(w.dir, "fifo"), 0o755))
	huge := w.write("huge", "")
	require.NoError(t, os.Truncate(huge, trust.MaxFileSize+1))
	program := w.write("program", "")
	require.NoError(t, os.Truncate(program, trust.MaxProgramSize+1))
	require.NoError(t, os.Symlink("loop", filepath.Join(w.dir, "loop")))
	w.write("dos", "#!/bin/sh\r\n")
	w.write("gone", "#!/no/such/interpreter\n")
	require.NoError(t, os.Chmod(w.write("idle", "#!/bin/sh\n"), 0o644))
	w.write("ok.sh", "")
	many := make([]string, trust.MaxFiles)
	for i := range many {
		many[i] = filepath.Base(w.write(fmt.Sprintf("many-%d", i), fmt.Sprint(i)))
	}
	for name, c := range map[string]struct {
		d    trust.Definition
		want error
	}{
		"a FIFO as script":     {w.command("sh", "fifo"), trust.ErrFile},
		"a FIFO as program":    {w.command("./fifo"), trust.ErrFile},
		"a device":             {w.command("sh", "/dev/zero"), trust.ErrFile},
		"a directory":          {w.command("sh", "/etc"), trust.ErrFile},
		"a huge script":        {w.command("sh", "huge"), trust.ErrTooLarge},
		"a huge program":       {w.command("./program"), trust.ErrTooLarge},
		"links in a circle":    {w.command("sh", "loop"), trust.ErrFile},
		"a missing script":     {w.command("sh", "absent.sh"), process.ErrNotFound},
		"a missing program":    {w.command("no-such-program"), process.ErrNotFound},
		"not executable":       {w.command("./idle"), process.ErrNotExecutable},
		"carriage return":      {w.command("./dos"), trust.ErrInterpreter},
		"missing interpreter":  {w.command("./gone"), process.ErrNotFound},
		"a value as command":   {w.command("{{tool_name}}"), trust.ErrDefinition},
		"a value as script":    {w.command("sh", "{{tool_name}}"), trust.ErrDefinition},
		"a value as option":    {w.command("sh", "{{tool_name}}", "ok.sh"), trust.ErrDefinition},
		"a value in text":      {w.command("sh", "-c", "echo {{tool_name}}"), trust.ErrDefinition},
		"long text":            {w.shell("true " + strings.Repeat("x", trust.MaxShell)), trust.ErrTooLarge},
		"deep text":            {w.shell(strings.Repeat("$(", trust.MaxShell/2)), trust.ErrDefinition},
		"deep groups":          {w.shell(strings.Repeat("{ ", trust.MaxShell/2)), trust.ErrDefinition},
		"many commands":        {w.shell(strings.Repeat("cat;", 2000)), trust.ErrTooLarge},
		"no shell":             {w.shell("if"), trust.ErrDefinition},
		"a high descriptor":    {w.shell("echo 99>&1"), trust.ErrDefinition},
		"missing declared":     {w.hook(trust.Definition{Files: []string{"absent"}}), process.ErrNotFound},
		"too many files":       {w.hook(trust.Definition{Files: many, Shell: "true"}), trust.ErrTooLarge},
		"NUL":                  {w.command("sh", "a\x00b"), trust.ErrDefinition},
		"both":                 {w.hook(trust.Definition{Command: []string{"sh"}, Shell: "true"}), trust.ErrDefinition},
		"not JSON":             {w.hook(trust.Definition{Config: []byte(`{"a":1,"a":2}`)}), trust.ErrDefinition},
		"unknown source":       {trust.Definition{Dialect: "a", File: "/b", ID: "c", Source: "friend"}, trust.ErrDefinition},
		"no id":                {trust.Definition{Dialect: "a", File: "/b", Source: trust.User}, trust.ErrDefinition},
		"a relative directory": {trust.Definition{Dialect: "a", File: "/b", ID: "c", Source: trust.User, Command: []string{"sh"}, Dir: "x"}, trust.ErrDefinition},
	} {
		_, err := w.gauge.Measure(c.d)
		require.ErrorIs(t, err, c.want, name)
		assert.Contains(t, err.Error(), "hook", name)
	}
	nested := w.measure(w.shell(strings.Repeat("$(", 900) + "true" + strings.Repeat(")", 900)))
	assert.LessOrEqual(t, len(strings.Join(nested.Unpinned(), "")), 40_000)
}

// TestEveryFieldCounts changes one thing at a time and wants another digest.
func TestEveryFieldCounts(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	script, lib := w.write("a.sh", "echo a\n"), w.write("lib.sh", "lib")
	other := w.write("b.sh", "echo a\n")
	base := w.hook(trust.Definition{
		Name: "n", Config: []byte(`{"b": 1, "a": [1, 2]}`), Command: []string{"sh", "a.sh", "x"},
		Files: []string{"lib.sh"}, Env: []string{"B", "A"}, Vars: map[string]string{"P": "1"},
	})
	seen := map[trust.Digest]string{}
	differs := func(what string, edit func(*trust.Definition)) {
		d := base
		edit(&d)
		digest := w.measure(d).Digest()
		assert.Empty(t, seen[digest], "%s", what)
		seen[digest] = what
	}
	differs("base", func(*trust.Definition) {})
	differs("dialect", func(d *trust.Definition) { d.Dialect = "x" })
	differs("file", func(d *trust.Definition) { d.File = "/x" })
	differs("id", func(d *trust.Definition) { d.ID = "x" })
	differs("name", func(d *trust.Definition) { d.Name = "x" })
	differs("source", func(d *trust.Definition) { d.Source = trust.Extension })
	differs("workspace", func(d *trust.Definition) { d.Workspace = "/" })
	differs("config", func(d *trust.Definition) { d.Config = []byte(`{"a":[2,1],"b":1}`) })
	differs("a large number", func(d *trust.Definition) { d.Config = []byte(`{"a":9007199254740993}`) })
	differs("another large number", func(d *trust.Definition) { d.Config = []byte(`{"a":9007199254740992}`) })
	differs("word", func(d *trust.Definition) { d.Command = []string{"sh", "a.sh", "y"} })
	differs("words joined", func(d *trust.Definition) { d.Command = []string{"sh", "a.sh x"}; w.write("a.sh x", "echo a\n") })
	differs("same bytes, other path", func(d *trust.Definition) { d.Command = []string{"sh", other, "x"} })
	differs("no files", func(d *trust.Definition) { d.Files = nil })
	differs("env", func(d *trust.Definition) { d.Env = []string{"A"} })
	differs("var", func(d *trust.Definition) { d.Vars = map[string]string{"P": "2"} })
	differs("dir", func(d *trust.Definition) {
		d.Dir = "/"
		d.Command = []string{"sh", script, "x"}
		d.Files = []string{lib}
	})
	differs("shell", func(d *trust.Definition) { d.Command = nil; d.Shell = "true" })
	w.write("lib.sh", "lib!")
	differs("a declared file", func(*trust.Definition) {})
	w.write("lib.sh", "lib")
	w.write("a.sh", "echo b\n")
	differs("the script", func(*trust.Definition) {})
	w.write("a.sh", "echo a\n")

	same := base
	same.Config, same.Env = []byte("{\"a\":[1,2],\n\"b\":1}"), []string{"A", "B"}
	assert.Equal(t, "base", seen[w.measure(same).Digest()], "order of keys and names, and white space, do not count")
}

func TestGaugeKeepsWhatDoesNotChange(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	g := trust.NewGauge(&trust.Options{CachedFiles: 3, CachedBytes: 1 << 20})
	var open []*trust.Measurement
	for i := range 10 {
		name := fmt.Sprintf("%d", i)
		w.write(name, name)
		m, err := g.Measure(w.hook(trust.Definition{Files: []string{name}}))
		require.NoError(t, err)
		open = append(open, m)
		files, _ := g.Held()
		assert.LessOrEqual(t, files, 3)
	}
	large := w.write("large", strings.Repeat("x", 2<<20))
	m, err := g.Measure(w.hook(trust.Definition{Files: []string{large}}))
	require.NoError(t, err)
	open = append(open, m)
	_, bytes := g.Held()
	assert.LessOrEqual(t, bytes, int64(1<<20))
	for _, m := range open {
		require.NoError(t, m.Close())
		require.NoError(t, m.Close())
	}
	require.NoError(t, g.Close())
	require.NoError(t, g.Close())
	files, bytes := g.Held()
	assert.Zero(t, files)
	assert.Zero(t, bytes)
	_, err = g.Measure(w.hook(trust.Definition{Files: []string{large}}))
	require.ErrorIs(t, err, trust.ErrClosed)
	_, err = m.Bind(process.Spec{})
	require.ErrorIs(t, err, trust.ErrClosed)
}
