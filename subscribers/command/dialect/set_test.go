package dialect_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
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
	"github.com/grapnel-dev/grapnel/subscribers/command/dialect"
)

// toy is a dialect of as few words as there can be.
func toy() *dialect.Dialect {
	return &dialect.Dialect{
		Name:  "toy",
		Agent: "toy-agent",
		Files: []dialect.File{
			{Path: ".toy.json", Source: trust.Workspace},
			{Path: "~/.toy.json", Source: trust.User, Own: true},
		},
		Vocabulary: dialect.Vocabulary{
			Events: []dialect.EventName{
				{Canonical: hook.PreToolUse, Name: "before", Blocks: true},
				{Canonical: hook.PostToolUse, Name: "after"},
				{Canonical: hook.SessionStart, Name: "start"},
			},
			Tools:  []dialect.ToolName{{Tool: dialect.ToolShell, Name: "sh"}, {Tool: dialect.ToolWrite, Name: "put"}},
			Fields: []dialect.FieldName{{Tool: dialect.ToolWrite, Field: dialect.FieldPath, Name: "where"}},
		},
		Timeout: 10 * time.Second, Rewrites: true, Retries: 3,
		Read: func(text []byte, from dialect.Origin) ([]dialect.Hook, []dialect.Problem) {
			r, o := dialect.NewReading(text, from)
			for _, h := range o.Objects("hooks") {
				made := dialect.Hook{Shell: h.String("run"), Events: h.Strings("on"), Prompt: h.String("prompt"), URL: h.String("url")}
				switch {
				case made.Prompt != "":
					made.Type = dialect.TypePrompt
				case made.URL != "":
					made.Type = dialect.TypeHTTP
				}
				h.Extras(&made)
				if tool := h.String("tool"); tool != "" {
					made.Matcher = tool
					made.Matches = dialect.MatchNames(func(name string) bool { return name == tool })
				}
				r.Add(h, made)
			}
			return r.Hooks, r.Problems
		},
		Feed: func(h dialect.Hook, c *dialect.Call) (dialect.Feed, error) {
			stdin, err := json.Marshal(map[string]any{"event": c.Name, "tool": c.Tool, "input": c.ToolInput(), "data": c.Data})
			return dialect.Feed{Shell: h.Shell, Stdin: stdin, Env: []string{"INPUT=" + string(c.Input)}}, err
		},
		Answer: func(_ dialect.Hook, _ *dialect.Call, o dialect.Output) (dialect.Answer, error) {
			var a dialect.Answer
			switch o.ExitCode {
			case 0:
			case 2:
				return dialect.Answer{Effect: hook.Deny, Reason: string(o.Stderr), End: true}, nil
			case 3:
				return dialect.Answer{Effect: hook.Deny, Reason: "again", Retry: true}, nil
			default:
				return a, fmt.Errorf("%w with exit code %d", dialect.ErrFailed, o.ExitCode)
			}
			if len(o.Stdout) > 0 && json.Unmarshal(o.Stdout, &a) != nil {
				return a, fmt.Errorf("%w: no JSON", dialect.ErrFailed)
			}
			return a, nil
		},
	}
}

// place is a home directory and a workspace.
type place struct {
	t         *testing.T
	home, dir string
	runner    *process.Runner
}

func newPlace(t *testing.T) *place {
	t.Helper()
	base, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	p := &place{t: t, home: filepath.Join(base, "home"), dir: filepath.Join(base, "work")}
	require.NoError(t, os.MkdirAll(p.home, 0o700))
	require.NoError(t, os.MkdirAll(p.dir, 0o700))
	p.runner = process.New(&process.Options{Supervisor: []string{"/proc/self/exe", "supervise"}})
	t.Cleanup(func() { _ = p.runner.Close() })
	return p
}

// user writes the person's own configuration: hooks, JSON.
func (p *place) user(hooks ...string) {
	p.t.Helper()
	require.NoError(p.t, os.WriteFile(filepath.Join(p.home, ".toy.json"), []byte(`{"hooks":[`+strings.Join(hooks, ",")+`]}`), 0o600))
}

func (p *place) set(o dialect.Options) *dialect.Set {
	p.t.Helper()
	o.Home, o.Runner, o.Environ = p.home, p.runner, []string{"PATH=/usr/bin:/bin"}
	s, err := dialect.NewSet(toy(), &o)
	require.NoError(p.t, err)
	p.t.Cleanup(func() { assert.NoError(p.t, s.Close()) })
	return s
}

