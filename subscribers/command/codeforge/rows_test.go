package codeforge_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/grapnel-dev/grapnel/bus/hook"
	"github.com/grapnel-dev/grapnel/subscribers/command"
	"github.com/grapnel-dev/grapnel/subscribers/command/codeforge"
	"github.com/grapnel-dev/grapnel/subscribers/command/dialect"
	"github.com/grapnel-dev/grapnel/subscribers/command/dialect/dialecttest"
)

func world(t testing.TB) *dialecttest.World { return dialecttest.NewWorld(t, codeforge.New()) }

// hooks is a file of events and commands, by turns.
func hooks(pairs ...string) string {
	var list []map[string]string
	for i := 0; i < len(pairs); i += 2 {
		list = append(list, map[string]string{"event": pairs[i], "command": pairs[i+1]})
	}
	b, _ := json.Marshal(map[string]any{"hooks": list})
	return string(b)
}

func shell(w *dialecttest.World, command string) hook.Event {
	return w.Event(hook.PreToolUse, "Bash", hook.KindShell, map[string]string{"command": command})
}

func decide(t *testing.T, s *dialect.Set, e hook.Event) hook.Decision {
	t.Helper()
	d, err := s.Decide(t.Context(), e)
	require.NoError(t, err)
	return d
}

func TestE1SixteenEvents(t *testing.T) {
	t.Parallel()
	assert.Len(t, codeforge.New().Vocabulary.Names(), 16)
	w := world(t)
	w.User(codeforge.UserFile, hooks("*", `echo "$FORGE_EVENT" >>"$OUT/log"`))
	s := w.Set(nil)
	var want []string
	for _, n := range []hook.Name{
		hook.PreToolUse, hook.PostToolUse, hook.PostToolUseFailure, hook.BeforeModel, hook.AfterModel, hook.ModelStreamStart, hook.ModelStreamEnd,
		hook.SessionStart, hook.SessionEnd, hook.SessionMessage, hook.PermissionCheck, hook.PermissionRequest, hook.PermissionGranted, hook.PermissionDenied,
		hook.UserPromptSubmit, hook.Interrupt,
	} {
		name, ok := s.Dialect().Vocabulary.Event(n)
		require.True(t, ok)
		want = append(want, name.Name)
		if n.Blocking() {
			decide(t, s, w.Event(n, "Bash", hook.KindShell, map[string]string{}))
			continue
		}
		require.NoError(t, s.Handle(t.Context(), w.Event(n, "Bash", hook.KindShell, map[string]string{})))
	}
	assert.Equal(t, s.Dialect().Vocabulary.Names(), want)
	assert.Equal(t, strings.Join(want, "\n")+"\n", w.Output("log"))
}

func TestE2Patterns(t *testing.T) {
	t.Parallel()
	w := world(t)
	for pattern, want := range map[string]string{
		"tool:pre_execute": "pre-bash pre-write", "tool:*": "pre-bash pre-write post-write error-bash", "tool:pre_execute:bash": "pre-bash", "tool:*:write": "pre-write post-write",
		"tool:*:bash": "pre-bash error-bash", "session:start,session:end": "start end", "session:start , tool:pre_execute:write": "pre-write start", "*": "pre-bash pre-write post-write error-bash start end",
		"tool:pre_execute:*": "pre-bash pre-write", "tool:p*": "pre-bash pre-write post-write", "session:*": "start end", "tool:*_execute:b?sh": "pre-bash", "tool:pre_execute:Bash": "pre-bash", "*:start": "start",
		"tool:pre_execute:bash,tool:pre_execute": "pre-bash pre-write",
	} {
		w.User(codeforge.UserFile, hooks(pattern, "true"))
		s := w.Set(nil)
		_, problems := s.Hooks("")
		require.Empty(t, problems, pattern)
		var got []string
		for _, x := range []struct {
			name string
			e    hook.Event
		}{
			{"pre-bash", shell(w, "ls")}, {"pre-write", w.Event(hook.PreToolUse, "write_file", hook.KindFileWrite, nil)}, {"post-write", w.Event(hook.PostToolUse, "Write", hook.KindFileWrite, nil)},
			{"error-bash", w.Event(hook.PostToolUseFailure, "run_shell_command", hook.KindShell, nil)}, {"start", w.Plain(hook.SessionStart)}, {"end", w.Plain(hook.SessionEnd)},
		} {
			plan, ok := s.Plan(x.e)
			require.True(t, ok)
			assert.LessOrEqual(t, len(plan.Steps), 1, "once, however many of its patterns match")
			if len(plan.Steps) > 0 {
				got = append(got, x.name)
			}
		}
		assert.Equal(t, want, strings.Join(got, " "), pattern)
	}
	for _, bad := range []string{"", ",", "tool", "tool:", ":x", "tool:unknown", "tool:pre_execute:", "session:start:bash", "tool:*,", "Tool:*", "llm:*:x", strings.Repeat("*", 5000)} {
		read, problems := codeforge.Read([]byte(hooks(bad, "true", "session:end", "true")), dialect.Origin{})
		assert.Len(t, read, 1, "%.20q", bad)
		assert.Len(t, problems, 1, "%.20q", bad)
	}
}

