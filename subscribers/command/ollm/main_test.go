package ollm_test

import (
	"encoding/json"
	"fmt"
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
	"github.com/grapnel-dev/grapnel/subscribers/command/dialect"
	"github.com/grapnel-dev/grapnel/subscribers/command/dialect/dialecttest"
	"github.com/grapnel-dev/grapnel/subscribers/command/ollm"
)

// TestMain also is the supervisor of the hook commands that the tests run.
func TestMain(m *testing.M) { dialecttest.Main(m) }

// machine is a home directory and a workspace.
type machine struct {
	t         *testing.T
	home, dir string
	path      string
	runner    *process.Runner
	options   dialect.Options
}

func newMachine(t *testing.T) *machine {
	t.Helper()
	base, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	m := &machine{t: t, home: filepath.Join(base, "home"), dir: filepath.Join(base, "work"), path: "/usr/local/bin:/usr/bin:/bin"}
	for _, dir := range []string{m.userDir(), m.workspaceDir()} {
		require.NoError(t, os.MkdirAll(dir, 0o700))
	}
	m.runner = dialecttest.Runner(t)
	return m
}

func (m *machine) userDir() string      { return filepath.Join(m.home, ".ollm", "hooks") }
func (m *machine) workspaceDir() string { return filepath.Join(m.dir, ".ollm", "hooks") }

// put writes a file and returns its path.
func (m *machine) put(dir, name, text string) string {
	m.t.Helper()
	require.NoError(m.t, os.MkdirAll(dir, 0o700))
	path := filepath.Join(dir, name)
	require.NoError(m.t, os.WriteFile(path, []byte(text), 0o700))
	return path
}

// read returns what a file of the workspace holds, "" when there is none.
func (m *machine) read(name string) string {
	m.t.Helper()
	text, err := os.ReadFile(filepath.Join(m.dir, name))
	if !os.IsNotExist(err) {
		require.NoError(m.t, err)
	}
	return string(text)
}

// entry is a hook that has sh run a script of this text, with more members.
func (m *machine) entry(dir, id, script, more string) string {
	m.t.Helper()
	path := m.put(dir, id+".sh", script)
	if more != "" {
		more = "," + more
	}
	return fmt.Sprintf(`{"id":%q,"name":%q,"command":"sh","args":[%q]%s}`, id, "Hook "+id, path, more)
}

// file is a configuration file with hooks of one event.
func file(event string, entries ...string) string {
	return `{"hooks":{"` + event + `":[` + strings.Join(entries, ",") + `]}}`
}

// user configures the person's own hooks for an event.
func (m *machine) user(event string, entries ...string) {
	m.t.Helper()
	m.put(m.userDir(), "hooks.json", file(event, entries...))
}

func (m *machine) set() *dialect.Set {
	m.t.Helper()
	o := m.options
	o.Home, o.Runner = m.home, m.runner
	o.Environ = []string{"PATH=" + m.path, "HOME=" + m.home, "USER=someone"}
	s, err := dialect.NewSet(ollm.New(), &o)
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

// must decides without a failure.
func (m *machine) must(e hook.Event) hook.Decision {
	m.t.Helper()
	d, err := m.loaded().Decide(m.t.Context(), e)
	require.NoError(m.t, err)
	return d
}

func (m *machine) event(name hook.Name) hook.Event {
	return hook.Event{
		ID: "event-1", Source: "/host/gemini-cli", Name: name, Time: time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC), SessionID: "abc123",
		Data: hook.Data{CWD: m.dir, Workspace: m.dir, Native: hook.Native{Agent: "gemini-cli", Payload: json.RawMessage(`{}`)}},
	}
}

// model is a call of the model.
func (m *machine) model() hook.Event {
	e := m.event(hook.BeforeModel)
	e.Data.Model = "llama2"
	e.Data.Native.Payload = json.RawMessage(`{"llm_request":{"model":"llama2","messages":[{"role":"user","content":"Hello"}]}}`)
	return e
}

// shell is a call of the shell.
func (m *machine) shell(command string) hook.Event {
	e := m.event(hook.PreToolUse)
	input, err := json.Marshal(map[string]string{"command": command})
	require.NoError(m.t, err)
	e.Subject = "run_shell_command"
	e.Data.Tool = &hook.Tool{Name: "run_shell_command", Kind: hook.KindShell, Input: input}
	return e
}

func testdata(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", name))
	require.NoError(t, err)
	return string(text)
}

// runs reports where a program is that works with a hook's environment.
func runs(program, home string, args ...string) (dir string, ok bool) {
	path, err := exec.LookPath(program)
	if err != nil {
		return "", false
	}
	dir = filepath.Dir(path)
	cmd := exec.Command(path, args...)
	cmd.Env = []string{"PATH=" + dir + ":/usr/local/bin:/usr/bin:/bin", "HOME=" + home}
	return dir, cmd.Run() == nil
}
