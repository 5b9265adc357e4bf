package gohook_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/grapnel-dev/grapnel/bus/hook"
	"github.com/grapnel-dev/grapnel/subscribers/gohook"
)

func subscriber(t testing.TB, m *gohook.Manager, o *gohook.SubscriberOptions) *gohook.Subscriber {
	t.Helper()
	s, err := gohook.NewSubscriber("go-hooks", m, o)
	require.NoError(t, err)
	return s
}

// event is one of a canonical event with everything that the dialect reads.
func event(n hook.Name) hook.Event {
	e := hook.Event{
		ID: "e1", Source: "/host/gemini-cli", Name: n, Subject: "run_shell_command", SessionID: "s", Hops: 2,
		Time: time.Date(2026, 11, 20, 12, 0, 0, 0, time.FixedZone("", 3600)),
		Data: hook.Data{
			CWD: "/home/dev/shop", Prompt: "hello", Message: "look around", Error: "lost", Result: json.RawMessage(`"done"`),
			Tool:     &hook.Tool{Name: "run_shell_command", Kind: hook.KindShell, Input: json.RawMessage(`{"command":"ls"}`), CallID: "c1"},
			Subagent: &hook.Subagent{ID: "a1", Type: "explore"},
			Native:   hook.Native{Agent: "gemini-cli", Event: "BeforeTool"},
		},
	}
	return e
}

// TestB3InputOfAnEvent has each canonical event read as what the document calls
// it.
func TestB3InputOfAnEvent(t *testing.T) {
	t.Parallel()
	want := map[gohook.Event]gohook.Data{
		gohook.PreToolUse:         gohook.PreToolUseData{ToolName: "Bash", ToolInput: json.RawMessage(`{"command":"ls"}`)},
		gohook.PostToolUse:        gohook.PostToolUseData{ToolName: "Bash", ToolResult: json.RawMessage(`"done"`)},
		gohook.PostToolUseFailure: gohook.PostToolUseFailureData{ToolName: "Bash", Error: "lost"},
		gohook.UserPromptSubmit:   gohook.UserPromptSubmitData{Prompt: "hello"},
		gohook.Stop:               gohook.StopData{},
		gohook.SubagentStart:      gohook.SubagentStartData{SubagentID: "a1", SubagentType: "explore", Description: "look around"},
		gohook.SubagentStop:       gohook.SubagentStopData{SubagentID: "a1", Error: "lost"},
		gohook.PreCompact:         gohook.PreCompactData{},
		gohook.SessionStart:       gohook.SessionStartData{},
		gohook.SessionEnd:         gohook.SessionEndData{},
	}
	var got gohook.Input
	var at gohook.Context
	m := manager(t, gohook.NewFunc(gohook.Spec{Name: "all", Events: gohook.Events()},
		func(_ context.Context, in gohook.Input, c *gohook.Context) (gohook.Output, error) {
			got, at = in, *c
			return gohook.Allow(), nil
		}))
	s := subscriber(t, m, &gohook.SubscriberOptions{
		ToolName: func(t hook.Tool) string { return map[hook.Kind]string{hook.KindShell: "Bash"}[t.Kind] },
		Env:      map[string]string{"TEAM": "web"},
	})
	for _, ev := range gohook.Events() {
		for _, n := range ev.Names() {
			got = gohook.Input{}
			e := event(n)
			if n.Blocking() {
				d, err := s.Decide(t.Context(), e)
				require.NoError(t, err)
				assert.Equal(t, hook.Decision{}, d, "%s: carry on is no grant", n)
			} else {
				require.NoError(t, s.Handle(t.Context(), e))
			}
			assert.Equal(t, want[ev], got.Data, "%s", n)
			assert.Equal(t, "s", got.SessionID)
			assert.Equal(t, e.Time.UTC(), got.Timestamp)
			metadata := map[string]any{
				"event_id": "e1", "source": "/host/gemini-cli", "agent": "gemini-cli", "native_event": "BeforeTool", "hops": 2.0,
			}
			if _, isTool := got.ToolName(); isTool {
				metadata["tool_name"], metadata["tool_kind"], metadata["tool_call_id"] = "run_shell_command", "shell", "c1"
			}
			var has map[string]any
			require.NoError(t, json.Unmarshal(got.Metadata, &has))
			assert.Equal(t, metadata, has, "%s", n)
			assert.Equal(t, gohook.Context{SessionID: "s", CWD: "/home/dev/shop", Env: map[string]string{"TEAM": "web"}}, at)
		}
	}
}

