package codemie_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/grapnel-dev/grapnel/bus/hook"
	"github.com/grapnel-dev/grapnel/runner/process"
	"github.com/grapnel-dev/grapnel/subscribers/command"
	"github.com/grapnel-dev/grapnel/subscribers/command/cliagent"
	"github.com/grapnel-dev/grapnel/subscribers/command/codemie"
	"github.com/grapnel-dev/grapnel/subscribers/command/dialect"
	"github.com/grapnel-dev/grapnel/subscribers/command/dialect/dialecttest"
)

func TestC1InputsAreTheDocumentedOnesMemberForMember(t *testing.T) {
	t.Parallel()
	m := newMachine(t)
	dump := `cat > stdin.json; printf %s "$CODEMIE_HOOK_INPUT" > env.json`
	var all []string
	for _, name := range []string{"PreToolUse", "PostToolUse", "UserPromptSubmit", "SessionStart", "Stop"} {
		one := commands(name, dump)
		all = append(all, one[1:len(one)-1])
	}
	m.hooks("{" + strings.Join(all, ",") + "}")
	pre := m.bash("ls -la")
	post := m.event(hook.PostToolUse)
	post.Data.Tool = &hook.Tool{Name: "Write", Kind: hook.KindFileWrite, Input: json.RawMessage(`{ "file_path": "test.txt" }`)}
	post.Data.Result = json.RawMessage(`"File written successfully"`)
	prompt := m.event(hook.UserPromptSubmit)
	prompt.Data.Prompt = "User's prompt text"
	start := m.event(hook.SessionStart)
	start.Data.Native.Agent = "codemie-code"
	set := m.loaded()
	for name, e := range map[string]hook.Event{
		"PreToolUse": pre, "PostToolUse": post, "UserPromptSubmit": prompt, "SessionStart": start, "Stop": m.event(hook.Stop),
	} {
		_, err := set.Decide(t.Context(), e)
		require.NoError(t, err)
		want := strings.ReplaceAll(testdata(t, "documented/input-"+name+".json"), "/path/to/project", m.dir)
		if name == "PostToolUse" { // the metadata is the result where that is an object, which this one is not
			want = strings.NewReplacer(`"filePath": "test.txt",`, "", `"bytesWritten": 100`, "").Replace(want)
		}
		assert.JSONEq(t, want, m.read("env.json"), name)
		assert.Equal(t, m.read("env.json"), m.read("stdin.json"), "%s: standard input is the same", name)
	}
}

func TestC1AResultThatIsAnObjectIsTheMetadata(t *testing.T) {
	t.Parallel()
	m := newMachine(t)
	m.hooks(commands("PostToolUse", `printf %s "$CODEMIE_HOOK_INPUT" > in.json`))
	for _, c := range []struct{ result, failure, output, metadata string }{
		{`{"filePath": "a", "n": 1.50}`, "", `{\"filePath\": \"a\", \"n\": 1.50}`, `{"filePath":"a","n":1.50}`},
		{`[1, 2]`, "", `[1, 2]`, `{}`},
		{`null`, "no such file", `no such file`, `{}`},
		{``, "", ``, `{}`},
	} {
		e := m.bash("ls")
		e.Name, e.Data.Result, e.Data.Error = hook.PostToolUse, json.RawMessage(c.result), c.failure
		if c.failure != "" {
			e.Name = hook.PostToolUseFailure
		}
		require.NoError(t, m.loaded().Handle(t.Context(), e))
		assert.Contains(t, m.read("in.json"), `"tool_output":"`+c.output+`","tool_metadata":`+c.metadata+`,`)
	}
}

