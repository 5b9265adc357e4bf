package trust_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/grapnel-dev/grapnel/runner/process"
	"github.com/grapnel-dev/grapnel/runner/trust"
)

// TestShellText binds texts and holds what they print against what they print
// unbound, and that each file they name was measured or is noted.
func TestShellText(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.write("hooks/say.sh", "#!/bin/sh\necho \"say $*\"\n")
	w.write("plain.sh", "echo plain \"$@\"\n")
	w.write("lib.sh", "greet() { echo hello \"$1\"; }\n")
	w.write("it's odd.sh", "#!/bin/sh\necho odd\n")
	w.write("sub/here.sh", "#!/bin/sh\necho here\n")
	for text, c := range map[string]struct{ measured, notes string }{
		`./hooks/say.sh a "b c"`:                             {"script ./hooks/say.sh|interpreter /bin/sh", ""},
		`'./hooks/'"say.sh" x`:                               {"script ./hooks/say.sh|interpreter /bin/sh", ""},
		`./hooks/s\ay.sh x`:                                  {"script ./hooks/say.sh|interpreter /bin/sh", ""},
		`"./it's odd.sh"`:                                    {"script ./it's odd.sh|interpreter /bin/sh", ""},
		`sh plain.sh one; sh -u ./plain.sh two`:              {"program sh|script plain.sh|script ./plain.sh", ""},
		`"$PROJECT"/hooks/say.sh z`:                          {"script " + w.dir + "/hooks/say.sh|interpreter /bin/sh", ""},
		`"${PROJECT}/hooks/say.sh" z`:                        {"script " + w.dir + "/hooks/say.sh|interpreter /bin/sh", ""},
		`. ./lib.sh; greet you`:                              {"script ./lib.sh|missing greet", "greet is no command"},
		`cat() { echo own; }; cat`:                           {"", "cat is a function of the text"},
		`greet() { echo own; }; greet`:                       {"", ""},
		`x=$(./hooks/say.sh in); echo "[$x]"`:                {"script ./hooks/say.sh|interpreter /bin/sh", ""},
		`echo "a $(sh plain.sh "q r") b"`:                    {"program sh|script plain.sh", ""},
		"cat <<E\nx $(sh plain.sh h)\nE":                     {"program cat|program sh|script plain.sh", ""},
		`if true; then sh plain.sh | cat; fi`:                {"program sh|script plain.sh|program cat", ""},
		`sh -c 'sh plain.sh "$1"' zero 'it'\''s'`:            {"program sh|script plain.sh", ""},
		`exec sh plain.sh x`:                                 {"program sh|script plain.sh", ""},
		`env A=b sh plain.sh x`:                              {"program env|program sh|script plain.sh", ""},
		`command -v sh >/dev/null && command sh plain.sh x`:  {"program sh|script plain.sh", ""},
		`exec 3>&1; sh plain.sh x >&3`:                       {"program sh|script plain.sh", ""},
		`no-such-thing 2>/dev/null || echo gone`:             {"missing no-such-thing", ""},
		`[ -f plain.sh ] && test -r plain.sh && echo there`:  {"", ""},
		`cd sub && ./here.sh`:                                {"", "./here.sh is relative to a directory"},
		`c=sh; $c plain.sh`:                                  {"argument plain.sh", "the command $c is known only"},
		`eval 'echo x'`:                                      {"", "eval"},
		`f=plain.sh; . ./"$f"`:                               {"", ". reads"},
		`cat plain.sh | sh`:                                  {"program cat|program sh", "sh: it reads its script from standard input"},
		"echo `sh plain.sh`":                                 {"", "backquotes"},
		`PROJECT=/; "$PROJECT"/bin/sh plain.sh 2>&1`:         {"argument plain.sh", `"$PROJECT"/bin/sh is known only`},
		`PATH=/nowhere; echo x`:                              {"", "it sets PATH"},
		`sh plain.sh *.sh`:                                   {"program sh|script plain.sh", ""},
		`for i in 1 2; do sh plain.sh $i; done; wait`:        {"program sh|script plain.sh", ""},
		`(sh plain.sh bg & wait)`:                            {"program sh|script plain.sh", ""},
		`sort hooks/say.sh plain.sh >/dev/null; echo sorted`: {"program sort", ""},
		`timeout 20 sh plain.sh t`:                           {"program timeout|program sh|script plain.sh", ""},
		`case x in x) sh plain.sh c;; esac`:                  {"program sh|script plain.sh", ""},
		`sh <<'E'` + "\necho doc\nE":                         {"program sh", "standard input"},
	} {
		d := w.hook(trust.Definition{Shell: text, Vars: map[string]string{"PROJECT": w.dir}})
		m, err := w.gauge.Measure(d)
		require.NoError(t, err, text)
		var measured []string
		if c.measured != "" {
			measured = strings.Split(c.measured, "|")
		}
		assert.ElementsMatch(t, append(measured, "program /bin/sh"), strings.Split(roles(m), "\n"), text)
		if c.notes == "" {
			assert.Empty(t, m.Unpinned(), text)
		} else {
			assert.Contains(t, strings.Join(m.Unpinned(), "\n"), c.notes, text)
		}
		plain, err := w.run.Run(t.Context(), w.spec(d))
		require.NoError(t, err, text)
		r := w.bound(m)
		assert.Equal(t, string(plain.Stdout.Bytes), string(r.Stdout.Bytes), "%s: %s", text, r.Stderr.Bytes)
		assert.Equal(t, plain.ExitCode, r.ExitCode, "%s: %s", text, r.Stderr.Bytes)
		require.NoError(t, m.Close())
	}
}