func TestB3EventsThatCannotBeGiven(t *testing.T) {
	t.Parallel()
	m := manager(t, gohook.NewFunc(gohook.Spec{Name: "all", Events: gohook.Events()}, says(gohook.Block("no"))))
	s := subscriber(t, m, &gohook.SubscriberOptions{ToolName: func(t hook.Tool) string {
		if t.Kind == hook.KindOther {
			return ""
		}
		return t.Name
	}})
	for _, ev := range []gohook.Event{gohook.PreToolUse, gohook.PostToolUse, gohook.PostToolUseFailure} {
		for _, n := range ev.Names() {
			noTool, noName := event(n), event(n)
			noTool.Data.Tool = nil
			noName.Data.Tool = &hook.Tool{Name: "strange", Kind: hook.KindOther}
			for _, e := range []hook.Event{noTool, noName} {
				_, err := s.Decide(t.Context(), e)
				assert.ErrorIs(t, err, gohook.ErrInput, "%s", n)
				assert.ErrorIs(t, s.Handle(t.Context(), e), gohook.ErrInput, "%s", n)
			}
		}
	}
	for _, n := range hook.Names() {
		if _, ok := gohook.EventOf(n); !ok {
			d, err := s.Decide(t.Context(), event(n))
			require.NoError(t, err)
			assert.Equal(t, hook.Decision{}, d, "%s is not the dialect's", n)
			require.NoError(t, s.Handle(t.Context(), event(n)))
		}
	}
	// A sub-agent's type may be all that an agent says of it.
	e := event(hook.SubagentStart)
	e.Subject, e.Data.Subagent = "explore", nil
	var got gohook.Data
	s = subscriber(t, manager(t, gohook.NewFunc(gohook.Spec{Name: "h", Events: gohook.Events()},
		func(_ context.Context, in gohook.Input, _ *gohook.Context) (gohook.Output, error) {
			got = in.Data
			return gohook.Allow(), nil
		})), nil)
	_, err := s.Decide(t.Context(), e)
	require.NoError(t, err)
	assert.Equal(t, gohook.SubagentStartData{SubagentType: "explore", Description: "look around"}, got)
}

// TestB4DecisionOfAnOutput has what each output comes to on each blocking event.
func TestB4DecisionOfAnOutput(t *testing.T) {
	t.Parallel()
	all := func(gohook.Event) bool { return true }
	for name, c := range map[string]struct {
		out    gohook.Output
		blocks func(gohook.Event) bool
		deny   hook.Decision // on events that can block
		or     hook.Decision // on all others
	}{
		"allow":   {out: gohook.Allow()},
		"context": {out: gohook.Allow().WithSystemMessage("careful").WithContext("it is Friday"), deny: hook.Decision{Context: "careful\nit is Friday"}, or: hook.Decision{Context: "careful\nit is Friday"}},
		"message": {out: gohook.Allow().WithSystemMessage("careful"), deny: hook.Decision{Context: "careful"}, or: hook.Decision{Context: "careful"}},
		"block": {out: gohook.Block("no").WithContext("ask Kim"), deny: hook.Decision{Effect: hook.Deny, Reason: "no", Context: "ask Kim", Rules: []string{"h"}},
			or: hook.Decision{Context: "ask Kim", Reason: "hook h blocked %s, which cannot be blocked: no"}},
		"nothing": {out: gohook.Output{}, deny: hook.Decision{Effect: hook.Deny, Reason: "hook h blocked it and gave no reason", Rules: []string{"h"}},
			or: hook.Decision{Reason: "hook h blocked %s, which cannot be blocked: no reason given"}},
		"block anything": {out: gohook.Block("carry on"), blocks: all, deny: hook.Decision{Effect: hook.Deny, Reason: "carry on", Rules: []string{"h"}}},
	} {
		var log logs
		m := manager(t, gohook.NewFunc(gohook.Spec{Name: "h", Events: gohook.Events()}, says(c.out)))
		s := subscriber(t, m, &gohook.SubscriberOptions{Blocks: c.blocks, Log: slog.New(slog.NewTextHandler(&log, nil))})
		for _, ev := range gohook.Events() {
			if !ev.Names()[0].Blocking() {
				continue
			}
			want := c.deny
			if c.blocks == nil && !ev.CanBlock() {
				want = c.or
				if want.Reason != "" {
					want.Reason = fmt.Sprintf(want.Reason, ev)
				}
			}
			d, err := s.Decide(t.Context(), event(ev.Names()[0]))
			require.NoError(t, err)
			assert.Equal(t, want, d, "%s on %s", name, ev)
		}
		assert.Equal(t, c.or.Reason != "", log.String() != "", "%s: a block without effect is told in the log", name)
	}
}