func TestE3FilesAndFieldsOfAHook(t *testing.T) {
	t.Parallel()
	w := world(t)
	w.User(codeforge.UserFile, `{"hooks":[
		{"event":"tool:pre_execute","command":"pwd >>\"$OUT/log\"; echo \"$X\" >>\"$OUT/log\"","timeout":2.5,"working_dir":"/","env":{"X":"a  b"},"description":"d"},
		{"event":"tool:pre_execute","command":"echo off >>\"$OUT/log\"","enabled":false}]}`)
	w.Project(codeforge.ProjectFile, hooks("tool:pre_execute", `pwd >>"$OUT/log"`))
	s := w.Set(w.Trusting())
	list, problems := s.Hooks(w.Workspace)
	require.Empty(t, problems)
	require.Len(t, list, 3)
	assert.Equal(t, 2500*time.Millisecond, list[0].Timeout)
	assert.Equal(t, "d", list[0].Description)
	assert.Equal(t, 10*time.Second, s.Dialect().Timeout)
	require.NoError(t, s.Register(dialect.Hook{Name: "session", Events: []string{codeforge.ToolPreExecute}, Shell: `echo session >>"$OUT/log"`}))
	decide(t, s, shell(w, "ls"))
	assert.Equal(t, "/\na  b\n"+w.Workspace+"\nsession\n", w.Output("log"), "the person's, the project's, the session's")
}

func TestE3SavingBothFiles(t *testing.T) {
	t.Parallel()
	w := world(t)
	list, problems := codeforge.Read([]byte(hooks("tool:*:write,session:end", "echo '<&>'", "*", "exit 1")), dialect.Origin{File: "x"})
	require.Empty(t, problems)
	for _, save := range []func() ([]string, error){
		func() ([]string, error) { return codeforge.SaveUser(w.Home, list) },
		func() ([]string, error) { return codeforge.SaveProject(w.Workspace, list) },
	} {
		for range 2 {
			lost, err := save()
			require.NoError(t, err)
			assert.Empty(t, lost)
		}
	}
	back, problems := w.Set(w.Trusting()).Hooks(w.Workspace)
	require.Empty(t, problems)
	require.Len(t, back, 4)
	assert.Equal(t, list[0].Shell, back[2].Shell)
	assert.Equal(t, list[0].Matcher, back[2].Matcher)
	for _, dir := range []string{filepath.Join(w.Home, ".config/src/forge"), filepath.Join(w.Workspace, ".src/forge")} {
		entries, err := os.ReadDir(dir)
		require.NoError(t, err)
		require.Len(t, entries, 1, "nothing is left beside it")
		info, err := entries[0].Info()
		require.NoError(t, err)
		assert.Equal(t, os.FileMode(0o600), info.Mode().Perm())
	}
}

func TestE3AWorkspaceCannotHaveItsFileWrittenElsewhere(t *testing.T) {
	t.Parallel()
	w := world(t)
	require.NoError(t, os.Symlink(w.Home, filepath.Join(w.Workspace, ".src")))
	_, err := codeforge.SaveProject(w.Workspace, nil)
	require.ErrorIs(t, err, codeforge.ErrSave)
	entries, err := os.ReadDir(w.Home)
	require.NoError(t, err)
	assert.Empty(t, entries)
	_, err = codeforge.SaveUser(filepath.Join(w.Home, "none"), nil)
	require.ErrorIs(t, err, codeforge.ErrSave)
	_, err = codeforge.SaveUser(w.Home, make([]dialect.Hook, dialect.MaxHooks+1))
	require.ErrorIs(t, err, codeforge.ErrSave)
}