// TestRunsByPathWhatOnlyRootCanChange looks at a machine's own files with the
// eyes of a user who is not root.
func TestRunsByPathWhatOnlyRootCanChange(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.gauge.ActAs(65534)
	w.write("a.sh", "#!/bin/sh\necho \"$1\"\n")
	m := w.measure(w.command("sh", "a.sh", "x"))
	s := w.spec(m.Definition())
	s.Command[0] = lookup(t, "sh")
	s, err := m.Bind(s)
	require.NoError(t, err)
	assert.Equal(t, lookup(t, "sh"), s.Program)
	assert.Regexp(t, `^/proc/self/fd/1\d$`, s.Command[1], "the workspace's script is pinned")
	_, bytes := w.gauge.Held()
	assert.Less(t, bytes, int64(100), "the shell is not kept")
	r, err := w.run.Run(t.Context(), s)
	require.NoError(t, err)
	assert.Equal(t, "x\n", string(r.Stdout.Bytes))

	bound, err := w.measure(w.shell("cat /dev/null; ./a.sh y")).Bind(w.spec(w.shell("cat /dev/null; ./a.sh y")))
	require.NoError(t, err)
	assert.Regexp(t, `^`+lookup(t, "cat")+` /dev/null; /bin/sh /proc/self/fd/\d+ y$`, bound.Shell)
	assert.Equal(t, "/bin/sh", bound.Program)

	m = w.measure(w.command(w.privateShell("sh"), "a.sh", "z"))
	s, err = m.Bind(w.spec(m.Definition()))
	require.NoError(t, err)
	assert.Regexp(t, `^/proc/self/fd/1\d$`, s.Program, "a shell of the workspace is pinned")
}

func lookup(t *testing.T, name string) string {
	t.Helper()
	path, err := process.Lookup(name, searchPath)
	require.NoError(t, err)
	return path
}

// TestNamesThatMatter has a program that goes by its name, as busybox does, and
// an interpreter that is a script, as pyenv has them.
func TestNamesThatMatter(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	bin := t.TempDir()
	sh := w.privateShell("shell")
	for _, name := range []string{"alpha", "beta"} {
		require.NoError(t, os.Symlink(sh, filepath.Join(bin, name)))
	}
	w.write("name.sh", "tr '\\0' ' ' < /proc/$$/cmdline; echo\n")
	require.NoError(t, os.WriteFile(filepath.Join(bin, "mylang"), []byte("#!/usr/bin/env sh\necho \"${0##*/} reads $1\"\n"), 0o755))
	w.write("by-shim", "#!/usr/bin/env mylang\n")
	require.NoError(t, os.Symlink("mylang", filepath.Join(bin, "python3.99")))
	w.write("a.py", "")

	d := w.shell("alpha name.sh; beta name.sh")
	d.SearchPath = bin + ":" + searchPath
	lines := strings.Split(w.output(d), "\n")
	assert.Regexp(t, `/fd/\d+/alpha /proc/self/fd/\d+ $`, lines[0])
	assert.Regexp(t, `/fd/\d+/beta /proc/self/fd/\d+ $`, lines[1])

	d = w.command("./by-shim")
	d.SearchPath = bin + ":" + searchPath
	assert.Regexp(t, `^mylang reads /proc/self/fd/\d+\n$`, w.output(d))
	d.Command = []string{filepath.Join(bin, "python3.99"), "a.py"}
	assert.Regexp(t, `^python3.99 reads /proc/self/fd/\d+\n$`, w.output(d))
	assert.Equal(t, "interpreter "+d.Command[0]+"\ninterpreter sh\nscript a.py", roles(w.measure(d)))
	d.Command = []string{"./by-shim"}
	assert.Contains(t, w.measure(d).Unpinned(), filepath.Join(bin, "mylang")+" is a script that starts the interpreter of its choice")
}