func (p *place) event(tool, input string) hook.Event {
	return hook.Event{
		ID: "e1", Source: "/h/gemini-cli", Name: hook.PreToolUse, Subject: tool, Time: time.Now(), SessionID: "s1",
		Data: hook.Data{
			CWD: p.dir, Workspace: p.dir, Tool: &hook.Tool{Name: tool, Kind: hook.KindShell, Input: json.RawMessage(input)},
			Native: hook.Native{Agent: "gemini-cli", Event: "BeforeTool"},
		},
	}
}

func TestAHookOfTheDialectAnswersForAnotherAgentsTool(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.user(`{"on":["before"],"tool":"sh","run":"grep -q '\"tool\":\"sh\"' && { echo no >&2; exit 2; }"}`)
	d, err := p.set(dialect.Options{}).Decide(t.Context(), p.event("run_shell_command", `{"command":"ls"}`))
	require.NoError(t, err)
	assert.Equal(t, hook.Deny, d.Effect)
	assert.Equal(t, "no\n", d.Reason)
}

func TestAFailureIsGoneOnFromUnlessTheConfigurationSaysOtherwise(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.user(`{"on":["before"],"name":"broken","run":"exit 1"}`)
	d, err := p.set(dialect.Options{}).Decide(t.Context(), p.event("Bash", `{}`))
	require.NoError(t, err)
	assert.Equal(t, hook.Abstain, d.Effect)
	assert.Contains(t, d.Reason, "hook broken: hook failed with exit code 1", "what went wrong is said")

	d, err = p.set(dialect.Options{OnFailure: hook.FailDeny}).Decide(t.Context(), p.event("Bash", `{}`))
	require.NoError(t, err)
	assert.Equal(t, hook.Deny, d.Effect)
}

func TestAHookThatCannotBeGivenTheEventIsNotGoneOnFrom(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.user(`{"on":["before"],"run":"test -z \"$INPUT\""}`)
	_, err := p.set(dialect.Options{}).Decide(t.Context(), p.event("Bash", `{"command":"`+strings.Repeat("x", 200_000)+`"}`))
	assert.ErrorIs(t, err, dialect.ErrFeed)
}

func TestRewritesComeBackInTheAgentsOwnWords(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.user(`{"on":["before"],"tool":"put","run":"printf '%s' '{\"Rewrite\":{\"path\":\"/a\",\"where\":\"/b\",\"content\":\"x\"}}'"}`)
	e := p.event("write_file", `{"path":"/a","content":"x"}`)
	e.Data.Tool.Kind = hook.KindFileWrite
	d, err := p.set(dialect.Options{}).Decide(t.Context(), e)
	require.NoError(t, err)
	assert.JSONEq(t, `{"path":"/b","content":"x"}`, string(d.Rewrite))
}

func TestAnAgentsOwnFileIsNotRunTwice(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.user(`{"on":["before"],"run":"exit 2"}`)
	s := p.set(dialect.Options{})
	e := p.event("sh", `{}`)
	e.Data.Native.Agent = "toy-agent"
	plan, ok := s.Plan(e)
	require.True(t, ok)
	assert.Empty(t, plan.Steps)
	require.Len(t, plan.Skipped, 1)
	assert.Contains(t, plan.Skipped[0].Reason, "runs it itself")
}

func TestHooksComeAfterWhatTheyDependOn(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.user(
		`{"on":["before"],"name":"last","after":["first","second"],"run":"echo last >>log"}`,
		`{"on":["before"],"name":"second","after":["first"],"run":"echo second >>log"}`,
		`{"on":["before"],"name":"first","run":"echo first >>log"}`,
		`{"on":["before"],"name":"orphan","after":["bad"],"run":"echo orphan >>log"}`,
		`{"on":["before"],"name":"bad","run":"exit 1"}`,
		`{"on":["before"],"name":"a","after":["b"],"run":"echo a >>log"}`,
		`{"on":["before"],"name":"b","after":["a"],"run":"echo b >>log"}`,
	)
	sum := p.set(dialect.Options{}).Run(t.Context(), p.event("Bash", `{}`))
	log, err := os.ReadFile(filepath.Join(p.dir, "log"))
	require.NoError(t, err)
	assert.Equal(t, "first\nsecond\nlast\n", string(log))
	assert.ErrorIs(t, sum.Err, dialect.ErrConfig, "hooks that wait for each other")
}

