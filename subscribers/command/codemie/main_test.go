package codemie_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/grapnel-dev/grapnel/bus/hook"
	"github.com/grapnel-dev/grapnel/runner/process"
	"github.com/grapnel-dev/grapnel/subscribers/command/codemie"
	"github.com/grapnel-dev/grapnel/subscribers/command/dialect"
	"github.com/grapnel-dev/grapnel/subscribers/command/dialect/dialecttest"
)

// TestMain also is the supervisor of the hook commands that the tests run.
func TestMain(m *testing.M) { dialecttest.Main(m) }

// machine is a home directory, a workspace and a directory of programs.
type machine struct {
	t              *testing.T
	home, dir, bin string
	runner         *process.Runner
	options        dialect.Options
}

func newMachine(t *testing.T) *machine {
	t.Helper()
	base, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	m := &machine{t: t, home: filepath.Join(base, "home"), dir: filepath.Join(base, "work"), bin: filepath.Join(base, "bin")}
	for _, dir := range []string{m.home, m.dir, m.bin, filepath.Join(m.home, ".codemie")} {
		require.NoError(t, os.MkdirAll(dir, 0o700))
	}
	m.runner = dialecttest.Runner(t)
	return m
}

// file is a path in the workspace.
func (m *machine) file(name string) string { return filepath.Join(m.dir, name) }

// read returns what a file of the workspace holds, "" when there is none.
func (m *machine) read(name string) string {
	m.t.Helper()
	text, err := os.ReadFile(m.file(name))
	if !os.IsNotExist(err) {
		require.NoError(m.t, err)
	}
	return string(text)
}

// script puts a program into bin and returns its path.
func (m *machine) script(name, text string) string {
	m.t.Helper()
	path := filepath.Join(m.bin, name)
	require.NoError(m.t, os.WriteFile(path, []byte(text), 0o700))
	return path
}

// configure writes the whole configuration file.
func (m *machine) configure(text string) {
	m.t.Helper()
	require.NoError(m.t, os.WriteFile(filepath.Join(m.home, ".codemie", "codemie-cli.config.json"), []byte(text), 0o600))
}

// hooks configures the hooks of the active profile.
func (m *machine) hooks(text string) {
	m.t.Helper()
	m.configure(file(text))
}

// file is a configuration with these hooks.
func file(hooks string) string {
	return `{"version":2,"activeProfile":"default","profiles":{"default":{"provider":"openai","baseUrl":"http://127.0.0.1:1/v1",
		"apiKey":"sk-very-secret","model":"gpt-4","hooks":` + hooks + `},"other":{"hooks":{}}}}`
}

// commands are the hooks of one event, each a command.
func commands(event string, texts ...string) string {
	var list []string
	for _, text := range texts {
		b, _ := json.Marshal(text)
		list = append(list, `{"type":"command","command":`+string(b)+`}`)
	}
	return `{"` + event + `":[{"hooks":[` + strings.Join(list, ",") + `]}]}`
}

func (m *machine) set() *dialect.Set {
	m.t.Helper()
	o := m.options
	o.Home, o.Runner = m.home, m.runner
	o.Environ = []string{"PATH=" + m.bin + ":/usr/local/bin:/usr/bin:/bin", "HOME=" + m.home}
	s, err := dialect.NewSet(codemie.New(), &o)
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

// decide runs the hooks for an event.
func (m *machine) decide(e hook.Event) (hook.Decision, error) {
	m.t.Helper()
	return m.loaded().Decide(m.t.Context(), e)
}

// must is decide without a failure.
func (m *machine) must(e hook.Event) hook.Decision {
	m.t.Helper()
	d, err := m.decide(e)
	require.NoError(m.t, err)
	return d
}

// event is one of Claude Code's events.
func (m *machine) event(name hook.Name) hook.Event {
	return hook.Event{
		ID: "event-1", Source: "/host/claude-code", Name: name, Time: time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC),
		SessionID: "session-id",
		Data: hook.Data{
			CWD: m.dir, Workspace: m.dir, PermissionMode: "bypassPermissions",
			Native: hook.Native{Agent: "claude-code", Payload: json.RawMessage(`{"transcript_path":"/tmp/transcript.jsonl"}`)},
		},
	}
}

// bash is a call of the shell.
func (m *machine) bash(command string) hook.Event {
	e := m.event(hook.PreToolUse)
	input, err := json.Marshal(map[string]string{"command": command})
	require.NoError(m.t, err)
	e.Subject = "Bash"
	e.Data.Tool = &hook.Tool{Name: "Bash", Kind: hook.KindShell, CallID: "unique-id", Input: input}
	return e
}

// have reports whether all programs are on the PATH.
func have(programs ...string) bool {
	for _, p := range programs {
		if _, err := exec.LookPath(p); err != nil {
			return false
		}
	}
	return true
}

func testdata(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", name))
	require.NoError(t, err)
	return string(text)
}