func TestScriptsLearnWhereTheyStand(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.write("hooks/a.sh", "#!/bin/sh\n. \"$GRAPNEL_FILE_1\"\necho \"$GRAPNEL_SCRIPT $lib\"; cat \"$GRAPNEL_FILE_2\"\n")
	w.write("hooks/lib.sh", "lib=approved\n")
	d := w.hook(trust.Definition{Command: []string{"hooks/a.sh"}, Files: []string{"hooks/lib.sh", "/etc/passwd"}})
	d.Command[0] = filepath.Join(w.dir, d.Command[0])
	m := w.measure(d)
	w.write("hooks/lib.sh", "lib=swapped\n")
	passwd, err := os.ReadFile("/etc/passwd")
	require.NoError(t, err)
	assert.Equal(t, d.Command[0]+" approved\n"+string(passwd), string(w.bound(m).Stdout.Bytes))
}

func TestBindTakesOnlyWhatWasMeasured(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.write("a.sh", "echo \"$1\"\n")
	d := w.hook(trust.Definition{Command: []string{"sh", "a.sh", "{{tool_name}}"}, Vars: map[string]string{"P": "1"}})
	m := w.measure(d)
	for name, edit := range map[string]func(*process.Spec){
		"another word":      func(s *process.Spec) { s.Command[1] = "b.sh" },
		"more words":        func(s *process.Spec) { s.Command = append(s.Command, "x") },
		"another program":   func(s *process.Spec) { s.Command[0] = "/bin/cat" },
		"another directory": func(s *process.Spec) { s.Dir = "/" },
		"text":              func(s *process.Spec) { s.Shell, s.Command = "true", nil },
		"a program":         func(s *process.Spec) { s.Program = "/bin/cat" },
		"another variable":  func(s *process.Spec) { s.Env = []string{"P=2"} },
		"no variable":       func(s *process.Spec) { s.Env = nil },
		"two variables":     func(s *process.Spec) { s.Env = append(s.Env, "P=2") },
	} {
		s := w.spec(d)
		s.Command = append([]string{}, s.Command...)
		edit(&s)
		_, err := m.Bind(s)
		require.ErrorIs(t, err, trust.ErrMismatch, name)
	}
	r := w.bound(m, func(s *process.Spec) { s.Command = []string{lookup(t, "sh"), "a.sh", "$(a value); -c"} })
	assert.Equal(t, "$(a value); -c\n", string(r.Stdout.Bytes))

	m = w.measure(w.hook(trust.Definition{Config: []byte(`{"prompt":"?"}`)}))
	_, err := m.Bind(process.Spec{Command: []string{"/bin/sh"}})
	require.ErrorIs(t, err, trust.ErrMismatch, "a hook that is no command")
}

// TestPrivateCopies has what systems without sealed memory do.
func TestPrivateCopies(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.gauge.Copy()
	w.write("a.sh", "#!/bin/sh\necho \"${0##*/} $1\"\n")
	m := w.measure(w.command("./a.sh", "x"))
	w.write("a.sh", "#!/bin/sh\necho swapped\n")
	assert.Equal(t, "a.sh x\n", string(w.bound(m).Stdout.Bytes))
	s, err := m.Bind(w.spec(m.Definition()))
	require.NoError(t, err)
	assert.Empty(t, s.Files)
	info, err := os.Stat(s.Program)
	require.NoError(t, err)
	assert.Equal(t, os.FileMode(0o500), info.Mode())
	dir := filepath.Dir(filepath.Dir(filepath.Dir(s.Program)))
	info, err = os.Stat(dir)
	require.NoError(t, err)
	assert.Equal(t, os.FileMode(0o700), info.Mode().Perm())
	require.NoError(t, m.Close())
	require.NoError(t, w.gauge.Close())
	left, err := os.ReadDir(dir)
	require.NoError(t, err)
	assert.Empty(t, left)

	_, err = trust.NewGauge(nil).Copy().Measure(w.command("./a.sh"))
	require.ErrorIs(t, err, trust.ErrSeal)
}

// TestLaunchersAreNamed has commands that cannot be pinned: they run, and whoever
// approves is told.
func TestLaunchersAreNamed(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	bin := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(bin, "npx"), []byte("#!/bin/sh\necho \"$0 $1\"\n"), 0o755))
	d := w.command("npx", "thing")
	d.SearchPath = bin + ":" + searchPath
	m := w.measure(d)
	assert.Contains(t, m.Unpinned(), "npx downloads what it runs, and that cannot be pinned")
	r := w.bound(m, func(s *process.Spec) { s.Command = []string{bin + "/npx", "thing"} })
	assert.Equal(t, bin+"/npx thing\n", string(r.Stdout.Bytes), "it finds its neighbours")

	d = w.shell("npx thing")
	d.SearchPath = bin + ":" + searchPath
	assert.Equal(t, bin+"/npx thing\n", w.output(d))

	w.write("extra.sh", "")
	w.write("split", "#!/usr/bin/env -S sh extra.sh\n")
	m = w.measure(w.command("./split"))
	assert.Contains(t, roles(m), "argument extra.sh")
	assert.Contains(t, strings.Join(m.Unpinned(), "\n"), "more than options")
}
