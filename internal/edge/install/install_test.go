package install_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"github.com/tailscale/hujson"

	"github.com/grapnel-dev/grapnel/internal/edge/hookwire"
	"github.com/grapnel-dev/grapnel/internal/edge/install"
)

var update = flag.Bool("update", false, "write the golden files anew")

// shownBinary stands for the binary's path in golden files.
const shownBinary = "/opt/grapnel/bin/grapnel-hook"

// fixture is a home directory with a hook binary in it.
type fixture struct {
	t      testing.TB
	home   string
	binary string
	o      *install.Options
}

func newFixture(t testing.TB) fixture {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	f := fixture{t: t, home: filepath.Join(dir, "home"), binary: filepath.Join(dir, "bin", "grapnel-hook")}
	require.NoError(t, os.MkdirAll(filepath.Join(f.home, ".claude"), 0o755))
	require.NoError(t, os.MkdirAll(filepath.Dir(f.binary), 0o755))
	require.NoError(t, os.WriteFile(f.binary, []byte("#!/bin/sh\n"), 0o755))
	f.o = &install.Options{
		Getenv: func(name string) string {
			if name == "HOME" {
				return f.home
			}
			return ""
		},
		Project: filepath.Join(dir, "project"),
		Managed: filepath.Join(dir, "managed"),
	}
	return f
}

func (f fixture) settings() string { return filepath.Join(f.home, ".claude", "settings.json") }

func (f fixture) write(text string) {
	require.NoError(f.t, os.WriteFile(f.settings(), []byte(text), 0o640))
}

func (f fixture) read() string {
	b, err := os.ReadFile(f.settings())
	require.NoError(f.t, err)
	return string(b)
}

func (f fixture) claude() *install.Settings {
	c, err := install.New(hookwire.ClaudeCode, install.User, f.binary, f.o)
	require.NoError(f.t, err)
	return c
}

func (f fixture) install() (backup string) {
	change, err := f.claude().PlanInstall()
	require.NoError(f.t, err)
	return f.apply(change)
}

func (f fixture) uninstall() (backup string) {
	change, err := f.claude().PlanUninstall()
	require.NoError(f.t, err)
	return f.apply(change)
}

// apply makes a change of one file, if it is one.
func (f fixture) apply(p *install.Plan) (backup string) {
	done, err := p.Apply()
	require.NoError(f.t, err)
	if p.Empty() {
		require.Empty(f.t, done)
		return ""
	}
	require.Len(f.t, done, 1)
	return done[0].Backup
}

// hook is one hook as the agent reads it.
type hook struct {
	Type, Command, OnFailure string
	Timeout                  float64
}

// hooks reads a settings file as a program would that is not ours.
func (f fixture) hooks() map[string][]hook {
	text := bytes.TrimPrefix([]byte(f.read()), []byte("\ufeff"))
	standard, err := hujson.Standardize(text)
	require.NoError(f.t, err)
	var settings struct {
		Hooks map[string][]struct{ Hooks []hook }
	}
	require.NoError(f.t, json.Unmarshal(standard, &settings), "%s", standard)
	all := map[string][]hook{}
	for event, groups := range settings.Hooks {
		for _, g := range groups {
			all[event] = append(all[event], g.Hooks...)
		}
	}
	return all
}

func TestGolden(t *testing.T) {
	t.Parallel()
	cases, err := filepath.Glob("testdata/golden/*.before.json")
	require.NoError(t, err)
	require.GreaterOrEqual(t, len(cases), 7)
	for _, path := range cases {
		name := strings.TrimSuffix(filepath.Base(path), ".before.json")
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t)
			before, err := os.ReadFile(path)
			require.NoError(t, err)
			f.write(string(before))
			f.install()
			golden(t, "testdata/golden/"+name+".installed.json", strings.ReplaceAll(f.read(), f.binary, shownBinary))

			for _, event := range install.Events(hookwire.ClaudeCode) {
				ours := 0
				for _, h := range f.hooks()[event] {
					if h.Command == f.binary+" claude-code "+event {
						ours++
						budget := float64(hookwire.Budget(hookwire.ClaudeCode, event)) / 1000
						assert.Greater(t, h.Timeout, budget, "the hook's own budget for %s must end first", event)
						gate := hookwire.ClassOf(event) == hookwire.Gate
						assert.Equal(t, gate, h.OnFailure == "block", event)
					}
				}
				assert.Equal(t, 1, ours, event)
			}
			assert.NotContains(t, f.hooks(), "WorktreeCreate")
			assert.NotContains(t, f.hooks(), "MessageDisplay")

			once := f.read()
			assert.Empty(t, f.install(), "installing again changes nothing, so there is no backup")
			assert.Equal(t, once, f.read())

			f.uninstall()
			golden(t, "testdata/golden/"+name+".uninstalled.json", f.read())
			assert.Empty(t, f.uninstall())
		})
	}
}

