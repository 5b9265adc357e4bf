package command_test

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/grapnel-dev/grapnel/bus/cloudevent"
	"github.com/grapnel-dev/grapnel/bus/hook"
	"github.com/grapnel-dev/grapnel/runner/process"
	"github.com/grapnel-dev/grapnel/subscribers/command"
)

func TestDecisions(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		shell string
		want  hook.Decision
	}{
		"silence":                {`true`, hook.Decision{}},
		"white space":            {`printf ' \n\t\r\n'`, hook.Decision{}},
		"stderr alone":           {`echo working >&2`, hook.Decision{}},
		"allow":                  {`echo '{"effect":"allow"}'`, hook.Decision{Effect: hook.Allow}},
		"ask":                    {`echo '{"effect":"ask","reason":"sure?"}'`, hook.Decision{Effect: hook.Ask, Reason: "sure?"}},
		"deny without a reason":  {`echo '{"effect":"deny"}'`, hook.Decision{Effect: hook.Deny, Reason: "hook tested says deny and gave no reason"}},
		"halt":                   {`echo ' {"effect":"halt","reason":"stop","context":"c"} '`, hook.Decision{Effect: hook.Halt, Reason: "stop", Context: "c"}},
		"rewrite":                {`echo '{"effect":"abstain","rewrite":{ "b" : 1,"a":"\u0041"}}'`, hook.Decision{Rewrite: json.RawMessage(`{ "b" : 1,"a":"\u0041"}`)}},
		"no rewrite after all":   {`echo '{"effect":"allow","rewrite":null}'`, hook.Decision{Effect: hook.Allow}},
		"escapes in the reason":  {`printf '{"effect":"deny","reason":"\\u001b[31mred\\u202e\\u0007"}'`, hook.Decision{Effect: hook.Deny, Reason: "red"}},
		"exit 2":                 {`echo 'not this' >&2; exit 2`, hook.Decision{Effect: hook.Deny, Reason: "not this"}},
		"exit 2, silent":         {`exit 2`, hook.Decision{Effect: hook.Deny, Reason: "hook tested denied it (exit code 2) and gave no reason"}},
		"exit 2, binary":         {`printf 'no \377\033]0;title\007\000!' >&2; exit 2`, hook.Decision{Effect: hook.Deny, Reason: "no \ufffd!"}},
		"exit 2 and allow":       {`echo '{"effect":"allow","reason":"fine","context":"c"}'; echo no >&2; exit 2`, hook.Decision{Effect: hook.Deny, Reason: "no"}},
		"exit 2 and halt":        {`echo '{"effect":"halt","reason":"all of it"}'; echo no >&2; exit 2`, hook.Decision{Effect: hook.Halt, Reason: "all of it"}},
		"exit 2 and a rewrite":   {`echo '{"effect":"deny","rewrite":{}}'; echo no >&2; exit 2`, hook.Decision{Effect: hook.Deny, Reason: "no"}},
		"exit 2 and garbage":     {`echo garbage; echo no >&2; exit 2`, hook.Decision{Effect: hook.Deny, Reason: "no"}},
		"leaves something there": {`sleep 100 & echo '{"effect":"allow"}'`, hook.Decision{Effect: hook.Allow}},
	}
	r := runner(t)
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := ready(t, command.Hook{Shell: c.shell, Rewrites: true}, &command.Options{Runner: r}).Decide(t.Context(), event(t))
			require.NoError(t, err)
			assert.Equal(t, c.want, got)
		})
	}
}

func TestReasonIsCut(t *testing.T) {
	t.Parallel()
	c := ready(t, command.Hook{Shell: `head -c 3000000 /dev/zero | tr '\0' x >&2; exit 2`}, nil)
	got, err := c.Decide(t.Context(), event(t))
	require.NoError(t, err)
	assert.Equal(t, hook.Deny, got.Effect)
	assert.Len(t, got.Reason, command.MaxReason)
}