func TestPureHooksAreNotRunAgainForTheSameInput(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.user(`{"on":["before"],"cache":"1h","run":"echo x >>log; echo no >&2; exit 2"}`)
	var runs []command.Execution
	s := p.set(dialect.Options{Trace: func(x command.Execution) { runs = append(runs, x) }})
	for i := range 3 {
		e := p.event("Bash", `{"command":"ls"}`)
		e.ID = fmt.Sprint("e", i)
		d, err := s.Decide(t.Context(), e)
		require.NoError(t, err)
		assert.Equal(t, hook.Deny, d.Effect)
	}
	_, err := s.Decide(t.Context(), p.event("Bash", `{"command":"pwd"}`))
	require.NoError(t, err)
	log, err := os.ReadFile(filepath.Join(p.dir, "log"))
	require.NoError(t, err)
	assert.Equal(t, "x\nx\n", string(log), "one run for each input")
	assert.EqualValues(t, 2, s.Metrics()[0].Cached)
	require.Len(t, runs, 4)
	for i, x := range runs {
		assert.Equal(t, i == 1 || i == 2, x.Cached)
		assert.Equal(t, hook.Deny, *x.Effect, "what it said stands in the trace each time")
		assert.Equal(t, "no\n", x.Reason)
	}
}

func TestBackgroundHooksAreNotWaitedFor(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	fifo := filepath.Join(p.dir, "gate")
	p.user(`{"on":["before"],"async":true,"run":"mkfifo gate; cat gate >/dev/null; echo done >log; exit 2"}`)
	ended := make(chan command.Execution, 1)
	s := p.set(dialect.Options{Trace: func(x command.Execution) { ended <- x }})
	d, err := s.Decide(t.Context(), p.event("Bash", `{}`))
	require.NoError(t, err)
	assert.Equal(t, hook.Abstain, d.Effect)
	require.Eventually(t, func() bool { _, err := os.Stat(fifo); return err == nil }, 20*time.Second, time.Millisecond)
	require.NoError(t, os.WriteFile(fifo, []byte("go"), 0o600))
	x := <-ended
	assert.True(t, x.Async)
	assert.FileExists(t, filepath.Join(p.dir, "log"))
}

func TestRetriesAreCountedAndTheLastAnswerStands(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.user(`{"on":["before"],"run":"echo x >>log; exit 3"}`)
	d, err := p.set(dialect.Options{}).Decide(t.Context(), p.event("Bash", `{}`))
	require.NoError(t, err)
	assert.Equal(t, hook.Deny, d.Effect)
	log, err := os.ReadFile(filepath.Join(p.dir, "log"))
	require.NoError(t, err)
	assert.Equal(t, strings.Repeat("x\n", 4), string(log), "once and three times again")
}

func TestE7AHookDoesNotRunBecauseOfItself(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.user(`{"on":["before","after"],"name":"self","run":"true"}`)
	s := p.set(dialect.Options{})
	hooks, problems := s.Hooks("")
	require.Empty(t, problems)
	e := p.event("Bash", `{}`)
	e.Extensions = map[string]string{hook.AncestryExtension: "000000000000," + hook.Mark(hooks[0].ID())}
	_, err := s.Decide(t.Context(), e)
	assert.ErrorIs(t, err, command.ErrCircular)
	e = p.event("Bash", `{}`)
	e.Hops = hook.MaxHops + 1
	_, err = s.Decide(t.Context(), e)
	assert.ErrorIs(t, err, command.ErrCircular)

	s = p.set(dialect.Options{Budget: 5})
	for range 5 {
		_, err = s.Decide(t.Context(), p.event("Bash", `{}`))
		require.NoError(t, err)
	}
	_, err = s.Decide(t.Context(), p.event("Bash", `{}`))
	assert.ErrorIs(t, err, command.ErrCircular, "the budget of one session")
}

// TestANotificationIsNotHandledAgain is about hooks that must not run: an error
// would bring the event back, and every other hook would run once more.
func TestANotificationIsNotHandledAgain(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.user(`{"on":["after"],"name":"self","run":"true"}`, `{"on":["after"],"name":"other","run":"echo ran >>ran"}`)
	s := p.set(dialect.Options{})
	hooks, _ := s.Hooks("")
	e := p.event("Bash", `{}`)
	e.Name = hook.PostToolUse
	e.Extensions = map[string]string{hook.AncestryExtension: hook.Mark(hooks[0].ID())}
	require.NoError(t, s.Handle(t.Context(), e))
	assert.ErrorIs(t, s.Run(t.Context(), e).Err, command.ErrCircular)
	text, err := os.ReadFile(filepath.Join(p.dir, "ran"))
	require.NoError(t, err)
	assert.Equal(t, "ran\nran\n", string(text))
}

