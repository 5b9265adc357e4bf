package claudecode_test

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
	"github.com/grapnel-dev/grapnel/subscribers/command/claudecode"
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

// machine is a home directory and a workspace whose hooks are trusted.
type machine struct {
	t         *testing.T
	home, dir string
	options   dialect.Options
}

func newMachine(t *testing.T) *machine {
	t.Helper()
	base, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	m := &machine{t: t, home: filepath.Join(base, "home"), dir: filepath.Join(base, "work")}
	programs, err := os.ReadDir("testdata/programs")
	require.NoError(t, err)
	for _, p := range programs {
		text, err := os.ReadFile("testdata/programs/" + p.Name())
		require.NoError(t, err)
		m.write(filepath.Join(base, "bin", p.Name()), string(text))
	}
	runner := process.New(&process.Options{Supervisor: []string{"/proc/self/exe", "supervise"}})
	t.Cleanup(func() { assert.NoError(t, runner.Close()) })
	m.options = dialect.Options{
		Home: m.home, Runner: runner, TrustWorkspace: func(string) bool { return true },
		Environ: []string{"PATH=" + filepath.Join(base, "bin") + ":/usr/local/bin:/usr/bin:/bin", "HOME=" + m.home},
	}
	require.NoError(t, os.MkdirAll(filepath.Join(m.home, ".claude"), 0o700))
	require.NoError(t, os.MkdirAll(m.dir, 0o700))
	return m
}

// write writes a file that can be run; a relative path is in the workspace,
// "~/" at home.
func (m *machine) write(path, text string) string {
	m.t.Helper()
	if rest, ok := strings.CutPrefix(path, "~/"); ok {
		path = filepath.Join(m.home, rest)
	} else if !filepath.IsAbs(path) {
		path = filepath.Join(m.dir, path)
	}
	require.NoError(m.t, os.MkdirAll(filepath.Dir(path), 0o700))
	require.NoError(m.t, os.WriteFile(path, []byte(text), 0o700))
	return path
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

// settings writes the person's settings.
func (m *machine) settings(text string) { m.write("~/.claude/settings.json", text) }

// command configures one hook command of the person for an event.
func (m *machine) command(event, shell string, more ...string) {
	text, err := json.Marshal(shell)
	require.NoError(m.t, err)
	m.settings(`{"hooks":{"` + event + `":[{"hooks":[{"type":"command","command":` + string(text) + strings.Join(more, "") + `}]}]}}`)
}

func (m *machine) set() *dialect.Set {
	m.t.Helper()
	s, err := dialect.NewSet(claudecode.New(), &m.options)
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

// event is one of an agent that is not Claude Code, whose own hooks would not
// run here.
func (m *machine) event(name hook.Name) hook.Event {
	return hook.Event{
		ID: "event-1", Source: "/host/gemini-cli", Name: name, SessionID: "session-1", CorrelationID: "turn-1",
		Data: hook.Data{CWD: m.dir, Workspace: m.dir, Native: hook.Native{Agent: "gemini-cli", Event: string(name)}},
	}
}

func (m *machine) tool(name hook.Name, tool string, kind hook.Kind, input string) hook.Event {
	e := m.event(name)
	e.Data.Tool = &hook.Tool{Name: tool, Kind: kind, Input: json.RawMessage(input)}
	e.Subject = tool
	return e
}

// shell is a call of Gemini CLI's shell.
func (m *machine) shell(command string) hook.Event {
	text, err := json.Marshal(map[string]string{"command": command})
	require.NoError(m.t, err)
	return m.tool(hook.PreToolUse, "run_shell_command", hook.KindShell, string(text))
}

// claude makes it one of Claude Code's own events.
func claude(e hook.Event, native, payload string) hook.Event {
	e.Data.Native = hook.Native{Agent: "claude-code", Event: native, Payload: json.RawMessage(payload)}
	return e
}

// moved makes a file that Claude Code itself does not read, for hooks that were
// moved here.
func (m *machine) moved(text string) {
	path := m.write("~/.config/grapnel/claude-code.json", text)
	m.options.Files = append(m.options.Files, dialect.File{Path: path, Source: "user"})
}
