package install_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pelletier/go-toml/v2"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/grapnel-dev/grapnel/internal/edge/hookwire"
	"github.com/grapnel-dev/grapnel/internal/edge/install"
)

func (f fixture) kimi() *install.Settings { return f.settingsOf(hookwire.KimiCode, install.User) }

// kimiHooks reads a file as a program would that is not ours.
func kimiHooks(t require.TestingT, text string) (hooks []map[string]any) {
	var all struct {
		Hooks []map[string]any `toml:"hooks"`
	}
	require.NoError(t, toml.Unmarshal([]byte(strings.TrimPrefix(text, "\ufeff")), &all), "%s", text)
	return all.Hooks
}

// tomlPieces are parts of files that somebody could have written.
func tomlPieces() []string {
	return []string{
		"# a comment with [[hooks]] in it\n", "\n", "\n\n",
		"[[hooks]]\nevent = \"Stop\"\ncommand = \"say done\" # mine\n",
		"[[hooks]]\n  matcher = '^Bash$'\n  event = 'PreToolUse'\n  command = '''\nlint\n'''\n",
		" [[ hooks ]] # two\nevent = \"PreToolUse\"\ncommand = \"not-grapnel-hook kimi-code PreToolUse\"\n",
		"[[ \"hooks\" ]]\nevent='Stop'\ncommand=\"x\"\ntimeout=1_0\n",
	}
}

func anyTOML() *rapid.Generator[string] {
	return rapid.Custom(func(t *rapid.T) string {
		var b strings.Builder
		b.WriteString(rapid.SampledFrom([]string{"", "\ufeff", "# head\n", "\n"}).Draw(t, "head"))
		if rapid.Bool().Draw(t, "keys") {
			b.WriteString("default_model = \"k2\"\nlist = [ # [[hooks]]\n  1, 2,\n  [\"]\", ']'],\n]\nwhen = 1979-05-27 07:32:00Z\nn = nan\n\"a.b\".c = { x = 1, \"y\" = '}' }\n")
		}
		if rapid.Bool().Draw(t, "text") {
			b.WriteString("text = \"\"\"\n[[hooks]]\nevent = \"Stop\"\n\\\"\"\"\"\"\"\nraw = '''[[hooks]]\n'''\n")
		}
		if rapid.Bool().Draw(t, "table") {
			b.WriteString("[providers.\"a b\"]\nkey = 'v'\n")
		}
		for _, piece := range rapid.SliceOfN(rapid.SampledFrom(tomlPieces()), 0, 5).Draw(t, "pieces") {
			b.WriteString(piece)
		}
		if rapid.Bool().Draw(t, "last") {
			b.WriteString("[last]\nkey = 1 # c")
		}
		text := b.String()
		if rapid.Bool().Draw(t, "CRLF") {
			text = strings.ReplaceAll(text, "\n", "\r\n")
		}
		if strings.TrimSpace(strings.TrimPrefix(text, "\ufeff")) == "" {
			return "# something\n" // of a file with nothing in it nothing is left
		}
		return text
	})
}

func TestTOMLUninstallUndoesInstall(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	path := f.kimi().Path()
	f.put(path, "")
	rapid.Check(t, func(t *rapid.T) {
		before := anyTOML().Draw(t, "settings")
		require.NoError(t, os.WriteFile(path, []byte(before), 0o600))
		installed, err := f.kimi().PlanInstall()
		require.NoError(t, err, "%s", before)
		after := string(installed.Changes[0].New)
		theirs, all := kimiHooks(t, before), kimiHooks(t, after)
		require.Equal(t, len(theirs)+len(install.Events(hookwire.KimiCode)), len(all))
		require.Equal(t, theirs, append([]map[string]any(nil), all[:len(theirs)]...), "theirs come first, as they were")
		require.NoError(t, os.WriteFile(path, installed.Changes[0].New, 0o600))
		again, err := f.kimi().PlanInstall()
		require.NoError(t, err)
		require.True(t, again.Empty(), "installing is idempotent:\n%s", again.Diff())
		removed, err := f.kimi().PlanUninstall()
		require.NoError(t, err)
		require.Equal(t, before, string(removed.Changes[0].New))
	})
}