func TestE4EnvironmentAndStandardInput(t *testing.T) {
	t.Parallel()
	w := world(t)
	w.User(codeforge.UserFile, hooks("*", `env | grep -E '^(FORGE_|EVENT_|TOOL_)' | sort >"$OUT/env"; cat >"$OUT/stdin"; pwd >"$OUT/pwd"`))
	s := w.Set(nil)
	e := w.Event(hook.PostToolUse, "run_shell_command", hook.KindShell, map[string]string{"command": "ls"})
	e.Data.Workspace, e.Data.CWD = w.Home, w.Home
	e.Data.Result = json.RawMessage(`{"success":true}`)
	require.NoError(t, s.Handle(t.Context(), e))
	assert.Equal(t, "EVENT_TYPE=tool:post_execute\nFORGE_EVENT=tool:post_execute\nFORGE_SESSION_ID=session-1\nFORGE_TOOL_ARGS={\"command\":\"ls\"}\nFORGE_TOOL_NAME=bash\nFORGE_TOOL_RESULT={\"success\":true}\nFORGE_WORKING_DIR="+
		w.Home+"\nTOOL_ARGS={\"command\":\"ls\"}\nTOOL_NAME=bash\n", w.Output("env"))
	assert.JSONEq(t, `{"type":"tool:post_execute","timestamp":1795176000,"tool_name":"bash","session_id":"session-1","data":{"working_dir":"`+w.Home+`","tool_args":{"command":"ls"},"tool_result":{"success":true}}}`, w.Output("stdin"))
	assert.Equal(t, w.Home+"\n", w.Output("pwd"), "the project's root")

	e = w.Plain(hook.AfterModel)
	e.Data.Workspace, e.Data.Model, e.SessionID = w.Home, "anthropic/claude-3", ""
	e.Time = e.Time.Add(1500 * time.Millisecond)
	e.Data.Native.Payload = json.RawMessage(`{"usage":{"total_tokens":1500}}`)
	require.NoError(t, s.Handle(t.Context(), e))
	assert.Equal(t, "EVENT_TYPE=llm:post_response\nFORGE_EVENT=llm:post_response\nFORGE_LLM_MODEL=anthropic/claude-3\nFORGE_LLM_TOKENS=1500\nFORGE_WORKING_DIR="+w.Home+"\n", w.Output("env"))
	assert.JSONEq(t, `{"type":"llm:post_response","timestamp":1795176001.5,"tool_name":null,"session_id":null,"data":{"working_dir":"`+w.Home+`","model":"anthropic/claude-3","tokens":1500}}`, w.Output("stdin"))

	e = w.Event(hook.PermissionCheck, "Bash", hook.KindShell, map[string]string{})
	e.Data.PermissionMode, e.Data.Native.Payload = "ask", json.RawMessage(`{"rule":"Bash(rm *)"}`)
	decide(t, s, e)
	assert.Contains(t, w.Output("env"), "FORGE_PERM_LEVEL=ask\nFORGE_PERM_RULE=Bash(rm *)\n")

	e = w.Event(hook.PostToolUseFailure, "Bash", hook.KindShell, map[string]string{})
	e.Data.Error = "boom"
	require.NoError(t, s.Handle(t.Context(), e))
	assert.Contains(t, w.Output("env"), `FORGE_TOOL_RESULT={"error":"boom","success":false}`)
}

func TestE5TheFirstBlockEndsTheChain(t *testing.T) {
	t.Parallel()
	w := world(t)
	w.User(codeforge.UserFile, hooks(
		"tool:pre_execute", `echo one >>"$OUT/log"; echo '{"tool_args":{}}'`,
		"tool:pre_execute", `echo two >>"$OUT/log"; printf %s "$FORGE_TOOL_ARGS" >"$OUT/args"; echo no; echo because >&2; exit 3`,
		"tool:pre_execute", `echo three >>"$OUT/log"`))
	d := decide(t, w.Set(nil), shell(w, "ls"))
	assert.Equal(t, hook.Decision{Effect: hook.Deny, Reason: "no\nbecause"}, d)
	assert.Equal(t, "one\ntwo\n", w.Output("log"))
	assert.JSONEq(t, `{"command":"ls"}`, w.Output("args"), "every hook sees the original event")
}