func TestC1EventsOfOtherAgentsHaveTheDocumentedNames(t *testing.T) {
	t.Parallel()
	m := newMachine(t)
	m.hooks(commands("PreToolUse", `printf '%s %s' "$CODEMIE_TOOL_NAME" "$CODEMIE_HOOK_INPUT" > seen`))
	for _, c := range []struct {
		name  hook.Name
		tool  string
		kind  hook.Kind
		input string
		want  string
	}{
		{hook.PreToolUse, "run_shell_command", hook.KindShell, `{"command":"ls"}`, `"tool_name":"Bash","tool_input":{"command":"ls"}`},
		{hook.PreShell, "Shell", hook.KindShell, `{"cmd":"ls"}`, `"tool_name":"Bash","tool_input":{"cmd":"ls","command":"ls"}`},
		{hook.PreFileRead, "view", hook.KindFileRead, `{"path":"a"}`, `"tool_name":"Read","tool_input":{"path":"a","file_path":"a"}`},
		{hook.PreToolUse, "replace", hook.KindFileEdit, `{"file_path":"a"}`, `"tool_name":"Edit"`},
		{hook.PreMCPCall, "MCP:search", hook.KindMCP, `{}`, `"tool_name":"mcp__cursor__search"`},
		{hook.PreToolUse, "unheard_of", hook.KindOther, `{}`, `"tool_name":"unheard_of"`},
	} {
		e := m.bash("")
		e.Name, e.Data.Native.Agent = c.name, "another"
		e.Data.Tool = &hook.Tool{Name: c.tool, Kind: c.kind, Input: json.RawMessage(c.input)}
		m.must(e)
		assert.Contains(t, m.read("seen"), c.want, c.tool)
	}
}

func TestC1PostToolUseCannotBlock(t *testing.T) {
	t.Parallel()
	m := newMachine(t)
	m.hooks(commands("PostToolUse", `echo no >&2; exit 2`, `echo '{"decision":"block","reason":"nor this"}'`))
	e := m.bash("ls")
	e.Name = hook.PostToolUse
	d := m.must(e)
	assert.Equal(t, hook.Abstain, d.Effect)
	assert.Contains(t, d.Reason, "hooks cannot block PostToolUse")
}

func TestC1StopAndSessionStartAndPromptsCanBeBlocked(t *testing.T) {
	t.Parallel()
	for name, event := range map[string]hook.Name{
		"Stop": hook.Stop, "SessionStart": hook.SessionStart, "UserPromptSubmit": hook.UserPromptSubmit,
	} {
		m := newMachine(t)
		m.hooks(commands(name, `echo '{"decision":"block","reason":"not yet"}'`))
		assert.Equal(t, hook.Decision{Effect: hook.Deny, Reason: "not yet"}, m.must(m.event(event)), name)
	}
}

func TestC2OnlyTheActiveProfileLoads(t *testing.T) {
	t.Parallel()
	m := newMachine(t)
	profiles := `"profiles":{"work":{"hooks":` + commands("PreToolUse", "echo work >> ran") + `},"home":{"hooks":` + commands("PreToolUse", "echo home >> ran") + `}}`
	m.configure(`{"version":2,"activeProfile":"work",` + profiles + `}`)
	set := m.loaded()
	_, err := set.Decide(t.Context(), m.bash("ls"))
	require.NoError(t, err)
	m.configure(`{"version":2,"activeProfile":"home",` + profiles + `}`)
	_, err = set.Decide(t.Context(), m.bash("ls"))
	require.NoError(t, err)
	assert.Equal(t, "work\nhome\n", m.read("ran"), "a change of the profile counts at once")
}

func TestC2HooksAreCalledByTheirPlaceInTheProfile(t *testing.T) {
	t.Parallel()
	m := newMachine(t)
	m.hooks(`{"PreToolUse":[{"hooks":[{"type":"command","command":"true"},{"type":"command","command":"false"}]}]}`)
	hooks, _ := m.loaded().Hooks("")
	require.Len(t, hooks, 2)
	assert.Equal(t, "PreToolUse[0].hooks[0] (default)", hooks[0].Label(), "what tells it from others first: tables are narrow")
	assert.Equal(t, "PreToolUse[0].hooks[1] (default)", hooks[1].Label())
	assert.Empty(t, hooks[0].Env, "nothing that the file does not say; a conversion would write it")
	c, err := dialect.Convert(hooks, codemie.New(), cliagent.New(nil))
	require.NoError(t, err)
	assert.NotContains(t, string(c.Text), "CODEMIE_")
}

func TestC2TimeoutIsInMilliseconds(t *testing.T) {
	t.Parallel()
	m := newMachine(t)
	m.hooks(`{"PreToolUse":[{"hooks":[
		{"type":"command","command":"a"},{"type":"command","command":"b","timeout":60000},
		{"type":"command","command":"c","timeout":1500},{"type":"command","command":"d","timeout":0.5}]}]}`)
	set := m.loaded()
	hooks, _ := set.Hooks("")
	assert.Equal(t, 60*time.Second, set.Dialect().Timeout)
	var got []time.Duration
	for _, h := range hooks {
		got = append(got, h.Timeout)
	}
	assert.Equal(t, []time.Duration{0, 0, 1500 * time.Millisecond, 500 * time.Microsecond}, got, "0 is the default")
}

