package gohook_test

import (
	"context"
	"encoding/json"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/grapnel-dev/grapnel/bus"
	"github.com/grapnel-dev/grapnel/bus/bustest"
	"github.com/grapnel-dev/grapnel/bus/hook"
	"github.com/grapnel-dev/grapnel/bus/natsd"
	"github.com/grapnel-dev/grapnel/subscribers/gohook"
)

var (
	_ gohook.Bus = (*bus.Conn)(nil)
	_ gohook.Bus = (*bus.Gateway)(nil)
)

// answers is a Bus that says what the test wants, and keeps what it was given.
type answers struct {
	verdict hook.Verdict
	err     error
	mu      sync.Mutex
	events  []hook.Event
}

func (a *answers) Request(_ context.Context, e hook.Event) (hook.Verdict, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.events = append(a.events, e)
	return a.verdict, a.err
}

func (a *answers) Publish(ctx context.Context, e hook.Event) (hook.Receipt, error) {
	_, err := a.Request(ctx, e)
	return hook.Receipt{EventID: e.ID}, err
}

// TestB10FireWithoutBus runs the hooks of this process, in the Firer's session.
func TestB10FireWithoutBus(t *testing.T) {
	t.Parallel()
	var session, dir string
	m := manager(t, gohook.NewFunc(gohook.Spec{Name: "h", Events: []gohook.Event{gohook.SubagentStart}},
		func(_ context.Context, in gohook.Input, c *gohook.Context) (gohook.Output, error) {
			session, dir = in.SessionID+" "+c.SessionID, c.CWD
			return gohook.Block("one at a time"), nil
		}))
	f := gohook.NewFirer(m, "session-1", &gohook.FirerOptions{Context: &gohook.Context{CWD: "/home/dev"}})
	out, err := f.Fire(t.Context(), gohook.NewSubagentStart("", "a1", "explore", "look around"))
	require.NoError(t, err)
	assert.Equal(t, gohook.Block("one at a time"), out)
	assert.Equal(t, "session-1 session-1", session)
	assert.Equal(t, "/home/dev", dir)
	out, err = gohook.NewFirer(nil, "session-1", nil).Fire(t.Context(), gohook.NewSubagentStart("", "a1", "explore", "look around"))
	require.NoError(t, err)
	assert.Equal(t, gohook.Allow(), out)
}

// TestB10FireMergesTheStrictest of this process and the bus.
func TestB10FireMergesTheStrictest(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		local  gohook.Output
		effect hook.Effect
		runs   bool
		reason string
	}{
		{gohook.Allow(), hook.Abstain, true, ""},
		{gohook.Allow(), hook.Allow, true, ""},
		{gohook.Allow(), hook.Ask, false, "a person must be asked, and there is nobody here: bus"},
		{gohook.Allow(), hook.Deny, false, "bus"},
		{gohook.Allow(), hook.Halt, false, "the session is to end: bus"},
		{gohook.Allow(), hook.Effect(9), false, "bus"},
		{gohook.Allow(), hook.Effect(-1), false, "bus"},
		{gohook.Block("local"), hook.Allow, false, "local"},
		{gohook.Block("local"), hook.Deny, false, "local"},
	} {
		a := &answers{verdict: hook.Verdict{Effect: c.effect, Reason: "bus", Context: "from the bus"}}
		m := manager(t, gohook.NewFunc(preToolUse("h"), says(c.local.WithContext("from here"))))
		out, err := gohook.NewFirer(m, "s", &gohook.FirerOptions{Bus: a}).Fire(t.Context(), bash(t, "ls"))
		require.NoError(t, err)
		assert.Equal(t, c.runs, out.ContinueExecution, "%+v", c)
		assert.Equal(t, c.reason, out.StopReason)
		if c.local.ContinueExecution {
			assert.Equal(t, "from here\nfrom the bus", out.AdditionalContext)
		} else {
			assert.Empty(t, a.events, "what is blocked here is no question for anybody else")
		}
	}
}