func TestE5StopOnFailureCanBeTurnedOff(t *testing.T) {
	t.Parallel()
	for _, file := range []string{
		`{"stop_on_failure":false,"hooks":[{"event":"tool:*","command":"exit 1"},{"event":"tool:*","command":"echo two >\"$OUT/log\""}]}`,
		`{"hooks":[{"event":"tool:*","command":"exit 1","stop_on_failure":false},{"event":"tool:*","command":"echo two >\"$OUT/log\""}]}`,
	} {
		w := world(t)
		w.User(codeforge.UserFile, file)
		d := decide(t, w.Set(nil), shell(w, "ls"))
		assert.Equal(t, hook.Deny, d.Effect)
		assert.Contains(t, d.Reason, "exit code 1")
		assert.Equal(t, "two\n", w.Output("log"))
	}
}

func TestE5OnlyPreHooksBlock(t *testing.T) {
	t.Parallel()
	w := world(t)
	w.User(codeforge.UserFile, hooks("*", "exit 1"))
	s := w.Set(nil)
	for _, n := range []hook.Name{hook.PreToolUse, hook.BeforeModel, hook.PermissionCheck, hook.UserPromptSubmit} {
		assert.Equal(t, hook.Deny, decide(t, s, w.Plain(n)).Effect, n)
	}
	for _, n := range []hook.Name{hook.SessionStart, hook.PermissionRequest} {
		assert.Equal(t, hook.Abstain, decide(t, s, w.Plain(n)).Effect, n)
	}
	sum := s.Run(t.Context(), w.Plain(hook.SessionEnd))
	require.Len(t, sum.Results, 1)
	assert.ErrorIs(t, sum.Results[0].Err, dialect.ErrFailed)
}

func TestE6FailuresAreLoggedAndGoneOnFrom(t *testing.T) {
	t.Parallel()
	w := world(t)
	for _, x := range []struct{ hook, want string }{
		{`{"event":"tool:*","command":"while :; do sleep 1; done","timeout":0.5}`, "timed out"},
		{`{"event":"tool:*","command":"no-such-command --x"}`, "127"},
		{`{"event":"tool:*","command":"true","working_dir":"/nowhere"}`, "working directory"},
	} {
		w.User(codeforge.UserFile, `{"hooks":[`+x.hook+`,{"event":"tool:*","command":"echo next >>\"$OUT/log\""}]}`)
		d := decide(t, w.Set(nil), shell(w, "ls"))
		assert.Equal(t, hook.Abstain, d.Effect, x.hook)
		assert.Contains(t, d.Reason, x.want, x.hook)
	}
	assert.Equal(t, "next\nnext\nnext\n", w.Output("log"))
	w.User(codeforge.UserFile, `{"hooks":[{"event":"tool:nothing","command":"a"},{"command":"b"},{"event":"tool:*"},{"event":"tool:*","command":"x","timeout":"soon"},7,{"event":"tool:*","command":"exit 1","colour":"red"}]}`)
	s := w.Set(nil)
	list, problems := s.Hooks("")
	assert.Len(t, list, 1)
	assert.Len(t, problems, 6)
	assert.Equal(t, hook.Deny, decide(t, s, shell(w, "ls")).Effect)
}

func TestE7AHookDoesNotTriggerItself(t *testing.T) {
	t.Parallel()
	w := world(t)
	w.User(codeforge.UserFile, hooks("tool:*", `printf %s "$GRAPNEL_ANCESTRY" >"$OUT/ancestry"`))
	s := w.Set(nil)
	decide(t, s, shell(w, "ls"))
	e := shell(w, "ls")
	e.Extensions = map[string]string{hook.AncestryExtension: w.Output("ancestry")}
	e.Hops = 1
	_, err := s.Decide(t.Context(), e)
	assert.ErrorIs(t, err, command.ErrCircular)
}

func TestE9EveryExecutionIsTracedWithoutTheEvent(t *testing.T) {
	t.Parallel()
	w := world(t)
	w.User(codeforge.UserFile, hooks("tool:*", "true", "tool:*", "exit 1"))
	var mu sync.Mutex
	var got []command.Execution
	s := w.Set(&dialect.Options{Trace: func(x command.Execution) {
		mu.Lock()
		defer mu.Unlock()
		got = append(got, x)
	}})
	decide(t, s, shell(w, "export KEY=sk-secret-value"))
	require.Len(t, got, 2)
	for _, x := range got {
		text, err := json.Marshal(x)
		require.NoError(t, err)
		assert.NotContains(t, string(text), "sk-secret-value")
		assert.Equal(t, "code-forge", x.Dialect)
		assert.Positive(t, x.DurationMS)
	}
	assert.Equal(t, 1, got[1].ExitCode)
}