func TestC2WhatIsWrongIsSaidAndTheOthersLoad(t *testing.T) {
	t.Parallel()
	ok := `{"type":"command","command":"true"}`
	group := func(hooks string) string { return file(`{"PreToolUse":[{"hooks":[` + hooks + `,` + ok + `]}]}`) }
	cases := map[string]struct {
		text, want string
		hooks      int
	}{
		"another version":     {strings.Replace(file(commands("Stop", "true")), `"version":2`, `"version":3`, 1), "only version 2 is known", 1},
		"no version":          {strings.Replace(file(commands("Stop", "true")), `"version":2,`, ``, 1), "version: it is missing", 1},
		"version as text":     {strings.Replace(file(commands("Stop", "true")), `"version":2`, `"version":"2"`, 1), "not a whole number", 1},
		"no profile chosen":   {strings.Replace(file(commands("Stop", "true")), `"activeProfile":"default",`, ``, 1), "activeProfile: it is missing", 0},
		"a profile not there": {strings.Replace(file(commands("Stop", "true")), `"activeProfile":"default"`, `"activeProfile":"x"`, 1), `no profile "x"`, 0},
		"the only profile":    {`{"version":2,"profiles":{"p":{"hooks":` + commands("Stop", "true") + `}}}`, `the only profile "p" is taken`, 1},
		"no profiles":         {`{"version":2,"activeProfile":"p"}`, "profiles: there is none", 0},
		"no JSON":             {`{"version":2,`, "", 0},
		"a key twice":         {`{"version":2,"version":2}`, "version", 0},
		"a type nobody knows": {group(`{"type":"http","command":"x"}`), "neither command nor prompt", 1},
		"no command":          {group(`{"type":"command"}`), "a command hook needs one", 1},
		"no prompt":           {group(`{"type":"prompt","command":"x"}`), "a prompt hook needs one", 1},
		"a bad time-out":      {group(`{"type":"command","command":"x","timeout":-1}`), "not a time", 1},
		"a time-out as text":  {group(`{"type":"command","command":"x","timeout":"1s"}`), "not a number", 1},
		"no object":           {group(`"true"`), "not a JSON object", 1},
		"an unknown key":      {group(`{"type":"command","command":"x","tiemout":1}`), `"tiemout" is not known`, 2},
		"an unknown event":    {file(`{"PreTool":[],"Stop":[{"hooks":[` + ok + `]}]}`), "no such event", 1},
		"a bad matcher":       {file(`{"PreToolUse":[{"matcher":"(","hooks":[` + ok + `]},{"hooks":[` + ok + `]}]}`), "no regular expression", 1},
		"a matcher for Stop":  {file(`{"Stop":[{"matcher":"Bash","hooks":[` + ok + `]}]}`), "Stop has no tool", 1},
		"an unknown part":     {file(`{"Stop":[{"match":"*","hooks":[` + ok + `]}]}`), "not known", 1},
		"no hooks":            {file(`{"Stop":[{"matcher":"*"},{"hooks":[` + ok + `]}]}`), "it has no hooks", 1},
		"bad retries":         {strings.Replace(file(commands("Stop", "true")), `"model"`, `"maxHookRetries":-2,"model"`, 1), "not a number of retries", 1},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := newMachine(t)
			m.configure(c.text)
			hooks, problems := m.set().Hooks(m.dir)
			assert.Len(t, hooks, c.hooks)
			require.NotEmpty(t, problems)
			var all []string
			for _, p := range problems {
				all = append(all, p.Error())
			}
			assert.Contains(t, strings.Join(all, "\n"), c.want)
		})
	}
}