// TestB10FireWhenTheBusFails keeps tools and prompts from running, and nothing
// else.
func TestB10FireWhenTheBusFails(t *testing.T) {
	t.Parallel()
	for e, in := range inputs() {
		a := &answers{err: bus.ErrNoGateway}
		out, err := gohook.NewFirer(nil, "s", &gohook.FirerOptions{Bus: a}).Fire(t.Context(), in)
		assert.ErrorIs(t, err, gohook.ErrBus, "%s", e)
		assert.ErrorIs(t, err, bus.ErrNoGateway, "%s", e)
		gate := e == gohook.PreToolUse || e == gohook.UserPromptSubmit
		assert.Equal(t, !gate, out.ContinueExecution, "%s", e)
		assert.Equal(t, gate, out.StopReason != "", "%s", e)
		assert.Len(t, a.events, 1)
	}
	// An event that cannot be put on the bus was not approved by it.
	out, err := gohook.NewFirer(nil, "s", &gohook.FirerOptions{Bus: &answers{}}).Fire(t.Context(), gohook.NewPreToolUse("s", "Bash", json.RawMessage(`{`)))
	assert.ErrorIs(t, err, gohook.ErrBus)
	assert.False(t, out.ContinueExecution)
	out, err = gohook.NewFirer(nil, "s", &gohook.FirerOptions{Bus: &answers{}}).Fire(t.Context(), gohook.NewPreToolUse("s", "", nil))
	assert.ErrorIs(t, err, gohook.ErrInput)
	assert.False(t, out.ContinueExecution)
}

// TestB10WhatCannotBlockIsStillTold to the bus.
func TestB10WhatCannotBlockIsStillTold(t *testing.T) {
	t.Parallel()
	for e, in := range inputs() {
		a := &answers{}
		m := manager(t, gohook.NewFunc(gohook.Spec{Name: "h", Events: gohook.Events()}, says(gohook.Block("no"))))
		out, err := gohook.NewFirer(m, "s", &gohook.FirerOptions{Bus: a}).Fire(t.Context(), in)
		require.NoError(t, err)
		assert.False(t, out.ContinueExecution)
		assert.Equal(t, e.CanBlock(), len(a.events) == 0, "%s", e)
	}
}

// TestB10FireWaitsNotForEver for the bus.
func TestB10FireWaitsNotForEver(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		out, err := gohook.NewFirer(nil, "s", &gohook.FirerOptions{Bus: silent{}}).Fire(t.Context(), bash(t, "ls"))
		assert.Equal(t, gohook.DefaultTimeout, time.Since(began))
		assert.ErrorIs(t, err, context.DeadlineExceeded)
		assert.False(t, out.ContinueExecution)
	})
}

type silent struct{}

func (silent) Request(ctx context.Context, _ hook.Event) (hook.Verdict, error) {
	<-ctx.Done()
	return hook.Verdict{}, ctx.Err()
}

func (s silent) Publish(ctx context.Context, e hook.Event) (hook.Receipt, error) {
	_, err := s.Request(ctx, e)
	return hook.Receipt{}, err
}

// TestB10Rewrites has everybody approve what runs in the end.
func TestB10Rewrites(t *testing.T) {
	t.Parallel()
	input := func(command string) json.RawMessage { return json.RawMessage(`{"command":"` + command + `"}`) }
	// The hook here makes a into b, dislikes d, and makes e into f.
	m := manager(t, gohook.NewFunc(preToolUse("h"), func(_ context.Context, in gohook.Input, _ *gohook.Context) (gohook.Output, error) {
		raw, _ := in.ToolInput()
		switch string(raw) {
		case `{"command":"a"}`:
			return gohook.Allow().WithUpdatedInput(input("b")).WithContext("changed"), nil
		case `{"command":"d"}`:
			return gohook.Block("not d"), nil
		case `{"command":"e"}`:
			return gohook.Allow().WithUpdatedInput(input("f")), nil
		case `{"command":"same"}`:
			return gohook.Allow().WithUpdatedInput(json.RawMessage(`{ "command": "same" }`)), nil
		case `{"command":"fails"}`:
			return gohook.Output{}, assert.AnError
		}
		return gohook.Allow(), nil
	}))
	for _, c := range []struct {
		from, bus, want string // want is empty where it is blocked
		why             string
	}{
		{"x", "", "", ""}, {"a", "", "b", ""}, {"a", "c", "c", ""}, {"a", "d", "", "not d"}, {"a", "same", "same", ""},
		{"a", "e", "", "do not fit together"}, {"a", "a", "", "do not fit together"}, {"x", "fails", "", "hook h failed"},
	} {
		a := &answers{}
		if c.bus != "" {
			a.verdict.Input = input(c.bus)
		}
		out, err := gohook.NewFirer(m, "s", &gohook.FirerOptions{Bus: a}).Fire(t.Context(), gohook.NewPreToolUse("s", "Bash", input(c.from)))
		assert.Equal(t, c.bus == "fails", err != nil)
		assert.Equal(t, c.why == "", out.ContinueExecution, "%+v: %s", c, out.StopReason)
		assert.Contains(t, out.StopReason, c.why)
		if c.why == "" && c.want != "" {
			assert.Equal(t, string(input(c.want)), string(out.UpdatedInput), "%+v", c)
		}
		require.Len(t, a.events, 1)
		asked := c.from
		if c.from == "a" {
			asked = "b"
			assert.Equal(t, "changed", out.AdditionalContext, "said once")
		}
		assert.Equal(t, string(input(asked)), string(a.events[0].Data.Tool.Input), "the bus decides on what the hooks here left")
	}
}