// Somebody adds to the file after an installation; nothing of theirs may go.
func TestTOMLUninstallKeepsWhatCameLater(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	path := f.kimi().Path()
	f.put(path, "")
	rapid.Check(t, func(t *rapid.T) {
		before := anyTOML().Draw(t, "settings")
		require.NoError(t, os.WriteFile(path, []byte(before), 0o600))
		installed, err := f.kimi().PlanInstall()
		require.NoError(t, err)
		later := string(installed.Changes[0].New)
		later = strings.Replace(later, "[[hooks]]\nevent = \"Notification\"", "# between\n[[hooks]]\nevent = \"Notification\"", 1)
		later += "\n# the end\n[mine]\nkey = 2\n[[hooks]]\nevent = \"Stop\"\ncommand = \"later\"\n"
		require.NoError(t, os.WriteFile(path, []byte(later), 0o600))
		removed, err := f.kimi().PlanUninstall()
		require.NoError(t, err, "%s", later)
		text := string(removed.Changes[0].New)
		require.Contains(t, text, "# the end\n[mine]\nkey = 2\n")
		hooks := kimiHooks(t, text)
		require.Equal(t, len(kimiHooks(t, before))+1, len(hooks))
		require.Equal(t, "later", hooks[len(hooks)-1]["command"])
		require.Equal(t, strings.Count(later, "# between"), strings.Count(text, "# between"))
	})
}

func TestTOMLThatCannotBeEdited(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ text, says string }{
		"not TOML":            {"{\"a\": 1}", "line 1"},
		"a string goes on":    {"a = 1\nb = \"x\ny\"", "line 2: a string does not end on its line"},
		"no value":            {"a =\n", "line 1: there is no value"},
		"a key twice":         {"a = 1\na = 2\n", "not TOML"},
		"hooks is a table":    {"[hooks]\na = 1\n", "line 1: hooks is a table of its own"},
		"a table below":       {"[[hooks]]\nevent = \"Stop\"\n[hooks.more]\na = 1\n", "line 3: hooks is a table of its own"},
		"hooks is an array":   {"hooks = [{event = \"Stop\", command = \"x\"}]\n", "line 1: hooks is a value"},
		"an open array":       {"a = [1,\n2\n", "line 1: there is no ]"},
		"an open header":      {"[a\nb = 1\n", "line 1: a header does not end with ]"},
		"text behind a value": {"a = 1 2\n", "line 1: something stands behind"},
		"not UTF-8":           {"a = \"\xff\"\n", "not UTF-8"},
		"deep":                {"a = " + strings.Repeat("[", 200) + strings.Repeat("]", 200), "nested too deep"},
		"five mebibytes":      {"a = \"" + strings.Repeat("x", 5<<20) + "\"", "bytes, at most"},
	} {
		f := newFixture(t)
		f.put(f.kimi().Path(), c.text)
		for _, plan := range []func() (*install.Plan, error){f.kimi().PlanInstall, f.kimi().PlanUninstall} {
			_, err := plan()
			require.ErrorIs(t, err, install.ErrSettings, name)
			assert.ErrorContains(t, err, c.says, name)
			assert.ErrorContains(t, err, f.kimi().Path(), name)
			assert.Less(t, len(err.Error()), 600, name)
		}
		status, err := install.Inspect(hookwire.KimiCode, f.o)
		require.NoError(t, err)
		assert.NotEmpty(t, status.Problems, name)
	}
}