func TestC2TheKeyIsInNothingThatIsShown(t *testing.T) {
	t.Parallel()
	const secret = "sk-very-secret"
	prompt := `{"Stop":[{"hooks":[{"type":"prompt","prompt":"fine?"},{"type":"command","command":"env; echo x >&2; exit 1"}]}]}`
	texts := []string{
		file(prompt),
		strings.Replace(file(prompt), `"`+secret+`"`, `["`+secret+`"]`, 1),
		strings.Replace(file(prompt), `"`+secret+`"`, `"`+secret+`","apiKey":"`+secret+`"`, 1),
		strings.Replace(file(prompt), `"`+secret+`",`, `"`+secret+`"`, 1),
		strings.Replace(file(prompt), `"`+secret+`"`, `"`+secret, 1),
		strings.Replace(file(prompt), `"`+secret+`"`, secret, 1),
		strings.Replace(file(prompt), `"`+secret+`"`, "\"\xff"+secret+`"`, 1),
	}
	for i, text := range texts {
		m := newMachine(t)
		m.configure(text)
		m.options.Ask = func(_ context.Context, q dialect.Question) (dialect.Answer, error) {
			return dialect.Answer{}, errors.New("no")
		}
		var mu sync.Mutex
		var published []hook.Event
		m.options.Publish = func(e hook.Event) {
			mu.Lock()
			defer mu.Unlock()
			published = append(published, e)
		}
		set := m.set()
		hooks, problems := set.Hooks(m.dir)
		d, err := set.Decide(t.Context(), m.event(hook.Stop))
		shown := fmt.Sprint(problems, d, err)
		for _, v := range []any{hooks, problems, published, d} {
			b, err := json.Marshal(v)
			require.NoError(t, err)
			shown += string(b)
		}
		for _, h := range hooks {
			shown += string(h.Definition) + h.Text() + h.Label() + h.ID()
		}
		written, lost, err := set.Dialect().Write(hooks)
		require.NoError(t, err)
		shown += string(written) + fmt.Sprint(lost)
		assert.NotContains(t, shown, secret, "text %d", i)
		if i == 0 {
			require.NotNil(t, hooks[0].Model)
			assert.Equal(t, secret, hooks[0].Model.Key, "whoever asks the model has it")
			assert.Nil(t, hooks[1].Model)
		}
	}
}

func TestC3AMatcherIsForTheWholeName(t *testing.T) {
	t.Parallel()
	cases := []struct {
		matcher, tool string
		kind          hook.Kind
		want          bool
	}{
		{"Bash", "Bash", hook.KindShell, true},
		{"Bas", "Bash", hook.KindOther, false},
		{"ash", "Bash", hook.KindOther, false},
		{"bash", "Bash", hook.KindShell, false},
		{"Bash|Write", "WriteX", hook.KindOther, false},
		{"Bash|W.*", "WriteX", hook.KindOther, true},
		{"mcp__github__.*", "mcp__github__search", hook.KindMCP, true},
		{"Bash", "run_shell_command", hook.KindShell, true},
		{"run_shell_command", "run_shell_command", hook.KindShell, true},
		{"Write", "run_shell_command", hook.KindShell, false},
		{"", "anything", hook.KindOther, true},
		{"*", "any\nthing", hook.KindOther, true},
		{".*", "Bash", hook.KindShell, true},
	}
	for _, c := range cases {
		m := newMachine(t)
		m.hooks(fmt.Sprintf(`{"PreToolUse":[{"matcher":%q,"hooks":[{"type":"command","command":"exit 2"}]}]}`, c.matcher))
		e := m.bash("x")
		e.Data.Tool.Name, e.Data.Tool.Kind, e.Data.Native.Agent = c.tool, c.kind, "another"
		assert.Equal(t, c.want, m.must(e).Effect == hook.Deny, "%q for %q", c.matcher, c.tool)
	}
}

func TestC4TheEnvironment(t *testing.T) {
	t.Parallel()
	m := newMachine(t)
	m.hooks(commands("PreToolUse", `env | grep ^CODEMIE_ | grep -v ^CODEMIE_HOOK_INPUT= | sort > env; pwd > pwd`))
	m.must(m.bash("ls"))
	assert.Equal(t, strings.Join([]string{
		"CODEMIE_AGENT_NAME=claude-code", "CODEMIE_HOOK_EVENT=PreToolUse", "CODEMIE_PERMISSION_MODE=auto", "CODEMIE_PROFILE_NAME=default",
		"CODEMIE_PROJECT_DIR=" + m.dir, "CODEMIE_SESSION_ID=session-id", "CODEMIE_TOOL_NAME=Bash", "CODEMIE_TRANSCRIPT_PATH=/tmp/transcript.jsonl", "",
	}, "\n"), m.read("env"))
	assert.Equal(t, m.dir+"\n", m.read("pwd"))

	e := m.bash("ls")
	e.Data.PermissionMode = "default"
	m.must(e)
	assert.Contains(t, m.read("env"), "CODEMIE_PERMISSION_MODE=manual\n")
}