func TestA8EachRunIsItselfAnEvent(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.user(`{"on":["before"],"name":"good","run":"true"}`, `{"on":["before"],"name":"bad","run":"exit 9"}`)
	var mu sync.Mutex
	var got []hook.Event
	s := p.set(dialect.Options{Publish: func(e hook.Event) {
		mu.Lock()
		defer mu.Unlock()
		got = append(got, e)
	}})
	_, err := s.Decide(t.Context(), p.event("Bash", `{}`))
	require.NoError(t, err)
	require.Len(t, got, 4)
	var names []string
	for _, e := range got {
		names = append(names, string(e.Name)+" "+e.Data.Message)
		assert.Equal(t, "e1", e.CausationID)
		assert.Equal(t, 1, e.Hops)
		assert.NotEmpty(t, e.Extensions[hook.AncestryExtension])
	}
	assert.Equal(t, []string{
		"hook_execution_start good", "hook_execution_complete good", "hook_execution_start bad", "hook_execution_error bad",
	}, names)
	assert.Contains(t, string(got[3].Data.Native.Payload), "exit code 9")
}

func TestModelsAndEndpointsCanOnlyTightenAndTheirAbsenceIsNoPermission(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.user(`{"on":["before"],"prompt":"Is $TOOL_INPUT safe?"}`)
	_, err := p.set(dialect.Options{}).Decide(t.Context(), p.event("Bash", `{}`))
	assert.ErrorIs(t, err, dialect.ErrUnavailable)
	answer := dialect.Answer{Effect: hook.Allow, Rewrite: json.RawMessage(`{}`)}
	s := p.set(dialect.Options{Ask: func(context.Context, dialect.Question) (dialect.Answer, error) { return answer, nil }})
	d, err := s.Decide(t.Context(), p.event("Bash", `{}`))
	require.NoError(t, err)
	assert.Equal(t, hook.Abstain, d.Effect, "an allow of a model is none")
	assert.Nil(t, d.Rewrite)
	answer = dialect.Answer{Effect: hook.Deny, Reason: "r"}
	d, err = s.Decide(t.Context(), p.event("Bash", `{}`))
	require.NoError(t, err)
	assert.Equal(t, hook.Deny, d.Effect)
}

func TestABadFileKeepsTheHooksThatItHad(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.user(`{"on":["before"],"run":"exit 2"}`)
	s := p.set(dialect.Options{})
	_, err := s.Decide(t.Context(), p.event("Bash", `{}`))
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(p.home, ".toy.json"), []byte(`{"hooks":[`), 0o600))
	d, err := s.Decide(t.Context(), p.event("Bash", `{}`))
	require.NoError(t, err)
	assert.Equal(t, hook.Deny, d.Effect)
	_, problems := s.Hooks(p.dir)
	assert.NotEmpty(t, problems)
}

func TestWorkspaceHooksDoNotRunUnapproved(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	require.NoError(t, os.WriteFile(filepath.Join(p.dir, ".toy.json"), []byte(`{"hooks":[{"on":["before"],"run":"touch ran; exit 2"}]}`), 0o600))
	d, err := p.set(dialect.Options{}).Decide(t.Context(), p.event("Bash", `{}`))
	require.NoError(t, err)
	assert.Equal(t, hook.Abstain, d.Effect)
	assert.NoFileExists(t, filepath.Join(p.dir, "ran"))
}

func TestRegisteredHooksCanBeFoundAndTakenOut(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	s := p.set(dialect.Options{})
	h := dialect.Hook{Name: "r", Events: []string{"before", "after"}, Shell: "exit 2"}
	require.NoError(t, s.Register(h))
	require.ErrorIs(t, s.Register(h), dialect.ErrConfig)
	require.ErrorIs(t, s.Register(dialect.Hook{Name: "x", Events: []string{"nothing"}}), dialect.ErrConfig)
	d, err := s.Decide(t.Context(), p.event("Bash", `{}`))
	require.NoError(t, err)
	assert.Equal(t, hook.Deny, d.Effect)
	assert.Equal(t, 1, s.Count())
	_, ok := s.Lookup("r")
	assert.True(t, ok)
	assert.Len(t, s.Registered("before"), 1)
	s.Clear("before")
	assert.Empty(t, s.Registered("before"))
	assert.Len(t, s.Registered(""), 1)
	assert.True(t, s.Unregister("r"))
	assert.False(t, s.Unregister("r"))
	d, err = s.Decide(t.Context(), p.event("Bash", `{}`))
	require.NoError(t, err)
	assert.Equal(t, hook.Abstain, d.Effect)
}