// TestB10EventOfAnInput has an input come back as it was when the event is read
// by a Subscriber.
func TestB10EventOfAnInput(t *testing.T) {
	t.Parallel()
	cause := &hook.Event{ID: "cause", CorrelationID: "turn", TraceParent: "00-x", Hops: 3}
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.SampledFrom([]string{"Bash", "mcp__x__y", "日本", "a b", "x"})
		in := rapid.SampledFrom([]gohook.Input{
			gohook.NewPreToolUse("s", text.Draw(t, "tool"), json.RawMessage(`{"a":[1,2]}`)),
			gohook.NewPostToolUse("s", text.Draw(t, "tool"), json.RawMessage(`null`)),
			gohook.NewPostToolUseFailure("s", text.Draw(t, "tool"), "exit 1"),
			gohook.NewUserPromptSubmit("s", text.Draw(t, "prompt")),
			gohook.NewStop("s"), gohook.NewPreCompact("s"), gohook.NewSessionStart("s"), gohook.NewSessionEnd("s"),
			gohook.NewSubagentStart("s", text.Draw(t, "id"), text.Draw(t, "type"), text.Draw(t, "description")),
			gohook.NewSubagentStop("s", text.Draw(t, "id"), true, ""),
			gohook.NewSubagentStop("s", text.Draw(t, "id"), false, text.Draw(t, "error")),
		}).Draw(t, "input")
		in.Metadata = json.RawMessage(`{"mine":true}`)
		a := &answers{}
		f := gohook.NewFirer(nil, "s", &gohook.FirerOptions{
			Bus: a, Source: "/laptop/my-agent", Cause: cause, Context: &gohook.Context{CWD: "/home/dev"},
		})
		_, err := f.Fire(context.Background(), in)
		require.NoError(t, err)
		require.Len(t, a.events, 1)
		e := a.events[0]
		assert.NotEmpty(t, e.ID)
		assert.Equal(t, "/laptop/my-agent", e.Source)
		assert.Equal(t, "my-agent", e.Data.Native.Agent)
		assert.Equal(t, string(in.Event()), e.Data.Native.Event)
		assert.Equal(t, []any{"cause", "turn", "00-x", 4}, []any{e.CausationID, e.CorrelationID, e.TraceParent, e.Hops})
		assert.Equal(t, "/home/dev", e.Data.CWD)
		assert.Contains(t, string(e.Data.Native.Payload), `"metadata":{"mine":true}`)

		var back gohook.Input
		m := gohook.NewManager(nil)
		require.NoError(t, m.Register(gohook.NewFunc(gohook.Spec{Name: "h", Events: gohook.Events()},
			func(_ context.Context, in gohook.Input, _ *gohook.Context) (gohook.Output, error) {
				back = in
				return gohook.Allow(), nil
			})))
		s, err := gohook.NewSubscriber("h", m, nil)
		require.NoError(t, err)
		require.NoError(t, s.Handle(context.Background(), e))
		back.Metadata, in.Metadata = nil, nil
		assert.Equal(t, in, back)
	})
}