// failures are hooks that do not decide. None may come out as a decision.
func failures(t *testing.T) map[string]struct {
	hook command.Hook
	want error
} {
	t.Helper()
	dir := t.TempDir()
	script := func(name, text string) []string {
		path := filepath.Join(dir, name)
		require.NoError(t, os.WriteFile(path, []byte(text), 0o755))
		return []string{path}
	}
	shell := func(text string) command.Hook { return command.Hook{Shell: text} }
	return map[string]struct {
		hook command.Hook
		want error
	}{
		"text":                     {shell(`echo fine`), command.ErrAnswer},
		"text before the decision": {shell(`echo loading; echo '{"effect":"allow"}'`), command.ErrAnswer},
		"text after it":            {shell(`echo '{"effect":"allow"}'; echo bye`), command.ErrAnswer},
		"two decisions":            {shell(`echo '{"effect":"allow"}{"effect":"allow"}'`), command.ErrAnswer},
		"half a decision":          {shell(`printf '{"effect":"allow"'`), command.ErrAnswer},
		"no effect":                {shell(`echo '{}'`), command.ErrAnswer},
		"null effect":              {shell(`echo '{"effect":null}'`), command.ErrAnswer},
		"unknown effect":           {shell(`echo '{"effect":"approve"}'`), command.ErrAnswer},
		"unknown key":              {shell(`echo '{"effect":"allow","decision":"deny"}'`), command.ErrAnswer},
		"key of another case":      {shell(`echo '{"Effect":"allow"}'`), command.ErrAnswer},
		"key twice":                {shell(`echo '{"effect":"deny","effect":"allow"}'`), command.ErrAnswer},
		"null":                     {shell(`echo null`), command.ErrAnswer},
		"an array":                 {shell(`echo '[{"effect":"allow"}]'`), command.ErrAnswer},
		"a NUL":                    {shell(`printf '\000'`), command.ErrAnswer},
		"invalid UTF-8":            {shell(`printf '{"effect":"allow","reason":"\377"}'`), command.ErrAnswer},
		"a rewrite not permitted":  {shell(`echo '{"effect":"allow","rewrite":{}}'`), command.ErrAnswer},
		"a rewrite of no object":   {command.Hook{Rewrites: true, Shell: `echo '{"effect":"allow","rewrite":[]}'`}, command.ErrAnswer},
		"too much, all blank":      {shell(`head -c 3000000 /dev/zero | tr '\0' ' '`), command.ErrAnswer},
		"a decision, then blanks":  {shell(`echo '{"effect":"allow"}'; head -c 3000000 /dev/zero | tr '\0' ' '`), command.ErrAnswer},
		"exit 1":                   {shell(`exit 1`), command.ErrExit},
		"exit 1 with a decision":   {shell(`echo '{"effect":"allow"}'; exit 1`), command.ErrExit},
		"exit 3":                   {shell(`echo '{"effect":"abstain"}'; exit 3`), command.ErrExit},
		"exit 255":                 {shell(`exit 255`), command.ErrExit},
		"program gone in a shell":  {shell(`/no/such/program`), command.ErrExit},
		"syntax error":             {shell(`if then`), nil}, // dash: exit 2, a denial; others fail
		"signal":                   {shell(`echo '{"effect":"allow"}'; kill -KILL $$`), process.ErrSignal},
		"time-out":                 {command.Hook{Shell: `echo '{"effect":"allow"}'; sleep 100`, Timeout: hook.Duration(100 * time.Millisecond)}, process.ErrTimedOut},
		"exit 0 on time-out":       {command.Hook{Shell: `trap 'exit 0' TERM; sleep 100 & wait`, Timeout: hook.Duration(200 * time.Millisecond)}, process.ErrTimedOut},
		"exit 2 on time-out":       {command.Hook{Shell: `trap 'exit 2' TERM; sleep 100 & wait`, Timeout: hook.Duration(200 * time.Millisecond)}, process.ErrTimedOut},
		"no interpreter":           {command.Hook{Command: script("bad", "#!/no/such/interpreter\n")}, process.ErrInterpreter},
		"value for an option":      {command.Hook{Command: []string{"echo", "{{event.id}}"}}, command.ErrTemplate},
		"value that is not there":  {command.Hook{Command: []string{"true", "{{tool.input.absent}}"}}, command.ErrTemplate},
		"value that is null":       {command.Hook{Command: []string{"true", "{{tool.input.deep.none}}"}}, command.ErrTemplate},
	}
}