func golden(t *testing.T, path, got string) {
	t.Helper()
	if *update {
		require.NoError(t, os.WriteFile(path, []byte(got), 0o644))
	}
	want, err := os.ReadFile(path)
	require.NoError(t, err)
	assert.Equal(t, string(want), got, path)
}

func TestUninstallGivesTheSameBytes(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"user", "compact", "windows", "empty"} {
		f := newFixture(t)
		before, err := os.ReadFile("testdata/golden/" + name + ".before.json")
		require.NoError(t, err)
		f.write(string(before))
		f.install()
		require.NotEqual(t, string(before), f.read())
		f.uninstall()
		assert.Equal(t, string(before), f.read(), name)
	}
}

func TestNoFileYet(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	require.NoError(t, os.Remove(filepath.Dir(f.settings())))
	change, err := f.claude().PlanUninstall()
	require.NoError(t, err)
	assert.True(t, change.Empty(), "nothing to take out of nothing")
	assert.NoDirExists(t, filepath.Dir(f.settings()))

	change, err = f.claude().PlanInstall()
	require.NoError(t, err)
	assert.NoDirExists(t, filepath.Dir(f.settings()), "a plan touches nothing")
	assert.Contains(t, change.Diff(), "--- "+os.DevNull)
	assert.Empty(t, f.apply(change), "there was nothing to keep")
	assert.Len(t, f.hooks(), len(install.Events(hookwire.ClaudeCode)))
	assert.True(t, json.Valid([]byte(f.read())), "a new file is plain JSON")
	f.uninstall()
	assert.Equal(t, "{}\n", f.read())
}

func TestProjectScopeAndConfigDir(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	c, err := install.New(hookwire.ClaudeCode, install.Project, f.binary, f.o)
	require.NoError(t, err)
	assert.Equal(t, filepath.Join(f.o.Project, ".claude", "settings.json"), c.Path())

	f.o.Getenv = func(name string) string {
		return map[string]string{"HOME": f.home, "CLAUDE_CONFIG_DIR": "/elsewhere"}[name]
	}
	c, err = install.New(hookwire.ClaudeCode, install.User, f.binary, f.o)
	require.NoError(t, err)
	assert.Equal(t, filepath.FromSlash("/elsewhere/settings.json"), c.Path())

	f.o.Getenv = func(string) string { return "" }
	_, err = install.New(hookwire.ClaudeCode, install.User, f.binary, f.o)
	assert.ErrorContains(t, err, "HOME")
	_, err = install.New(hookwire.ClaudeCode, "system", f.binary, f.o)
	assert.ErrorContains(t, err, "user or project")
}

func TestPathsThatAShellWouldSplit(t *testing.T) {
	t.Parallel()
	for _, dir := range []string{"with space", "it's", `quo"te`, "dollar$HOME", "semi;colon", "back\\slash", "né"} {
		f := newFixture(t)
		binary := filepath.Join(filepath.Dir(f.binary), dir, "grapnel-hook")
		require.NoError(t, os.MkdirAll(filepath.Dir(binary), 0o755))
		require.NoError(t, os.Rename(f.binary, binary))
		f.binary = binary
		f.install()
		command := f.hooks()["PreToolUse"][0].Command
		out := filepath.Join(f.home, "out")
		require.NoError(t, os.WriteFile(binary, []byte("#!/bin/sh\nprintf '%s|' \"$0\" \"$@\" >"+out+"\n"), 0o755))
		shell(t, command)
		got, err := os.ReadFile(out)
		require.NoError(t, err)
		assert.Equal(t, binary+"|claude-code|PreToolUse|", string(got), command)
		f.uninstall()
		assert.Equal(t, "{}\n", f.read(), "%s is recognised as ours", command)
	}
}

// TestFlagsSayWhereTheBusIs: they stand on the command line, are recognised as
// ours with it, and changing them changes the entry.
func TestFlagsSayWhereTheBusIs(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.o.Flags = []string{"--socket", "/run/user/1000/grapnel/hook.sock", "--state", "/home/a b/state"}
	f.install()
	assert.Equal(t, f.binary+" --socket /run/user/1000/grapnel/hook.sock --state '/home/a b/state' claude-code PreToolUse", f.hooks()["PreToolUse"][0].Command)
	f.o.Flags = nil
	f.install()
	require.Len(t, f.hooks()["PreToolUse"], 1)
	assert.Equal(t, f.binary+" claude-code PreToolUse", f.hooks()["PreToolUse"][0].Command)
	f.uninstall()
	assert.Equal(t, "{}\n", f.read())
}