// TestB10SubagentStop has a failure stay one on the bus, with a reason or
// without, and a success one.
func TestB10SubagentStop(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		success       bool
		reason, wants string
	}{{true, "", ""}, {true, "a warning", ""}, {false, "lost", "lost"}, {false, "", "the sub-agent failed and gave no error"}} {
		a := &answers{}
		_, err := gohook.NewFirer(nil, "s", &gohook.FirerOptions{Bus: a}).Fire(t.Context(), gohook.NewSubagentStop("s", "a1", c.success, c.reason))
		require.NoError(t, err)
		assert.Equal(t, c.wants, a.events[0].Data.Error)
	}
}

// TestB10FireOnTheBus fires a sub-agent's start, a tool and a notification over a
// real bus.
func TestB10FireOnTheBus(t *testing.T) {
	t.Parallel()
	journal := &bustest.Journal{}
	b := bustest.Start(t, nil, &bus.GatewayOptions{Journal: journal})
	b.Decider(hook.Entry{Name: "limit", Filter: "subagent_start"}, func(_ context.Context, e hook.Event) (hook.Decision, error) {
		return hook.Decision{Effect: hook.Deny, Reason: "no more than three of " + e.Data.Subagent.Type + " for: " + e.Data.Message}, nil
	})
	b.Decider(hook.Entry{Name: "quiet", Filter: "pre_tool_use.bash", Rewrites: true}, func(_ context.Context, e hook.Event) (hook.Decision, error) {
		if e.Data.Tool.Kind != hook.KindShell {
			return hook.Decision{Effect: hook.Deny, Reason: "a shell command that says it is none"}, nil
		}
		return hook.Decision{Rewrite: json.RawMessage(`{"command":"npm install --no-fund"}`), Context: "made quiet"}, nil
	})
	var local []string
	m := manager(t, gohook.NewFunc(gohook.Spec{Name: "h", Events: gohook.Events()}, func(_ context.Context, in gohook.Input, _ *gohook.Context) (gohook.Output, error) {
		raw, _ := in.ToolInput()
		local = append(local, string(in.Event())+string(raw))
		return gohook.Allow(), nil
	}))
	ctx, cancel := context.WithTimeout(t.Context(), 60*time.Second)
	defer cancel()
	for name, way := range map[string]gohook.Bus{"connection": b.Connect(natsd.Agent), "gateway": b.Gateway} {
		local = nil
		f := gohook.NewFirer(m, "session-1", &gohook.FirerOptions{Bus: way})
		out, err := f.Fire(ctx, gohook.NewSubagentStart("", "a1", "explore", "look around"))
		require.NoError(t, err, name)
		assert.Equal(t, gohook.Block("no more than three of explore for: look around"), out, name)

		out, err = f.Fire(ctx, bash(t, "npm install"))
		require.NoError(t, err, name)
		assert.Equal(t, gohook.Allow().WithContext("made quiet").WithUpdatedInput(json.RawMessage(`{"command":"npm install --no-fund"}`)), out, name)

		out, err = f.Fire(ctx, gohook.NewPostToolUse("", "Bash", json.RawMessage(`"done"`)))
		require.NoError(t, err, name)
		assert.Equal(t, gohook.Allow(), out, name)
		assert.Equal(t, []string{
			"SubagentStart", `PreToolUse{"command":"npm install"}`, `PreToolUse{"command":"npm install --no-fund"}`, "PostToolUse",
		}, local, name)
	}
	verdicts := 0
	for _, r := range journal.Records() {
		if r.Kind == hook.RecordVerdict {
			verdicts++
		}
	}
	assert.Equal(t, 4, verdicts, "what was fired is on record")
}

func TestB10ToolKinds(t *testing.T) {
	t.Parallel()
	for tool, want := range map[string]hook.Kind{
		"Bash": hook.KindShell, "PowerShell": hook.KindShell, "Read": hook.KindFileRead, "Write": hook.KindFileWrite, "Edit": hook.KindFileEdit,
		"MultiEdit": hook.KindFileEdit, "Glob": hook.KindSearch, "WebFetch": hook.KindWeb, "Task": hook.KindSubagent, "mcp__a__b": hook.KindMCP,
		"bash": hook.KindOther, "": hook.KindOther,
	} {
		assert.Equal(t, want, gohook.ToolKind(tool), tool)
	}
}