func TestNoFailureIsAnAnswer(t *testing.T) {
	t.Parallel()
	r := runner(t)
	for name, c := range failures(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := event(t)
			if name == "value for an option" {
				e.ID = "-rf"
			}
			decider := ready(t, c.hook, &command.Options{Runner: r})
			got, err := decider.Decide(t.Context(), e)
			if c.want == nil {
				assert.True(t, err != nil || got.Effect.Blocks(), "%+v", got)
				return
			}
			require.ErrorIs(t, err, c.want, "it came out as %+v", got)
			assert.Zero(t, got)
			assert.Contains(t, err.Error(), "hook tested")
			for policy, want := range map[hook.FailurePolicy]hook.Effect{
				hook.FailDefault: hook.Deny, hook.FailDeny: hook.Deny, hook.FailAsk: hook.Ask, hook.FailAbstain: hook.Abstain,
			} {
				entry := decider.Entry()
				entry.OnFailure = policy
				v := hook.Merge(e.Name.Class(), []hook.Answer{{Entry: entry, Outcome: hook.Crashed, Err: err.Error()}}, hook.Abstain)
				assert.Equal(t, want, v.Effect, "with policy %q", policy)
			}
		})
	}
}

func TestContextEnds(t *testing.T) {
	t.Parallel()
	c := ready(t, command.Hook{Shell: `sleep 100`}, nil)
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	_, err := c.Decide(ctx, event(t))
	require.ErrorIs(t, err, process.ErrTimedOut)
	_, err = c.Decide(ctx, event(t))
	require.ErrorIs(t, err, process.ErrTimedOut, "not even started")
}

func TestHandle(t *testing.T) {
	t.Parallel()
	r := runner(t)
	e := event(t)
	e.Name = hook.PostToolUse
	for text, want := range map[string]error{
		`echo whatever it says`:       nil,
		`exit 1`:                      command.ErrExit,
		`echo broken >&2; exit 2`:     command.ErrExit,
		`kill -KILL $$`:               process.ErrSignal,
		`head -c 3000000 /dev/zero`:   nil,
		`echo '{"effect":"nothing"}'`: nil,
	} {
		err := ready(t, command.Hook{Shell: text, On: []string{"post_tool_use"}}, &command.Options{Runner: r}).Handle(t.Context(), e)
		if want == nil {
			assert.NoError(t, err, text)
		} else {
			assert.ErrorIs(t, err, want, text)
		}
	}
}

func TestWhatAHookGets(t *testing.T) {
	t.Parallel()
	e := event(t)
	o := &command.Options{Environ: []string{
		"PATH=/usr/bin:relative::/bin:.", "HOME=/home/u", "LC_ALL=C", "LD_PRELOAD=/evil.so", "BASH_ENV=/evil", "ENV=/evil",
		"GIT_DIR=/evil", "PYTHONPATH=/evil", "NODE_OPTIONS=--evil", "PERL5OPT=-evil", "RUBYOPT=-evil", "PROMPT_COMMAND=evil",
		"ANTHROPIC_API_KEY=secret", "GRAPNEL_TOKEN=secret", "ASKED=for", "GIT_TRACE=1", "GRAPNEL_HOPS=99",
	}}
	report, err := ready(t, command.Hook{Shell: "cat; echo; pwd; env", Env: []string{"ASKED", "GIT_TRACE", "ABSENT"}}, o).Test(t.Context(), e)
	require.ErrorIs(t, err, command.ErrAnswer, "what it prints is no decision")
	stdin, rest, ok := strings.Cut(string(report.Stdout), "\n")
	require.True(t, ok)

	got, err := cloudevent.Unmarshal([]byte(stdin))
	require.NoError(t, err)
	assert.Equal(t, e.ID, got.ID)
	assert.Equal(t, e.Data, got.Data)
	assert.Equal(t, string(e.Data.Tool.Input), string(got.Data.Tool.Input), "byte for byte")

	lines := strings.Split(strings.TrimSpace(rest), "\n")
	assert.Equal(t, e.Data.CWD, lines[0])
	env := map[string]string{}
	for _, line := range lines[1:] {
		name, value, _ := strings.Cut(line, "=")
		env[name] = value
	}
	for name, want := range map[string]string{
		"GRAPNEL_EVENT": "pre_tool_use", "GRAPNEL_EVENT_ID": "event-1", "GRAPNEL_CAUSATION_ID": "event-1", "GRAPNEL_CORRELATION_ID": "turn-1",
		"GRAPNEL_HOPS": "1", "GRAPNEL_ANCESTRY": e.Ancestry("tested"), "GRAPNEL_SESSION_ID": "session-1", "GRAPNEL_AGENT": "claude-code", "GRAPNEL_NATIVE_EVENT": "PreToolUse",
		"GRAPNEL_CWD": e.Data.CWD, "GRAPNEL_TOOL_NAME": "Bash", "GRAPNEL_TOOL_KIND": "shell", "GRAPNEL_TOOL_INPUT": string(e.Data.Tool.Input),
		"GRAPNEL_TOOL_CALL_ID": "call-1", "GRAPNEL_SUBJECT": "Bash",
		"PATH": "/usr/bin:/bin", "HOME": "/home/u", "LC_ALL": "C", "ASKED": "for", "GIT_TRACE": "1",
	} {
		assert.Equal(t, want, env[name], name)
		delete(env, name)
	}
	assert.NotEmpty(t, env["GRAPNEL_RUN"])
	for _, name := range []string{"GRAPNEL_RUN", "PWD", "OLDPWD", "_", "SHLVL"} { // the shell's own
		delete(env, name)
	}
	assert.Empty(t, env, "and nothing else")
}

