package cliagent_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/grapnel-dev/grapnel/bus/hook"
	"github.com/grapnel-dev/grapnel/runner/process"
	"github.com/grapnel-dev/grapnel/runner/trust"
	"github.com/grapnel-dev/grapnel/subscribers/command"
	"github.com/grapnel-dev/grapnel/subscribers/command/cliagent"
	"github.com/grapnel-dev/grapnel/subscribers/command/dialect"
	"github.com/grapnel-dev/grapnel/subscribers/command/dialect/dialecttest"
)

// The document's four files.
const (
	local  = ".config/agent/settings.local.json"
	shared = ".config/agent/settings.json"
	user   = ".config/agent/settings.json"
	own    = ".config/cli-agent/settings.json"
)

func world(t *testing.T) *dialecttest.World { return dialecttest.NewWorld(t, cliagent.New(nil)) }

// one is a file with one hook.
func one(event, matcher, command string, more ...string) string {
	text, _ := json.Marshal(command)
	return `{"hooks":{"` + event + `":[{"matcher":"` + matcher + `","hooks":[{"type":"command","command":` + string(text) + strings.Join(more, "") + `}]}]}}`
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

func TestA1TheFourEventsRunHooks(t *testing.T) {
	t.Parallel()
	w := world(t)
	w.User(user, `{"hooks":{
		"PreToolUse":[{"matcher":"*","hooks":[{"type":"command","command":"echo pre {{tool_name}} >>\"$OUT/log\""}]}],
		"PostToolUse":[{"matcher":"*","hooks":[{"type":"command","command":"echo post {{tool_name}} '[{{result}}]' '[{{error}}]' >>\"$OUT/log\""}]}],
		"Notification":[{"matcher":"*","hooks":[{"type":"command","command":"echo note {{message}} >>\"$OUT/log\""}]}],
		"Stop":[{"matcher":"*","hooks":[{"type":"command","command":"echo stop >>\"$OUT/log\""}]}]}}`)
	s := w.Set(nil)
	decide(t, s, shell(w, "ls"))
	e := w.Event(hook.PostToolUse, "run_shell_command", hook.KindShell, map[string]string{"command": "ls"})
	e.Data.Result = json.RawMessage(`{"out":"a"}`)
	require.NoError(t, s.Handle(t.Context(), e))
	e.Name, e.Data.Error, e.Data.Result = hook.PostToolUseFailure, "no such file", nil
	require.NoError(t, s.Handle(t.Context(), e))
	n := w.Plain(hook.Notification)
	n.Data.Message = "hello"
	require.NoError(t, s.Handle(t.Context(), n))
	decide(t, s, w.Plain(hook.Stop))
	assert.Equal(t, "pre bash_execute\npost bash_execute [{\"out\":\"a\"}] []\npost bash_execute [] [no such file]\nnote hello\nstop\n", w.Output("log"))
}

func TestA2TimeoutDirectoryAndEnvironmentOfAHook(t *testing.T) {
	t.Parallel()
	w := world(t)
	require.NoError(t, os.MkdirAll(filepath.Join(w.Workspace, "sub"), 0o700))
	w.User(user, one("PreToolUse", "*", `pwd >"$OUT/pwd"; printf %s "$GREETING" >"$OUT/env"; cat >"$OUT/stdin"`, `,"timeout":5,"working_directory":"sub","env":{"GREETING":"$(x) y"}`))
	s := w.Set(nil)
	hooks, problems := s.Hooks("")
	require.Empty(t, problems)
	require.Len(t, hooks, 1)
	assert.Equal(t, 5*time.Second, hooks[0].Timeout)
	assert.Equal(t, 30*time.Second, s.Dialect().Timeout)
	decide(t, s, shell(w, "ls"))
	assert.Equal(t, filepath.Join(w.Workspace, "sub")+"\n", w.Output("pwd"))
	assert.Equal(t, "$(x) y", w.Output("env"))
	assert.JSONEq(t, `{"hook_type":"PreToolUse","tool_name":"bash_execute","tool_args":{"command":"ls"},"timestamp":"2026-11-20T12:00:00.000000Z","session_id":"session-1"}`, w.Output("stdin"))

	w.User(user, one("PreToolUse", "*", `while :; do sleep 1; done`, `,"timeout":1`))
	sum := s.Run(t.Context(), shell(w, "ls"))
	require.Len(t, sum.Results, 1)
	assert.ErrorIs(t, sum.Results[0].Err, process.ErrTimedOut)
	assert.Equal(t, hook.Abstain, sum.Decision.Effect, "non-blocking: warn and continue")
	assert.Contains(t, sum.Decision.Reason, "timed out")
}

func TestA2WhatIsWrongInAFileIsSaidAndTheRestLoads(t *testing.T) {
	t.Parallel()
	hooks, problems := cliagent.Read([]byte(`{"theme":"dark","hooks":{
		"PreToolUse":[
			{"matcher":"(","hooks":[{"type":"command","command":"a"}]},
			{"matcher":"x","hooks":[{"type":"command"},{"type":"command","command":"b"},{"type":"robot","command":"c"},{"type":"command","command":"d","timeout":-1},{"type":"command","command":"eval {{message}}"}]},
			{"matcher":7,"hooks":[{"type":"command","command":"e"}]},
			{"matcher":"y"}],
		"Started":[]}}`), dialect.Origin{File: "f"})
	require.Len(t, hooks, 1)
	assert.Equal(t, "b", hooks[0].Shell)
	var places []string
	for _, p := range problems {
		places = append(places, p.Where)
	}
	slices.Sort(places)
	assert.Equal(t, []string{
		"hooks.PreToolUse[0].matcher", "hooks.PreToolUse[1].hooks[0].command", "hooks.PreToolUse[1].hooks[2].type", "hooks.PreToolUse[1].hooks[3].timeout",
		"hooks.PreToolUse[1].hooks[4].command", "hooks.PreToolUse[2].matcher", "hooks.PreToolUse[3].hooks", "hooks.Started",
	}, places)
}

func TestA3FourFilesAreMergedInTheirOrder(t *testing.T) {
	t.Parallel()
	w := world(t)
	w.Project(local, one("PreToolUse", "*", `echo local >>"$OUT/log"`))
	w.Project(shared, one("PreToolUse", "*", `echo project >>"$OUT/log"`))
	w.User(user, one("PreToolUse", "*", `echo user >>"$OUT/log"`))
	w.User(own, one("PreToolUse", "*", `echo own >>"$OUT/log"`))
	decide(t, w.Set(w.Trusting()), shell(w, "ls"))
	assert.Equal(t, "local\nproject\nuser\nown\n", w.Output("log"))
	decide(t, w.Set(nil), shell(w, "ls"))
	assert.Equal(t, "local\nproject\nuser\nown\nuser\nown\n", w.Output("log"), "an untrusted workspace's hooks do not run")
}

func TestA4Matchers(t *testing.T) {
	t.Parallel()
	w := world(t)
	mcp := w.Event(hook.PreToolUse, "mcp__github__create_issue", hook.KindMCP, map[string]string{})
	write := w.Event(hook.PreToolUse, "Write", hook.KindFileWrite, map[string]string{})
	edit := w.Event(hook.PreToolUse, "replace", hook.KindFileEdit, map[string]string{})
	bash := shell(w, "ls")
	odd := w.Event(hook.PreToolUse, "invented", hook.KindOther, map[string]string{})
	for matcher, want := range map[string]string{
		"*": "bash write edit mcp odd", "": "bash write edit mcp odd", "bash_execute": "bash", "Bash": "bash", "builtin:*": "bash write edit odd", "mcp__*": "mcp",
		"write_file|replace_in_file": "write edit", "write_file | bash_execute": "bash write", "builtin:bash_execute": "bash", "mcp__github__*|bash_execute": "bash mcp",
		"bash": "", "bash_": "", "write_.*": "write", "(write|read)_file": "write", "mcp__.*__create_.*": "mcp", "inv*": "odd",
	} {
		w.User(user, one("PreToolUse", matcher, "true"))
		s := w.Set(nil)
		var got []string
		for _, x := range []struct {
			name string
			e    hook.Event
		}{{"bash", bash}, {"write", write}, {"edit", edit}, {"mcp", mcp}, {"odd", odd}} {
			plan, ok := s.Plan(x.e)
			require.True(t, ok)
			if len(plan.Steps) > 0 {
				got = append(got, x.name)
			}
		}
		assert.Equal(t, want, strings.Join(got, " "), matcher)
	}
}

func TestA5TemplatesGiveTheEventsValues(t *testing.T) {
	t.Parallel()
	w := world(t)
	w.User(user, one("PreToolUse", "*", `printf '%s\n' {{tool_name}} "{{tool_args}}" '{{tool_args.command}}' {{tool_args.deep.list[1]}} {{tool_args.deep}} {{tool_args.none}} {{tool_args.n}} {{timestamp}} {{session_id}} {{user_input}} {{result}}{{error}}{{message}} >"$OUT/log"`))
	s := w.Set(nil)
	e := w.Event(hook.PreToolUse, "run_shell_command", hook.KindShell, json.RawMessage(`{"command":"ls -l","deep":{"list":["a","b c"]},"n":1.50}`))
	e.Data.Prompt = "do it"
	decide(t, s, e)
	assert.Equal(t, strings.Join([]string{
		"bash_execute", `{"command":"ls -l","deep":{"list":["a","b c"]},"n":1.50}`, "ls -l", "b c", `{"list":["a","b c"]}`, "", "1.50", "2026-11-20T12:00:00.000000Z", "session-1", "do it", "", "",
	}, "\n"), w.Output("log"))
	e.SessionID = ""
	decide(t, s, e)
	assert.Contains(t, w.Output("log"), "\nunknown\n")
}

func TestA5UserInputIsTheSessionsLastPrompt(t *testing.T) {
	t.Parallel()
	w := world(t)
	w.User(user, one("PreToolUse", "*", `printf '[%s]' {{user_input}} >>"$OUT/log"`))
	s := w.Set(nil)
	assert.Contains(t, s.Entry().Filter, "user_prompt_submit.*", "prompts are heard of, though the document has no event for them")
	say := func(session, text string, sub *hook.Subagent) {
		p := w.Plain(hook.UserPromptSubmit)
		p.SessionID, p.Data.Prompt, p.Data.Subagent = session, text, sub
		assert.Equal(t, hook.Decision{}, decide(t, s, p))
	}
	decide(t, s, shell(w, "ls"))
	say("session-1", "first", nil)
	decide(t, s, shell(w, "ls"))
	say("session-1", "second; $(touch x)", nil)
	say("session-2", "of another session", nil)
	say("session-1", "of the agent to its sub-agent", &hook.Subagent{ID: "a"})
	say("", "of no session", nil)
	decide(t, s, shell(w, "ls"))
	e := shell(w, "ls")
	e.SessionID = ""
	decide(t, s, e)
	for i := range 256 {
		say(fmt.Sprintf("later-%d", i), "x", nil)
	}
	decide(t, s, shell(w, "ls"))
	assert.Equal(t, "[][first][second; $(touch x)][][]", w.Output("log"))
}

func TestA5WhatPeopleSeeIsTheirOwnText(t *testing.T) {
	t.Parallel()
	w := world(t)
	w.User(user, `{"hooks":{"Stop":[{"matcher":"*","hooks":[{"type":"command","command":"echo '{{session_id}}'"},{"type":"command","command":"echo x"}]}]}}`)
	hooks, _ := w.Set(nil).Hooks("")
	require.Len(t, hooks, 2)
	assert.Equal(t, "echo '{{session_id}}'", hooks[0].Text())
	assert.Equal(t, "echo x", hooks[1].Text())
}

func TestA5AValueThatCouldBeAnOptionDoesNotReachTheCommand(t *testing.T) {
	t.Parallel()
	w := world(t)
	w.Program("black", `echo "$@" >>"$OUT/log"`)
	for command, runs := range map[string]bool{
		"black {{tool_args.command}}": false, "black '{{tool_args.command}}'": false, `black ""{{tool_args.command}}`: false, "black {{tool_args.none}}{{tool_args.command}}": false,
		"black -- {{tool_args.command}}": true, "black --file={{tool_args.command}}": true, "black x{{tool_args.command}}": true, "printf %s {{tool_args.command}} >$OUT/log": true,
		"x={{tool_args.command}}": true, "echo {{tool_args.command}} >$OUT/log": true,
	} {
		w.User(user, one("PreToolUse", "*", command))
		_, err := w.Set(nil).Decide(t.Context(), shell(w, "-rf"))
		if runs {
			assert.NoError(t, err, command)
			continue
		}
		assert.ErrorIs(t, err, dialect.ErrFeed, command)
		assert.ErrorContains(t, err, "put -- before it", command)
	}
	w.User(user, one("PreToolUse", "*", "echo {{tool_args.command}}"))
	_, err := w.Set(nil).Decide(t.Context(), shell(w, "-ne"))
	assert.ErrorIs(t, err, dialect.ErrFeed, "echo would eat it")
}

func TestA6ExitCodes(t *testing.T) {
	t.Parallel()
	w := world(t)
	for _, x := range []struct {
		command, reason string
		effect          hook.Effect
	}{
		{"exit 0", "", hook.Abstain},
		{"echo 'About to execute bash command'", "", hook.Abstain},
		{"echo no way >&2; exit 2", "no way", hook.Deny},
		{"exit 2", "Tool execution blocked by hook (exit code 2), which gave no reason", hook.Deny},
		{`printf '\033[31mred\033[0m' >&2; exit 2`, "red", hook.Deny},
		{`echo '{"reason":"said so"}'; exit 2`, "said so", hook.Deny},
		{`echo '{"decision":"approve","reason":"fine"}'; exit 2`, "fine", hook.Deny},
		{"echo broken >&2; exit 1", "hook failed with exit code 1: broken", hook.Abstain},
		{"nosuchprogram", "exit code 127", hook.Abstain},
	} {
		w.User(user, one("PreToolUse", "*", x.command))
		d := decide(t, w.Set(nil), shell(w, "ls"))
		assert.Equal(t, x.effect, d.Effect, x.command)
		assert.Contains(t, d.Reason, x.reason, x.command)
	}
	w.User(user, one("PreToolUse", "*", "exit 1", `,"on_failure":"deny"`))
	assert.Equal(t, hook.Deny, decide(t, w.Set(nil), shell(w, "ls")).Effect, "the person may want failures to deny")
}

func TestA6NothingBlocksWhatIsOver(t *testing.T) {
	t.Parallel()
	w := world(t)
	w.User(user, `{"hooks":{"Stop":[{"matcher":"*","hooks":[{"type":"command","command":"exit 2"}]}]}}`)
	d := decide(t, w.Set(nil), w.Plain(hook.Stop))
	assert.Equal(t, hook.Abstain, d.Effect)
	assert.Contains(t, d.Reason, "cannot block Stop")
}

func TestA7JSONAnswers(t *testing.T) {
	t.Parallel()
	w := world(t)
	for text, want := range map[string]hook.Decision{
		`{"continue":true,"decision":"approve","reason":"Command is safe to execute","metadata":{"x":1}}`: {Effect: hook.Allow, Reason: "Command is safe to execute"},
		`{"decision":"block","reason":"r"}`:                    {Effect: hook.Deny, Reason: "r"},
		`{"continue":false,"decision":"approve","reason":"r"}`: {Effect: hook.Deny, Reason: "r"},
		`{"continue":false}`:                                   {Effect: hook.Deny, Reason: "Tool execution blocked by hook, which gave no reason"},
		`{"continue":true}`:                                    {},
		`{}`:                                                   {},
		`{"decision":"modify","modified_args":{"command":"ls -l","extra":[1]}}`: {Rewrite: json.RawMessage(`{"command":"ls -l","extra":[1],"keep":true}`)},
		`{"modified_args":{"command":"ls -l"}}`:                                 {Rewrite: json.RawMessage(`{"command":"ls -l","keep":true}`)},
		`{"decision":"block","reason":"r","modified_args":{"command":"x"}}`:     {Effect: hook.Deny, Reason: "r"},
		`[1]`:     {},
		`plain {`: {},
	} {
		w.User(user, one("PreToolUse", "*", "cat <<'E'\n"+text+"\nE"))
		e := w.Event(hook.PreToolUse, "Bash", hook.KindShell, json.RawMessage(`{"command":"ls","keep":true}`))
		assert.Equal(t, want, decide(t, w.Set(nil), e), text)
	}
	for _, text := range []string{
		`{"decision":"allow"}`, `{"decision":"Block"}`, `{"decision":"block","decision":"approve"}`, `{"continue":"yes"}`, `{"decision":"modify"}`, `{"modified_args":[1]}`, `{"decision":`, `{} {}`, `{"reason":1}`,
	} {
		w.User(user, one("PreToolUse", "*", "cat <<'E'\n"+text+"\nE"))
		d := decide(t, w.Set(nil), shell(w, "ls"))
		assert.Equal(t, hook.Abstain, d.Effect, text)
		assert.Contains(t, d.Reason, "hook failed: stdout", text)
		d = decide(t, w.Set(&dialect.Options{OnFailure: hook.FailDeny}), shell(w, "ls"))
		assert.Equal(t, hook.Deny, d.Effect, text)
	}
}

func TestA7ApproveSkipsNoQuestion(t *testing.T) {
	t.Parallel()
	w := world(t)
	w.User(user, one("PreToolUse", "*", `echo '{"continue":true,"decision":"approve","reason":"fine"}'`))
	s := w.Set(nil)
	assert.False(t, s.Entry().Grants)
	v := hook.Merge(hook.Gate, []hook.Answer{{Entry: s.Entry(), Outcome: hook.Answered, Decision: decide(t, s, shell(w, "ls"))}}, hook.Abstain)
	assert.Equal(t, hook.Abstain, v.Effect, "the agent asks as it would have")
	assert.False(t, v.Grant)
}

func TestA7AllHooksRunAndTheStrictestDecides(t *testing.T) {
	t.Parallel()
	w := world(t)
	w.User(user, `{"hooks":{"PreToolUse":[{"matcher":"*","hooks":[
		{"type":"command","command":"echo '{\"modified_args\":{\"a\":1,\"b\":1}}'"},
		{"type":"command","command":"echo '{\"modified_args\":{\"b\":2,\"file_path\":\"/new\"}}'"}]}]}}`)
	e := w.Event(hook.PreToolUse, "write_file", hook.KindFileWrite, json.RawMessage(`{"path":"/old","content":"x"}`))
	d := decide(t, w.Set(nil), e)
	assert.JSONEq(t, `{"path":"/new","content":"x","a":1,"b":2}`, string(d.Rewrite), "in the agent's own words")
	w.User(user, `{"hooks":{"PreToolUse":[{"matcher":"*","hooks":[
		{"type":"command","command":"echo one >>\"$OUT/log\"; echo first >&2; exit 2"},
		{"type":"command","command":"echo two >>\"$OUT/log\"; echo '{\"decision\":\"approve\"}'"},
		{"type":"command","command":"echo three >>\"$OUT/log\"; echo last >&2; exit 2"}]}]}}`)
	d = decide(t, w.Set(nil), e)
	assert.Equal(t, hook.Decision{Effect: hook.Deny, Reason: "first\nlast"}, d)
	assert.Equal(t, "one\ntwo\nthree\n", w.Output("log"))
}

func TestA8EachRunIsAnEvent(t *testing.T) {
	t.Parallel()
	w := world(t)
	w.User(user, `{"hooks":{"PreToolUse":[{"matcher":"*","hooks":[{"type":"command","command":"echo '{\"metadata\":{\"hook_name\":\"x\"}}'"},{"type":"command","command":"exit 7"}]}]}}`)
	var mu sync.Mutex
	var got []hook.Event
	s := w.Set(&dialect.Options{Publish: func(e hook.Event) {
		mu.Lock()
		defer mu.Unlock()
		got = append(got, e)
	}})
	decide(t, s, shell(w, "ls"))
	var names []hook.Name
	for _, e := range got {
		names = append(names, e.Name)
		assert.Contains(t, string(e.Data.Native.Payload), `"hook_type":"PreToolUse"`)
		assert.Contains(t, string(e.Data.Native.Payload), `"hook_command":`)
		assert.Contains(t, string(e.Data.Native.Payload), `"context":`)
	}
	assert.Equal(t, []hook.Name{hook.HookExecutionStart, hook.HookExecutionComplete, hook.HookExecutionStart, hook.HookExecutionError}, names)
}

func TestA9NotificationsAndErrorsTriggerHooks(t *testing.T) {
	t.Parallel()
	w := world(t)
	w.User(user, `{"hooks":{"Notification":[
		{"matcher":"*","hooks":[{"type":"command","command":"cat >>\"$OUT/log\""}]},
		{"matcher":"error","hooks":[{"type":"command","command":"echo {{message}} >>\"$OUT/errors\""}]}]}}`)
	s := w.Set(nil)
	for _, n := range []hook.Name{hook.Notification, hook.Error, hook.Heartbeat} {
		e := w.Plain(n)
		e.Data.Message = "it is " + string(n)
		if n == hook.Error {
			e.Data.Message, e.Data.Error = "", "it broke"
		}
		assert.False(t, n.Blocking(), "nothing waits for it")
		require.NoError(t, s.Handle(t.Context(), e))
	}
	assert.Contains(t, w.Output("log"), `"message":"it is notification","event_type":"system_message"`)
	assert.Contains(t, w.Output("log"), `"message":"it broke","event_type":"error"`)
	assert.Contains(t, w.Output("log"), `"event_type":"status"`)
	assert.Equal(t, "it broke\n", w.Output("errors"))
}

func TestA10SettingsAndSubagents(t *testing.T) {
	t.Parallel()
	o, err := cliagent.ReadEnvironment([]string{"HOOKS_ENABLED=False", "HOOKS_TIMEOUT=7", "X=y"})
	require.NoError(t, err)
	assert.Equal(t, &cliagent.Options{Off: true, Timeout: 7 * time.Second}, o)
	o, err = cliagent.ReadEnvironment([]string{"HOOKS_ENABLED=", "HOOKS_TIMEOUT="})
	require.NoError(t, err)
	assert.Equal(t, new(cliagent.Options), o)
	for _, bad := range []string{"HOOKS_ENABLED=maybe", "HOOKS_TIMEOUT=0", "HOOKS_TIMEOUT=-1", "HOOKS_TIMEOUT=1000000", "HOOKS_TIMEOUT=x", "HOOKS_TIMEOUT=1.5"} {
		_, err := cliagent.ReadEnvironment([]string{bad})
		assert.ErrorIs(t, err, cliagent.ErrEnvironment, bad)
	}

	w := dialecttest.NewWorld(t, cliagent.New(&cliagent.Options{Timeout: time.Second}))
	w.User(user, one("PreToolUse", "*", "while :; do sleep 1; done"))
	sum := w.Set(nil).Run(t.Context(), shell(w, "ls"))
	require.Len(t, sum.Results, 1)
	assert.ErrorIs(t, sum.Results[0].Err, process.ErrTimedOut)

	w = dialecttest.NewWorld(t, cliagent.New(&cliagent.Options{Off: true}))
	w.User(user, one("PreToolUse", "*", "exit 2"))
	assert.Equal(t, hook.Decision{}, decide(t, w.Set(nil), shell(w, "ls")))

	w = world(t)
	w.User(user, one("PreToolUse", "*", "exit 2"))
	e := shell(w, "ls")
	e.Data.Subagent = &hook.Subagent{ID: "a1"}
	assert.Equal(t, hook.Abstain, decide(t, w.Set(nil), e).Effect)
	assert.Equal(t, hook.Deny, decide(t, w.Set(&dialect.Options{Subagents: true}), e).Effect)
}

func TestA11WhatTheDocumentLeftForLater(t *testing.T) {
	t.Parallel()
	w := world(t)
	w.User(user, `{"hooks":{"PreToolUse":[{"matcher":"*","hooks":[
		{"type":"command","command":"exit 2","name":"conditional","when":"tool.name == 'nothing'"},
		{"type":"command","command":"echo second >>\"$OUT/log\"","name":"second","after":["first"]},
		{"type":"command","command":"echo first >>\"$OUT/log\"","name":"first"},
		{"type":"command","command":"echo async >\"$OUT/async\"; exit 2","name":"later","async":true},
		{"type":"http","url":"https://example.com/hook","headers":{"X-Key":"$KEY"},"allowed_env":["KEY"],"timeout":3,"name":"web"}]}]}}`)
	traced := make(chan command.Execution, 16)
	var asked dialect.Request
	s := w.Set(&dialect.Options{
		When: func(string) (func(hook.Event) (bool, error), error) {
			return func(hook.Event) (bool, error) { return false, nil }, nil
		},
		Trace: func(x command.Execution) { traced <- x },
		Post: func(_ context.Context, r dialect.Request) (dialect.Output, error) {
			asked = r
			return dialect.Output{Stdout: []byte(`{"decision":"block","reason":"the endpoint says no"}`)}, nil
		},
	})
	_, problems := s.Hooks("")
	require.Empty(t, problems)
	d := decide(t, s, shell(w, "ls"))
	assert.Equal(t, hook.Decision{Effect: hook.Deny, Reason: "the endpoint says no"}, d)
	assert.Equal(t, "first\nsecond\n", w.Output("log"))
	assert.Equal(t, "https://example.com/hook", asked.URL)
	assert.Contains(t, string(asked.Body), `"tool_args":{"command":"ls"}`)
	names := make(map[string]bool)
	for range 4 {
		x := <-traced
		names[x.Hook] = true
	}
	assert.Equal(t, map[string]bool{"first": true, "second": true, "later": true, "web": true}, names, "every run is traced")
	assert.Equal(t, "async\n", w.Output("async"))
}

func TestVocabularyTrustsWhatItMust(t *testing.T) {
	t.Parallel()
	d := cliagent.New(nil)
	for _, f := range d.Files {
		assert.Equal(t, strings.HasPrefix(f.Path, "~/"), f.Source == trust.User, f.Path)
	}
}