func TestBackupAndMode(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.write(`{"model": "opus"}`)
	backup := f.install()
	require.FileExists(t, backup)
	assert.Contains(t, filepath.Base(backup), "settings.json.grapnel-backup-")
	kept, err := os.ReadFile(backup)
	require.NoError(t, err)
	assert.Equal(t, `{"model": "opus"}`, string(kept))
	if runtime.GOOS != "windows" {
		for _, path := range []string{f.settings(), backup} {
			info, err := os.Stat(path)
			require.NoError(t, err)
			assert.Equal(t, os.FileMode(0o640), info.Mode().Perm(), path)
		}
	}
	second := f.uninstall()
	assert.NotEqual(t, backup, second, "two in one second do not overwrite each other")
	assert.Equal(t, `{"model": "opus"}`, f.read())
	left, err := filepath.Glob(filepath.Join(filepath.Dir(f.settings()), ".grapnel-*"))
	require.NoError(t, err)
	assert.Empty(t, left, "no temporary file stays")
}

func TestSymbolicLinkIsEditedAtItsTarget(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	target := filepath.Join(f.home, "dotfiles", "claude.json")
	require.NoError(t, os.MkdirAll(filepath.Dir(target), 0o755))
	require.NoError(t, os.WriteFile(target, []byte("{}"), 0o644))
	require.NoError(t, os.Symlink(filepath.Join("..", "dotfiles", "claude.json"), f.settings()))
	backup := f.install()
	assert.Equal(t, filepath.Dir(target), filepath.Dir(backup))
	info, err := os.Lstat(f.settings())
	require.NoError(t, err)
	assert.NotZero(t, info.Mode()&os.ModeSymlink, "the link stays a link")
	assert.NotEmpty(t, f.hooks()["PreToolUse"])

	require.NoError(t, os.Remove(target))
	_, err = f.claude().PlanInstall()
	assert.ErrorContains(t, err, "leads nowhere")
}

func TestFilesThatCannotBeEdited(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"cut off":                `{"hooks": {`,
		"not JSON":               `model = "opus"`,
		"an array":               `[]`,
		"two documents":          `{} {}`,
		"null":                   `null`,
		"hooks is an array":      `{"hooks": []}`,
		"hooks is null":          `{"hooks": null}`,
		"hooks twice":            `{"hooks": {}, "hooks": {}}`,
		"hooks twice, escaped":   `{"hooks": {}, "hook\u0073": {}}`,
		"an event twice":         `{"hooks": {"Stop": [], "Stop": []}}`,
		"an event is an object":  `{"hooks": {"Stop": {}}}`,
		"an event is a string":   `{"hooks": {"Mine": "x"}}`,
		"a group is a string":    `{"hooks": {"Stop": ["x"]}}`,
		"inner hooks is a map":   `{"hooks": {"Stop": [{"hooks": {}}]}}`,
		"inner hooks twice":      `{"hooks": {"Stop": [{"hooks": [], "hooks": []}]}}`,
		"deep":                   strings.Repeat(`[`, 200) + strings.Repeat(`]`, 200),
		"deep behind a comment":  "/* \" */" + strings.Repeat(`[`, 1_000_000),
		"five mebibytes":         `{"a": "` + strings.Repeat("x", 5<<20) + `"}`,
		"invalid after a member": "{\"model\": \"opus\"}\x00",
	} {
		f := newFixture(t)
		f.write(text)
		for _, plan := range []func() (*install.Plan, error){f.claude().PlanInstall, f.claude().PlanUninstall} {
			_, err := plan()
			require.ErrorIs(t, err, install.ErrSettings, name)
			assert.Contains(t, err.Error(), f.settings(), "the error names the file")
			assert.Less(t, len(err.Error()), 600, name)
		}
		assert.Equal(t, text, f.read(), name)
		entries, err := os.ReadDir(filepath.Dir(f.settings()))
		require.NoError(t, err)
		assert.Len(t, entries, 1, name)
		status, err := install.Inspect(hookwire.ClaudeCode, f.o)
		require.NoError(t, err)
		assert.ErrorIs(t, status.Files[0].Err, install.ErrSettings)
		assert.NotEmpty(t, status.Problems)
	}
}

func TestADirectoryInItsPlace(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	require.NoError(t, os.Mkdir(f.settings(), 0o755))
	_, err := f.claude().PlanInstall()
	assert.ErrorIs(t, err, install.ErrSettings)
}