func TestWorkspaceBeforeDirectory(t *testing.T) {
	t.Parallel()
	e := event(t)
	e.Data.Workspace = t.TempDir()
	r := runner(t)
	report, _ := ready(t, command.Hook{Shell: "pwd"}, &command.Options{Runner: r}).Test(t.Context(), e)
	assert.Equal(t, e.Data.Workspace+"\n", string(report.Stdout))
	assert.Equal(t, e.Data.Workspace, report.Dir)

	e.Data.Workspace = "relative"
	_, err := ready(t, command.Hook{Shell: "pwd"}, &command.Options{Runner: r}).Decide(t.Context(), e)
	require.ErrorIs(t, err, command.ErrFeed)
	e.Data.Workspace = "/no/such/directory"
	_, err = ready(t, command.Hook{Shell: "true"}, &command.Options{Runner: r}).Decide(t.Context(), e)
	require.ErrorIs(t, err, process.ErrDir)
}

func TestArguments(t *testing.T) {
	t.Parallel()
	e := event(t)
	e.Data.Prompt = "-v $(id)\n'\""
	script := filepath.Join(t.TempDir(), "show")
	require.NoError(t, os.WriteFile(script, []byte("#!/bin/sh\nprintf '[%s]' \"$@\"\n"), 0o755))
	report, err := ready(t, command.Hook{Command: []string{
		script, "--strict", "{{event}}", "{{ tool.name }}", "{{tool.kind}}", "{{tool.input.command}}", "{{tool.input.n}}",
		"{{tool.input.deep.list}}", "{{tool.input.deep.empty}}", "{{session}}", "{{agent}}", "{{cwd}}", "{{event.id}}", "--", "{{prompt}}", "{{tool.input}}",
	}}, nil).Test(t.Context(), e)
	require.ErrorIs(t, err, command.ErrAnswer)
	want := []string{
		"--strict", "pre_tool_use", "Bash", "shell", "ls -l", "1.50", "[1, 2]", "", "session-1", "claude-code", e.Data.CWD,
		"event-1", "--", e.Data.Prompt, string(e.Data.Tool.Input),
	}
	assert.Equal(t, "["+strings.Join(want, "][")+"]", string(report.Stdout))
	assert.Equal(t, append([]string{script}, want...), report.Command)
}