func TestC4NoValueOfAnEventIsSyntax(t *testing.T) {
	t.Parallel()
	m := newMachine(t)
	m.hooks(commands("PreToolUse",
		`printf %s "$CODEMIE_HOOK_INPUT" > in; printf %s "$CODEMIE_TOOL_NAME" > tool; true $CODEMIE_HOOK_INPUT $CODEMIE_SESSION_ID; echo "$CODEMIE_AGENT_NAME" '$CODEMIE_TOOL_NAME' >/dev/null`))
	set := m.loaded()
	for _, v := range []string{
		"$(touch canary)", "`touch canary`", "; touch canary;", "\"; touch canary; \"", "'; touch canary; '", "|touch canary", "\ntouch canary\n",
		"${x:=$(touch canary)}", "-rf", "%s%n", "{{tool_name}}", "\u2028touch canary", "$CODEMIE_HOOK_INPUT", "&& touch canary", "\\\"; touch canary", "\r\ntouch canary",
	} {
		e := m.bash(v)
		e.Data.Tool.Name, e.SessionID, e.Data.Native.Agent, e.Data.PermissionMode, e.Data.Tool.CallID = v, v, v, v, v
		e.Data.CWD, e.Data.Tool.Kind = v, hook.KindOther
		_, err := set.Decide(t.Context(), e)
		require.NoError(t, err, "%q", v)
		var in map[string]any
		require.NoError(t, json.Unmarshal([]byte(m.read("in")), &in), "%q", v)
		assert.Equal(t, map[string]any{"command": v}, in["tool_input"])
		assert.Equal(t, v, in["tool_name"])
		assert.Equal(t, v, m.read("tool"))
		require.NoFileExists(t, m.file("canary"), "%q ran", v)
	}
}

func TestC4EscapesHideNothingFromAScriptThatLooksForText(t *testing.T) {
	t.Parallel()
	m := newMachine(t)
	m.hooks(commands("PreToolUse", `case "$CODEMIE_HOOK_INPUT" in *'rm -rf'*) exit 2;; esac`))
	e := m.bash("")
	e.Data.Tool.Input = json.RawMessage(`{"command":"\u0072m\u0020-r\u0066 \/ \u003e x"}`)
	assert.Equal(t, hook.Deny, m.must(e).Effect)
}

func TestC4AnEventThatDoesNotFitIsNotPassedBlindly(t *testing.T) {
	t.Parallel()
	m := newMachine(t)
	large := m.bash(strings.Repeat("x", 2*command.MaxVariable) + "; rm -rf /")
	script := m.script("check", "#!/bin/sh\ncase \"$CODEMIE_HOOK_INPUT\" in *'rm -rf'*) exit 2;; esac\n")
	m.hooks(commands("PreToolUse", script))
	_, err := m.decide(large)
	require.ErrorIs(t, err, dialect.ErrFeed)
	assert.Contains(t, err.Error(), "standard input")

	m.hooks(commands("PreToolUse", `: "$GRAPNEL_OMITTED"; test "$GRAPNEL_OMITTED" = CODEMIE_HOOK_INPUT || exit 1; grep -q 'rm -rf' && exit 2; exit 0`))
	assert.Equal(t, hook.Deny, m.must(large).Effect, "a hook that reads standard input sees all of it")

	m.hooks(commands("PostToolUse", `wc -c > size`))
	large.Name = hook.PostToolUse
	require.NoError(t, m.loaded().Handle(t.Context(), large))
	assert.NotEmpty(t, m.read("size"), "what cannot be blocked is told in any case")
}

func TestC5AModelThatDoesNotAnswerIsGoneOnFrom(t *testing.T) {
	t.Parallel()
	m := newMachine(t)
	m.hooks(`{"PreToolUse":[{"hooks":[{"type":"prompt","prompt":"Is $TOOL_INPUT fine?","timeout":50}]}]}`)
	m.options.Ask = func(ctx context.Context, _ dialect.Question) (dialect.Answer, error) {
		<-ctx.Done()
		return dialect.Answer{}, ctx.Err()
	}
	d := m.must(m.bash("ls"))
	assert.Equal(t, hook.Abstain, d.Effect)
	assert.Contains(t, d.Reason, "deadline exceeded")

	m.options.Ask = func(context.Context, dialect.Question) (dialect.Answer, error) {
		return dialect.Answer{Effect: hook.Allow}, nil
	}
	assert.Equal(t, hook.Abstain, m.must(m.bash("ls")).Effect, "a model's allow loosens nothing")
}