func TestTheBinaryMustBeThere(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	for _, binary := range []string{"", "grapnel-hook", "./grapnel-hook", filepath.Dir(f.binary), f.binary + "-missing"} {
		c, err := install.New(hookwire.ClaudeCode, install.User, binary, f.o)
		require.NoError(t, err)
		_, err = c.PlanInstall()
		assert.Error(t, err, "%q", binary)
	}
	if runtime.GOOS != "windows" {
		require.NoError(t, os.Chmod(f.binary, 0o644))
		_, err := f.claude().PlanInstall()
		assert.ErrorContains(t, err, "not an executable")
	}
}

func TestSomebodyElseWritesMeanwhile(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.write("{}")
	change, err := f.claude().PlanInstall()
	require.NoError(t, err)
	f.write(`{"model": "opus"}`)
	_, err = change.Apply()
	require.ErrorIs(t, err, install.ErrChanged)
	assert.Equal(t, `{"model": "opus"}`, f.read())

	require.NoError(t, os.Remove(f.settings()))
	change, err = f.claude().PlanInstall()
	require.NoError(t, err)
	f.write(`{}`)
	_, err = change.Apply()
	require.ErrorIs(t, err, install.ErrChanged, "it was not there when the change was planned")
	assert.Equal(t, `{}`, f.read())
	require.NoError(t, os.Remove(f.settings()))
	_, err = change.Apply()
	require.NoError(t, err)
}

func TestALongerTimeoutStays(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.install()
	longer := strings.Replace(f.read(), `"timeout": 30`, `"timeout": 900`, 1)
	require.NotEqual(t, longer, f.read())
	f.write(longer)
	f.install()
	assert.Equal(t, longer, f.read())
	f.write(strings.Replace(longer, `"timeout": 900`, `"timeout": 1`, 1))
	f.install()
	assert.Equal(t, strings.Replace(longer, `"timeout": 900`, `"timeout": 30`, 1), f.read())
}

func TestCommandsThatOnlyMentionUs(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	text := `{"hooks": {"Stop": [{"hooks": [
  {"type": "command", "command": "grapnel-hook claude-code Stop || true"},
  {"type": "command", "command": "FOO=1 grapnel-hook claude-code Stop"},
  {"type": "command", "command": "grapnel-hook codex Stop"},
  {"type": "command", "command": "echo grapnel-hook claude-code"},
  {"type": "command", "command": "my-grapnel-hook claude-code Stop"},
  {"type": "http", "url": "http://127.0.0.1/grapnel-hook"}
]}]}}`
	f.write(text)
	change, err := f.claude().PlanUninstall()
	require.NoError(t, err)
	assert.True(t, change.Empty())
	assert.Len(t, change.Left, 5, "%q", change.Left)
	assert.Contains(t, change.Left[0], "Stop: grapnel-hook claude-code Stop || true")

	for _, ours := range []string{
		`"grapnel-hook claude-code Stop"`, `"/a/b/grapnel-hook claude-code Stop"`, `"'/a b/grapnel-hook' claude-code Stop"`,
		`"\"$CLAUDE_PROJECT_DIR\"/bin/grapnel-hook claude-code Stop"`, `"exec /a/grapnel-hook claude-code Stop"`, `"/a\\ b/grapnel-hook claude-code"`,
		`"C:/x/grapnel-hook.exe claude-code Stop"`, `"grapnel hook claude-code Stop"`, `"/a/grapnel hook claude-code"`,
		`"/a b/grapnel-hook", "args": ["claude-code", "Stop"]`,
	} {
		f.write(`{"hooks": {"Stop": [{"hooks": [{"type": "command", "command": ` + ours + `}]}]}}`)
		f.uninstall()
		assert.Equal(t, "{}", f.read(), ours)
	}
}

func TestMessageDisplayOnRequest(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.o.MessageDisplay = true
	f.install()
	assert.Len(t, f.hooks()["MessageDisplay"], 1)
	f.o.MessageDisplay = false
	f.install()
	assert.Empty(t, f.hooks()["MessageDisplay"])
}

func TestDiffOfAnInstallation(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.write("{\n  \"a\": 1,\n  \"hooks\": {\n    \"Stop\": []\n  },\n  \"b\": [\n    1,\n    2,\n    3,\n    4\n  ]\n}\n")
	change, err := f.claude().PlanInstall()
	require.NoError(t, err)
	diff := strings.ReplaceAll(strings.ReplaceAll(change.Diff(), f.binary, shownBinary), f.settings(), "/home/me/.claude/settings.json")
	golden(t, "testdata/install.diff", diff)
}