func TestLargeValues(t *testing.T) {
	t.Parallel()
	r := runner(t)
	e := event(t)
	big := strings.Repeat("x", 300_000)
	e.Data.Tool.Input = json.RawMessage(`{"content":"` + big + `"}`)
	e.Data.Prompt = "a\x00b"

	report, err := ready(t, command.Hook{Shell: `test "$GRAPNEL_TOOL_NAME" = Bash && test $(wc -c) -gt 300000 || exit 2`}, &command.Options{Runner: r}).Test(t.Context(), e)
	require.NoError(t, err, "a hook that reads stdin has it all")
	assert.Equal(t, hook.Abstain, report.Decision.Effect)
	assert.Equal(t, []string{"GRAPNEL_TOOL_INPUT", "GRAPNEL_PROMPT"}, report.Omitted)
	assert.Contains(t, report.EnvNames, "GRAPNEL_TOOL_INPUT_TRUNCATED")

	_, err = ready(t, command.Hook{Shell: `echo "$GRAPNEL_TOOL_INPUT" | grep -q secret && exit 2; exit 0`}, &command.Options{Runner: r}).Decide(t.Context(), e)
	require.ErrorIs(t, err, command.ErrFeed, "a check that would see nothing is not run")
	_, err = ready(t, command.Hook{Shell: `echo "${GRAPNEL_PROMPT}"`}, &command.Options{Runner: r}).Decide(t.Context(), e)
	require.ErrorIs(t, err, command.ErrFeed)

	d, err := ready(t, command.Hook{Shell: `test -z "$GRAPNEL_TOOL_INPUT_TRUNCATED" || { echo too large >&2; exit 2; }; echo "$GRAPNEL_TOOL_INPUT" >/dev/null`},
		&command.Options{Runner: r}).Decide(t.Context(), e)
	require.NoError(t, err, "one that knows is")
	assert.Equal(t, hook.Decision{Effect: hook.Deny, Reason: "too large"}, d)

	_, err = ready(t, command.Hook{Command: []string{"echo", "{{tool.input.content}}"}}, &command.Options{Runner: r}).Decide(t.Context(), e)
	require.ErrorIs(t, err, process.ErrTooLong)
	_, err = ready(t, command.Hook{Command: []string{"echo", "{{prompt}}"}}, &command.Options{Runner: r}).Decide(t.Context(), e)
	require.ErrorIs(t, err, command.ErrTemplate)
}

func TestTrace(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	var traced []command.Execution
	o := &command.Options{
		Runner:  runner(t),
		Environ: append(os.Environ(), "ASKED=the-secret-value"),
		Trace: func(x command.Execution) {
			mu.Lock()
			defer mu.Unlock()
			traced = append(traced, x)
		},
	}
	e := event(t)
	ask := func(h command.Hook, e hook.Event) command.Execution {
		h.Env = []string{"ASKED"}
		_, _ = ready(t, h, o).Test(t.Context(), e)
		mu.Lock()
		defer mu.Unlock()
		last := traced[len(traced)-1]
		b, err := json.Marshal(last)
		require.NoError(t, err)
		assert.NotContains(t, string(b), "the-secret-value")
		assert.NotContains(t, string(b), "ls -l", "nothing of the event's input")
		assert.False(t, last.Started.IsZero())
		assert.Positive(t, last.DurationMS)
		return last
	}
	got := ask(command.Hook{Name: "first", Shell: `printf 'looking \033[1mclosely' >&2; setsid -f sleep 100; echo '{"effect":"allow","reason":"ok"}'`}, e)
	assert.Equal(t, "first", got.Hook)
	assert.Equal(t, "event-1", got.EventID)
	assert.Equal(t, "pre_tool_use.bash", got.Event)
	assert.Equal(t, command.Decided, got.Outcome)
	assert.Equal(t, hook.Allow, *got.Effect)
	assert.Equal(t, "looking closely", got.Stderr)
	assert.Equal(t, 1, got.Leftover)
	assert.Equal(t, process.Supervised, got.Confinement)
	assert.Empty(t, got.Error)

	assert.Equal(t, command.Garbled, ask(command.Hook{Shell: "echo x"}, e).Outcome)
	failed := ask(command.Hook{Shell: "echo why >&2; exit 7"}, e)
	assert.Equal(t, command.Failed, failed.Outcome)
	assert.Equal(t, 7, failed.ExitCode)
	assert.Contains(t, failed.Error, "exit code 7: why")
	assert.Equal(t, command.TimedOut, ask(command.Hook{Shell: "sleep 100", Timeout: hook.Duration(50 * time.Millisecond)}, e).Outcome)
	killed := ask(command.Hook{Shell: "kill -KILL $$"}, e)
	assert.Equal(t, "SIGKILL", killed.Signal)
	assert.Equal(t, command.Failed, killed.Outcome)
	missing := e
	missing.Data.CWD = "/no/such/directory"
	assert.Equal(t, command.NotRun, ask(command.Hook{Shell: "true"}, missing).Outcome)
	e.Name = hook.PostToolUse
	assert.Equal(t, command.Handled, ask(command.Hook{Shell: "true"}, e).Outcome)
}