func TestC6Outputs(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		stdout string
		want   hook.Decision
	}{
		"nothing":     {``, hook.Decision{}},
		"no decision": {`{}`, hook.Decision{}},
		"allow":       {`{"decision":"allow","reason":"fine"}`, hook.Decision{Effect: hook.Allow, Reason: "fine"}},
		"approve":     {`{"decision":"approve"}`, hook.Decision{Effect: hook.Allow}},
		"deny":        {`{"decision":"deny","reason":"no"}`, hook.Decision{Effect: hook.Deny, Reason: "no"}},
		"block":       {`{"decision":"block","reason":"no"}`, hook.Decision{Effect: hook.Deny, Reason: "no"}},
		"no reason":   {`{"decision":"block"}`, hook.Decision{Effect: hook.Deny, Reason: "hook PreToolUse[0].hooks[0] (default) says block and gave no reason"}},
		"context":     {`{"additionalContext":"look"}`, hook.Decision{Context: "look"}},
		"escapes":     {`{"decision":"deny","reason":"\u001b[31mred\u202e"}`, hook.Decision{Effect: hook.Deny, Reason: "red"}},
		"unknown key": {`{"suppressOutput":true,"decision":"deny","reason":"no"}`, hook.Decision{Effect: hook.Deny, Reason: "no"}},
		"an update":   {`{"updatedInput":{"command":"ls -l"}}`, hook.Decision{Rewrite: json.RawMessage(`{"command":"ls -l","description":"list"}`)}},
		"one more":    {`{"decision":"allow","updatedInput":{"timeout":5}}`, hook.Decision{Effect: hook.Allow, Rewrite: json.RawMessage(`{"command":"ls","description":"list","timeout":5}`)}},
		"no update":   {`{"decision":"deny","reason":"no","updatedInput":{"command":"x"}}`, hook.Decision{Effect: hook.Deny, Reason: "no"}},
	}
	m := newMachine(t)
	for name, c := range cases {
		m.hooks(commands("PreToolUse", "cat <<'END'\n"+c.stdout+"\nEND\n"))
		e := m.bash("")
		e.Data.Tool.Input = json.RawMessage(`{"command":"ls","description":"list"}`)
		got := m.must(e)
		if c.want.Rewrite != nil {
			assert.JSONEq(t, string(c.want.Rewrite), string(got.Rewrite), name)
			got.Rewrite, c.want.Rewrite = nil, nil
		}
		assert.Equal(t, c.want, got, name)
	}
}

func TestC6AnUpdateIsSaidInTheAgentsOwnWords(t *testing.T) {
	t.Parallel()
	m := newMachine(t)
	m.hooks(commands("PreToolUse", `echo '{"updatedInput":{"file_path":"/tmp/safe"}}'`))
	e := m.bash("")
	e.Data.Native.Agent = "copilot"
	e.Data.Tool = &hook.Tool{Name: "create", Kind: hook.KindFileWrite, Input: json.RawMessage(`{"path":"/etc/x","file_text":"y"}`)}
	assert.JSONEq(t, `{"path":"/tmp/safe","file_text":"y"}`, string(m.must(e).Rewrite))
}

func TestC6BlockOverDenyOverApproveOverAllow(t *testing.T) {
	t.Parallel()
	say := func(decision string) string {
		return fmt.Sprintf(`echo '{"decision":"%s","reason":"%s","additionalContext":"%s said"}'`, decision, decision, decision)
	}
	order := []string{"allow", "approve", "deny", "block"}
	for i, high := range order {
		m := newMachine(t)
		var texts []string
		for _, low := range order[:i+1] {
			texts = append(texts, say(low))
		}
		// Whatever the place of the highest, it counts.
		for range texts {
			texts = append(texts[1:], texts[0])
			m.hooks(commands("PreToolUse", texts...))
			d := m.must(m.bash("ls"))
			assert.Equal(t, high, d.Reason)
			assert.Equal(t, i >= 2, d.Effect == hook.Deny)
			assert.Equal(t, i+1, strings.Count(d.Context, " said"), "contexts of all count")
		}
	}
	m := newMachine(t)
	m.hooks(commands("PreToolUse", `echo '{"decision":"block","reason":"one"}'`, `echo '{"decision":"block","reason":"two"}'`))
	assert.Equal(t, "one\ntwo", m.must(m.bash("ls")).Reason)
	m.hooks(commands("PreToolUse", `echo '{"updatedInput":{"a":1,"b":1}}'`, `echo '{"updatedInput":{"b":2}}'`))
	assert.JSONEq(t, `{"command":"ls","a":1,"b":2}`, string(m.must(m.bash("ls")).Rewrite))
}

