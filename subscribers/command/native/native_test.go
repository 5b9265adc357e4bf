package native_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/grapnel-dev/grapnel/bus/hook"
	"github.com/grapnel-dev/grapnel/runner/process"
	"github.com/grapnel-dev/grapnel/runner/trust"
	"github.com/grapnel-dev/grapnel/subscribers/command/dialect"
	"github.com/grapnel-dev/grapnel/subscribers/command/native"
)

func newSet(t *testing.T, config string) (s *dialect.Set, dir string) {
	t.Helper()
	home := t.TempDir()
	file := filepath.Join(home, ".config", "grapnel", "hooks.json")
	require.NoError(t, os.MkdirAll(filepath.Dir(file), 0o700))
	require.NoError(t, os.WriteFile(file, []byte(config), 0o600))
	runner := process.New(&process.Options{Supervisor: []string{"/proc/self/exe", "supervise"}})
	s, err := dialect.NewSet(native.New(), &dialect.Options{Home: home, Runner: runner, Environ: []string{"PATH=/usr/bin:/bin"}})
	require.NoError(t, err)
	t.Cleanup(func() {
		assert.NoError(t, s.Close())
		assert.NoError(t, runner.Close())
	})
	_, problems := s.Hooks("")
	require.Empty(t, problems)
	return s, t.TempDir()
}

func bash(dir, command string) hook.Event {
	input, _ := json.Marshal(map[string]string{"command": command})
	return hook.Event{
		ID: "e1", Source: "/h/claude-code", Name: hook.PreToolUse, Subject: "Bash", Time: time.Now(), SessionID: "s",
		Data: hook.Data{Workspace: dir, CWD: dir, Tool: &hook.Tool{Name: "Bash", Kind: hook.KindShell, Input: input}},
	}
}

func TestOurOwnHooksDecideFromFilesToo(t *testing.T) {
	t.Parallel()
	s, dir := newSet(t, `{"hooks":[
		{"name":"second","on":["pre_tool_use.bash"],"shell":"echo second >>log; cat >/dev/null; echo '{\"effect\":\"ask\",\"reason\":\"sure?\"}'"},
		{"name":"first","on":["pre_tool_use.bash"],"priority":5,"rewrites":true,"command":["/bin/sh","-c","echo first \"$2\" >>log; echo '{\"effect\":\"abstain\",\"rewrite\":{\"command\":\"pwd\"}}'","sh","--","{{tool.input.command}}"]},
		{"name":"other","on":["pre_tool_use.write"],"shell":"exit 2"}]}`)
	d, err := s.Decide(t.Context(), bash(dir, "ls; 'x'"))
	require.NoError(t, err)
	assert.Equal(t, hook.Ask, d.Effect)
	assert.Equal(t, "sure?", d.Reason)
	assert.JSONEq(t, `{"command":"pwd"}`, string(d.Rewrite))
	log, err := os.ReadFile(filepath.Join(dir, "log"))
	require.NoError(t, err)
	assert.Equal(t, "first ls; 'x'\nsecond\n", string(log))
}

func TestAFailureOfOurOwnHookIsNotGoneOnFrom(t *testing.T) {
	t.Parallel()
	for _, run := range []string{"exit 1", "echo nonsense", `echo '{"effect":"allow","effect":"deny"}'`, `echo '{"effect":"allow","rewrite":{}}'`, "kill -9 $$"} {
		text, err := json.Marshal(run)
		require.NoError(t, err)
		s, dir := newSet(t, `{"hooks":[{"name":"bad","on":["pre_tool_use"],"shell":`+string(text)+`}]}`)
		_, err = s.Decide(t.Context(), bash(dir, "ls"))
		assert.Error(t, err, run)
	}
}

func TestWhatIsWrongIsSaidAndTheRestLoads(t *testing.T) {
	t.Parallel()
	hooks, problems := native.New().Read([]byte(`{"hooks":[
		{"on":["pre_tool_use"],"shell":"true"},
		{"on":["nothing.at.all.here"],"shell":"true"},
		{"on":["pre_tool_use"],"shell":"echo {{tool.name}}"},
		{"on":["pre_tool_use"],"shell":"true","command":["x"]},
		{"on":["pre_tool_use"],"command":["{{tool.name}}"]},
		{"on":["pre_tool_use"],"shell":"true","env":{"GRAPNEL_HOPS":"0"}},
		{"shell":"true"},
		{"on":["pre_tool_use"],"shell":"true","typo":1}
	],"more":1}`), dialect.Origin{File: "f", Source: trust.User})
	assert.Len(t, hooks, 2)
	var all []string
	for _, p := range problems {
		all = append(all, p.Error())
	}
	assert.Len(t, all, 8, strings.Join(all, "\n"))
}

func TestWhatIsWrittenIsReadBack(t *testing.T) {
	t.Parallel()
	text := `{"hooks":[
		{"name":"a","on":["pre_tool_use.bash","stop"],"command":["/bin/true","{{tool.name}}"],"timeout":"5s","priority":3,"rewrites":true,"when":"true","after":["b"],"cache":"1m0s","files":["x"],"sandbox":"best-effort","on_failure":"ask","version":"1"},
		{"name":"b","on":["*.write"],"prompt":"ok?","model":"m","async":true},
		{"name":"c","on":[">"],"url":"https://example.com/","headers":{"A":"b"},"allowed_env":["X"],"dir":"sub","env":{"A":"b"},"disabled":true,"description":"d"}]}`
	from := dialect.Origin{File: "f", Source: trust.User}
	hooks, problems := native.New().Read([]byte(text), from)
	require.Empty(t, problems)
	written, lost, err := native.New().Write(hooks)
	require.NoError(t, err)
	assert.Empty(t, lost)
	assert.JSONEq(t, strings.ReplaceAll(text, `"sandbox":"best-effort"`, `"sandbox":{"mode":"best-effort"}`), string(normal(t, written)))
}

// normal takes the zero limits out of a sandbox.
func normal(t *testing.T, text []byte) []byte {
	t.Helper()
	return []byte(strings.NewReplacer(`"limits": {},`, "", `,
        "limits": {}`, "").Replace(string(text)))
}

func TestShellTextIsWrittenAsPeopleWriteIt(t *testing.T) {
	t.Parallel()
	text, _, err := native.New().Write([]dialect.Hook{{Type: dialect.TypeCommand, Events: []string{"stop"}, Shell: "a <b >>c && d"}})
	require.NoError(t, err)
	assert.Contains(t, string(text), `"a <b >>c && d"`)
}

func FuzzRead(f *testing.F) {
	f.Add([]byte(`{"hooks":[{"on":["pre_tool_use"],"shell":"true","sandbox":{"mode":"off"}}]}`))
	f.Add([]byte(`{"hooks":[{"on":[">"],"url":"https://example.com/"}]}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		hooks, _ := native.New().Read(text, dialect.Origin{File: "f", Source: trust.User})
		if len(hooks) == 0 {
			return
		}
		_, _, err := native.New().Write(hooks)
		require.NoError(t, err)
	})
}
