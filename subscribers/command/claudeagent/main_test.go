package claudeagent_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/grapnel-dev/grapnel/bus/hook"
	"github.com/grapnel-dev/grapnel/runner/process"
	"github.com/grapnel-dev/grapnel/subscribers/command/claudeagent"
	"github.com/grapnel-dev/grapnel/subscribers/command/dialect"
)

// TestMain also is the supervisor of the hook commands that the tests run.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == "supervise" {
		if err := process.Supervise(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	goleak.VerifyTestMain(m)
}

// machine is a home directory, a workspace whose hooks are trusted, and a
// directory of programs.
type machine struct {
	t              *testing.T
	home, dir, bin string
	options        dialect.Options
}

func newMachine(t *testing.T) *machine {
	t.Helper()
	base, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	m := &machine{t: t, home: filepath.Join(base, "home"), dir: filepath.Join(base, "work"), bin: filepath.Join(base, "bin")}
	for _, dir := range []string{m.home, m.dir, m.bin} {
		require.NoError(t, os.MkdirAll(dir, 0o700))
	}
	runner := process.New(&process.Options{Supervisor: []string{"/proc/self/exe", "supervise"}})
	t.Cleanup(func() { assert.NoError(t, runner.Close()) })
	m.options = dialect.Options{
		Home: m.home, Runner: runner, TrustWorkspace: func(string) bool { return true },
		Environ: []string{"PATH=" + m.bin + ":/usr/local/bin:/usr/bin:/bin", "HOME=" + m.home},
	}
	return m
}

// write writes a file that can be run; a relative path is in the workspace,
// "~/" at home, "bin/" a program.
func (m *machine) write(path, text string) {
	m.t.Helper()
	switch {
	case strings.HasPrefix(path, "~/"):
		path = filepath.Join(m.home, path[2:])
	case strings.HasPrefix(path, "bin/"):
		path = filepath.Join(m.bin, path[4:])
	default:
		path = filepath.Join(m.dir, path)
	}
	require.NoError(m.t, os.MkdirAll(filepath.Dir(path), 0o700))
	require.NoError(m.t, os.WriteFile(path, []byte(text), 0o700))
}

// read returns what a file of the workspace holds, "" when there is none.
func (m *machine) read(name string) string {
	text, err := os.ReadFile(filepath.Join(m.dir, name))
	if err != nil {
		assert.ErrorIs(m.t, err, os.ErrNotExist)
	}
	return string(text)
}

func example(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile("testdata/examples/" + name)
	require.NoError(t, err)
	return string(text)
}

func (m *machine) settings(text string) { m.write("~/.claude/settings.json", text) }

func (m *machine) set() *dialect.Set {
	m.t.Helper()
	s, err := dialect.NewSet(claudeagent.New(), &m.options)
	require.NoError(m.t, err)
	m.t.Cleanup(func() { assert.NoError(m.t, s.Close()) })
	return s
}

// loaded is set, with the configuration as it is free of problems.
func (m *machine) loaded() *dialect.Set {
	m.t.Helper()
	s := m.set()
	hooks, problems := s.Hooks(m.dir)
	require.Empty(m.t, problems)
	require.NotEmpty(m.t, hooks)
	return s
}

func (m *machine) decide(e hook.Event) hook.Decision {
	m.t.Helper()
	d, err := m.loaded().Decide(m.t.Context(), e)
	require.NoError(m.t, err)
	return d
}

func (m *machine) event(name hook.Name) hook.Event {
	return hook.Event{
		ID: "event-1", Source: "/host/claude-code", Name: name, SessionID: "abc-123",
		Data: hook.Data{CWD: m.dir, Workspace: m.dir, Native: hook.Native{Agent: "claude-code", Event: string(name)}},
	}
}

func (m *machine) tool(name hook.Name, tool string, kind hook.Kind, input string) hook.Event {
	e := m.event(name)
	e.Data.Tool = &hook.Tool{Name: tool, Kind: kind, Input: json.RawMessage(input)}
	return e
}

func (m *machine) shell(command string) hook.Event {
	text, err := json.Marshal(map[string]string{"command": command})
	require.NoError(m.t, err)
	return m.tool(hook.PreToolUse, "Bash", hook.KindShell, string(text))
}