func TestTOMLEntriesThatDoNotDecide(t *testing.T) {
	t.Parallel()
	for name, more := range map[string]string{
		"a matcher": "timeout = 30\nmatcher = \"Bash\"\n", "too short": "timeout = 1\n", "no time-out": "",
		"twice": "timeout = 30\n[[hooks]]\nevent = \"PreToolUse\"\ncommand = \"BINARY kimi-code PreToolUse\"\ntimeout = 30\n",
	} {
		f := newFixture(t)
		f.put(f.kimi().Path(), strings.ReplaceAll("# mine\n[[hooks]]\nevent = \"PreToolUse\"\ncommand = \"BINARY kimi-code PreToolUse\"\n"+more, "BINARY", f.binary))
		f.do(f.kimi().PlanInstall())
		text, err := os.ReadFile(f.kimi().Path())
		require.NoError(t, err)
		count := 0
		for _, h := range kimiHooks(t, string(text)) {
			if h["event"] == "PreToolUse" {
				count++
				assert.Nil(t, h["matcher"], name)
				assert.EqualValues(t, 30, h["timeout"], name)
			}
		}
		assert.Equal(t, 1, count, name)
		assert.True(t, strings.HasPrefix(string(text), "# mine\n"), name)
	}
	f := newFixture(t)
	longer := "[[hooks]]\nevent = \"PreToolUse\"\ncommand = \"" + f.binary + " kimi-code PreToolUse\"\ntimeout = 600\n"
	f.put(f.kimi().Path(), longer)
	f.do(f.kimi().PlanInstall())
	text, err := os.ReadFile(f.kimi().Path())
	require.NoError(t, err)
	assert.True(t, strings.HasPrefix(string(text), longer), "a longer time-out is somebody's choice")
}

func TestTOMLCommandsAreQuoted(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	binary := filepath.Join(filepath.Dir(f.binary), "it's a \"path\"\\", "grapnel-hook")
	require.NoError(t, os.MkdirAll(filepath.Dir(binary), 0o755))
	require.NoError(t, os.Rename(f.binary, binary))
	f.binary = binary
	f.do(f.kimi().PlanInstall())
	text, err := os.ReadFile(f.kimi().Path())
	require.NoError(t, err)
	out := filepath.Join(f.home, "out")
	require.NoError(t, os.WriteFile(binary, []byte("#!/bin/sh\nprintf '%s|' \"$0\" \"$@\" >"+out+"\n"), 0o755))
	command, ok := kimiHooks(t, string(text))[0]["command"].(string)
	require.True(t, ok)
	shell(t, command)
	got, err := os.ReadFile(out)
	require.NoError(t, err)
	assert.Equal(t, binary+"|kimi-code|"+install.Events(hookwire.KimiCode)[0]+"|", string(got))
	f.do(f.kimi().PlanUninstall())
	text, err = os.ReadFile(f.kimi().Path())
	require.NoError(t, err)
	assert.Empty(t, string(text))
}

func FuzzTOML(f *testing.F) {
	for _, s := range append(tomlPieces(), "a = [1, {b = '''\n'''}]", "[a.\"b\"]\nc = 1979-05-27 07:32:00\n", "\ufeff# c\r\n") {
		f.Add(s)
	}
	fix := newFixture(f)
	f.Fuzz(func(t *testing.T, text string) {
		if strings.Contains(text, "grapnel-hook kimi-code") {
			return // what is ours already may change its place and go
		}
		home := t.TempDir()
		o := *fix.o
		o.Getenv = func(string) string { return home }
		s, err := install.New(hookwire.KimiCode, install.User, fix.binary, &o)
		require.NoError(t, err)
		require.NoError(t, os.MkdirAll(filepath.Dir(s.Path()), 0o700))
		require.NoError(t, os.WriteFile(s.Path(), []byte(text), 0o600))
		change, err := s.PlanInstall()
		if err != nil {
			require.ErrorIs(t, err, install.ErrSettings)
			return
		}
		require.NoError(t, os.WriteFile(s.Path(), change.Changes[0].New, 0o600))
		again, err := s.PlanInstall()
		require.NoError(t, err)
		require.True(t, again.Empty())
		removed, err := s.PlanUninstall()
		require.NoError(t, err)
		if strings.TrimSpace(strings.TrimPrefix(text, "\ufeff")) != "" {
			require.Equal(t, text, string(removed.Changes[0].New))
		}
	})
}