func TestB4UpdatedInput(t *testing.T) {
	t.Parallel()
	update := gohook.Allow().WithUpdatedInput(json.RawMessage(`{"command":"ls -l"}`))
	m := manager(t, gohook.NewFunc(gohook.Spec{Name: "h", Events: gohook.Events()}, says(update)))
	may := subscriber(t, m, &gohook.SubscriberOptions{Rewrites: true})
	d, err := may.Decide(t.Context(), event(hook.PreToolUse))
	require.NoError(t, err)
	assert.Equal(t, hook.Decision{Rewrite: json.RawMessage(`{"command":"ls -l"}`)}, d)

	_, err = may.Decide(t.Context(), event(hook.UserPromptSubmit))
	assert.ErrorIs(t, err, gohook.ErrRewrite, "there is no tool input")
	_, err = subscriber(t, m, nil).Decide(t.Context(), event(hook.PreToolUse))
	assert.ErrorIs(t, err, gohook.ErrRewrite, "it may not")
	assert.ErrorContains(t, err, "SubscriberOptions.Rewrites")

	// With a block there is nothing to rewrite, and that is no failure.
	require.NoError(t, m.Register(gohook.NewFunc(preToolUse("blocks"), says(gohook.Block("no")))))
	d, err = subscriber(t, m, nil).Decide(t.Context(), event(hook.PreToolUse))
	require.NoError(t, err)
	assert.Equal(t, hook.Decision{Effect: hook.Deny, Reason: "no", Rules: []string{"blocks"}}, d)
}

// TestB6FailuresOnTheBus are errors where something could have been blocked,
// unless another hook blocks, and are on record elsewhere.
func TestB6FailuresOnTheBus(t *testing.T) {
	t.Parallel()
	fails := func(context.Context, gohook.Input, *gohook.Context) (gohook.Output, error) {
		return gohook.Output{}, assert.AnError
	}
	m := manager(t,
		gohook.NewFunc(gohook.Spec{Name: "fails", Events: gohook.Events()}, fails),
		gohook.NewFunc(gohook.Spec{Name: "speaks", Events: gohook.Events()}, says(gohook.Allow().WithContext("heard"))))
	s := subscriber(t, m, nil)
	for _, ev := range gohook.Events() {
		e := event(ev.Names()[0])
		switch {
		case !e.Name.Blocking():
			assert.ErrorIs(t, s.Handle(t.Context(), e), assert.AnError, "%s is delivered again", ev)
		case ev.CanBlock():
			_, err := s.Decide(t.Context(), e)
			assert.ErrorIs(t, err, assert.AnError, "%s", ev)
			assert.ErrorContains(t, err, "hook fails failed", "%s", ev)
		default:
			d, err := s.Decide(t.Context(), e)
			require.NoError(t, err, "%s", ev)
			assert.Equal(t, hook.Abstain, d.Effect, "%s", ev)
			assert.Equal(t, "heard", d.Context, "%s", ev)
			assert.Contains(t, d.Reason, "hook fails failed", "%s", ev)
		}
	}
	require.NoError(t, m.Register(gohook.NewFunc(preToolUse("blocks"), says(gohook.Block("no")))))
	d, err := s.Decide(t.Context(), event(hook.PreToolUse))
	require.NoError(t, err)
	assert.Equal(t, hook.Deny, d.Effect)
}

func TestB2Entry(t *testing.T) {
	t.Parallel()
	m := manager(t)
	s := subscriber(t, m, &gohook.SubscriberOptions{Rewrites: true})
	_, ok := s.Entry()
	assert.False(t, ok, "an empty filter would match everything")
	_, ok = s.NotifyFilter()
	assert.False(t, ok)

	require.NoError(t, m.Register(gohook.NewFunc(gohook.Spec{Name: "log", Events: []gohook.Event{gohook.PostToolUse, gohook.SessionEnd}}, says(gohook.Allow()))))
	_, ok = s.Entry()
	assert.False(t, ok, "nobody waits for these")
	filter, ok := s.NotifyFilter()
	assert.True(t, ok)
	assert.Equal(t, "post_tool_use,post_shell,post_mcp,post_file_edit,session_end", filter)
	_, err := hook.ParsePattern(filter)
	require.NoError(t, err)

	require.NoError(t, m.Register(gohook.NewFunc(gohook.Spec{Name: "guard", Events: []gohook.Event{gohook.Stop, gohook.PreToolUse}}, says(gohook.Allow()))))
	entry, ok := s.Entry()
	assert.True(t, ok)
	assert.Equal(t, hook.Entry{Name: "go-hooks", Filter: "pre_tool_use,pre_shell,pre_mcp_call,pre_file_read,stop", Rewrites: true}, entry)
	require.NoError(t, entry.Validate())

	_, err = gohook.NewSubscriber("Not a token", m, nil)
	assert.ErrorIs(t, err, hook.ErrEntry)
}