func TestC7ExitCodes(t *testing.T) {
	t.Parallel()
	where := "hook PreToolUse[0].hooks[0] (default)"
	cases := map[string]struct {
		command string
		effect  hook.Effect
		reason  string
	}{
		"blocks":                   {`echo 'not this' >&2; exit 2`, hook.Deny, "not this"},
		"blocks, silent":           {`exit 2`, hook.Deny, where + " blocked it (exit code 2) and gave no reason"},
		"blocks, told on stdout":   {`echo '{"decision":"block","reason":"there"}'; exit 2`, hook.Deny, "there"},
		"blocks, whatever it says": {`echo '{"decision":"allow"}'; echo no >&2; exit 2`, hook.Deny, "no"},
		"fails":                    {`echo broken >&2; exit 1`, hook.Abstain, "exit code 1: broken"},
		"fails, whatever it says":  {`echo '{"decision":"block"}'; exit 3`, hook.Abstain, "exit code 3"},
		"text":                     {`echo hello`, hook.Abstain, "not a JSON object"},
		"an unknown decision":      {`echo '{"decision":"Block"}'`, hook.Abstain, "none of allow, approve, deny, block"},
		"a decision of wrong type": {`echo '{"decision":["block"]}'`, hook.Abstain, "hook failed"},
		"a key twice":              {`echo '{"decision":"allow","decision":"block"}'`, hook.Abstain, "hook failed"},
		"two objects":              {`echo '{}{}'`, hook.Abstain, "hook failed"},
		"an update that is none":   {`echo '{"updatedInput":[1]}'`, hook.Abstain, "updatedInput is not a JSON object"},
		"too much":                 {`head -c 3000000 /dev/zero | tr '\0' ' '`, hook.Abstain, "too long"},
		"not found":                {`/no/such/program`, hook.Abstain, "exit code 127"},
		"killed":                   {`kill -KILL $$`, hook.Abstain, "signal"},
	}
	runner := dialecttest.Runner(t) // one for all: starting its supervisors takes longer than most of these hooks
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := newMachine(t)
			m.runner = runner
			m.hooks(commands("PreToolUse", c.command))
			d := m.must(m.bash("ls"))
			assert.Equal(t, c.effect, d.Effect)
			assert.Contains(t, d.Reason, c.reason)
			assert.Nil(t, d.Rewrite)
		})
	}
}

func TestC7TimeoutsFailOpenAndKill(t *testing.T) {
	t.Parallel()
	m := newMachine(t)
	m.hooks(`{"PreToolUse":[{"hooks":[{"type":"command","command":"echo '{\"decision\":\"block\"}'; sleep 1000","timeout":200}]}]}`)
	start := time.Now()
	d := m.must(m.bash("ls"))
	assert.Equal(t, hook.Abstain, d.Effect)
	assert.Contains(t, d.Reason, process.ErrTimedOut.Error())
	assert.Less(t, time.Since(start), 30*time.Second)
}

func TestC7OnFailureCanSayOtherwise(t *testing.T) {
	t.Parallel()
	m := newMachine(t)
	m.hooks(`{"PreToolUse":[{"hooks":[{"type":"command","command":"exit 1","on_failure":"deny"},{"type":"command","command":"echo '{\"decision\":\"allow\"}'"}]}]}`)
	d := m.must(m.bash("ls"))
	assert.Equal(t, hook.Deny, d.Effect)
	assert.Contains(t, d.Reason, "exit code 1")
}

func TestC8HooksRunAtTheSameTime(t *testing.T) {
	t.Parallel()
	m := newMachine(t)
	// Each waits for the other: one after another, both would be timed out.
	meet := func(me, other string) string {
		return fmt.Sprintf(`touch %s; while ! test -e %s; do sleep 0.02; done; echo '{"additionalContext":"%s"}'`, me, other, me)
	}
	m.hooks(commands("PreToolUse", meet("one", "two"), meet("two", "three"), meet("three", "one")))
	d := m.must(m.bash("ls"))
	assert.Equal(t, "one\ntwo\nthree", d.Context, "in the order of the file, whoever was first")
	assert.Empty(t, d.Reason)
}

func TestC8TheSameHookRunsOncePerEvent(t *testing.T) {
	t.Parallel()
	m := newMachine(t)
	same, other := `{"type":"command","command":"echo ran >> log"}`, `{"type":"command","command":"echo ran >> log","timeout":5000}`
	explicit := `{"type":"command","command":"echo ran >> log","timeout":60000}`
	m.hooks(`{"PreToolUse":[{"matcher":"Bash","hooks":[` + same + `,` + same + `]},{"matcher":"*","hooks":[` + same + `,` + explicit + `,` + other + `]}]}`)
	set := m.loaded()
	for range 2 {
		_, err := set.Decide(t.Context(), m.bash("ls"))
		require.NoError(t, err)
	}
	assert.Equal(t, 4, strings.Count(m.read("log"), "ran"), "two events, two hooks that differ in their time-out")
}

func TestC9SessionStartRunsAgainUpToFiveTimes(t *testing.T) {
	t.Parallel()
	m := newMachine(t)
	m.hooks(commands("SessionStart", `echo x >> runs; echo 'install node first' >&2; exit 2`))
	d := m.must(m.event(hook.SessionStart))
	assert.Equal(t, hook.Decision{Effect: hook.Deny, Reason: "install node first"}, d, "then the block stands")
	assert.Equal(t, 6, strings.Count(m.read("runs"), "x"), "once, and five times again")
}

func TestC9TheProfileSaysHowOften(t *testing.T) {
	t.Parallel()
	m := newMachine(t)
	m.configure(strings.Replace(file(commands("SessionStart", `echo x >> runs; echo why >&2; exit 2`)), `"model"`, `"maxHookRetries":2,"model"`, 1))
	assert.Equal(t, hook.Deny, m.must(m.event(hook.SessionStart)).Effect)
	assert.Equal(t, 3, strings.Count(m.read("runs"), "x"))
}

func TestC9SessionStartsWhenTheHookIsContent(t *testing.T) {
	t.Parallel()
	m := newMachine(t)
	m.hooks(commands("SessionStart", `echo x >> runs; if test $(wc -l < runs) -lt 3; then echo 'not yet' >&2; exit 2; fi; echo '{"additionalContext":"ready"}'`))
	d := m.must(m.event(hook.SessionResume))
	assert.Equal(t, hook.Decision{Context: "[SessionStart Hook Output]:\nready"}, d)
	assert.Equal(t, 3, strings.Count(m.read("runs"), "x"))
}

func TestC9WithoutFeedbackNothingRunsAgain(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"SessionStart": `echo x >> runs; exit 2`,
		"Stop":         `echo x >> runs; echo why >&2; exit 2`,
		"PreToolUse":   `echo x >> runs; echo why >&2; exit 2`,
	} {
		m := newMachine(t)
		m.hooks(commands(name, text))
		e := m.bash("ls")
		switch name {
		case "SessionStart":
			e = m.event(hook.SessionStart)
		case "Stop":
			e = m.event(hook.Stop)
		}
		assert.Equal(t, hook.Deny, m.must(e).Effect)
		assert.Equal(t, "x\n", m.read("runs"), name)
	}
	m := newMachine(t)
	m.hooks(commands("SessionStart", `echo x >> runs; echo '{"decision":"block","reason":"no"}'`))
	assert.Equal(t, hook.Deny, m.must(m.event(hook.SessionStart)).Effect)
	assert.Equal(t, "x\n", m.read("runs"), "a block of exit code 0 is no feedback")
}

func TestC9TheSessionEndsWhileItRunsAgain(t *testing.T) {
	t.Parallel()
	m := newMachine(t)
	m.hooks(commands("SessionStart", `echo x >> runs; echo again >&2; exit 2`))
	set := m.loaded()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := set.Decide(ctx, m.event(hook.SessionStart))
	require.Error(t, err)
	_, err = os.Stat(m.file("runs"))
	assert.ErrorIs(t, err, os.ErrNotExist)
}
