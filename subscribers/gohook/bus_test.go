package gohook_test

import (
	"context"
	"encoding/json"
	"fmt"
	"regexp"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/grapnel-dev/grapnel/bus"
	"github.com/grapnel-dev/grapnel/bus/bustest"
	"github.com/grapnel-dev/grapnel/bus/hook"
	"github.com/grapnel-dev/grapnel/bus/natsd"
	"github.com/grapnel-dev/grapnel/subscribers/gohook"
)

// join puts a Manager on a bus: it answers there, and the roster says that it
// must be heard.
func join(t *testing.T, b *bustest.Bus, m *gohook.Manager, o *gohook.SubscriberOptions) {
	t.Helper()
	s := subscriber(t, m, o)
	subscription, err := b.Connect(natsd.Decider).Respond("go-hooks", s, nil)
	require.NoError(t, err)
	t.Cleanup(subscription.Close)
	entry, ok := s.Entry()
	require.True(t, ok)
	_, err = b.Roster.Set(t.Context(), entry)
	require.NoError(t, err)
}

// TestB2HooksOnTheBus has a hook of each kind decide over a real bus: priority,
// matcher, time-out, a denial, a panic.
func TestB2HooksOnTheBus(t *testing.T) {
	t.Parallel()
	var j journal
	first, matched, dangerous := preToolUse("first"), preToolUse("matched"), preToolUse("dangerous")
	first.Priority, matched.ToolMatcher, matched.Priority = 100, regexp.MustCompile("Write|Edit"), 50
	slow := preToolUse("slow")
	slow.Timeout, slow.ToolMatcher = 50*time.Millisecond, regexp.MustCompile("^Slow$")
	panics := preToolUse("panics")
	panics.ToolMatcher = regexp.MustCompile("^Panic$")
	m := manager(t,
		gohook.NewFunc(dangerous, func(_ context.Context, in gohook.Input, c *gohook.Context) (gohook.Output, error) {
			j.add("dangerous:%s", c.CWD)
			var input struct {
				Command string `json:"command"`
			}
			if err := in.DecodeToolInput(&input); err != nil {
				return gohook.Output{}, err
			}
			if input.Command == "rm -rf /" {
				return gohook.Block("it deletes everything").WithContext("use the trash"), nil
			}
			return gohook.Allow(), nil
		}),
		gohook.NewFunc(matched, j.notes("matched")),
		gohook.NewFunc(first, j.notes("first")),
		gohook.NewFunc(slow, func(ctx context.Context, _ gohook.Input, _ *gohook.Context) (gohook.Output, error) {
			<-ctx.Done()
			return gohook.Allow(), ctx.Err()
		}),
		gohook.NewFunc(panics, func(context.Context, gohook.Input, *gohook.Context) (gohook.Output, error) { panic("ouch") }))
	b := bustest.Start(t, nil, nil)
	join(t, b, m, nil)

	v := b.Request(bustest.Shell("1", "rm -rf /"))
	assert.Equal(t, hook.Deny, v.Effect)
	assert.Equal(t, "it deletes everything", v.Reason)
	assert.Equal(t, "use the trash", v.Context)
	require.Len(t, v.Outcomes, 1)
	assert.Equal(t, []string{"dangerous"}, v.Outcomes[0].Rules, "the record says which hook it was")
	assert.Equal(t, "first dangerous:/home/dev/shop", j.String(), "by priority, and without the one for other tools")

	v = b.Request(bustest.Shell("2", "ls"))
	assert.Equal(t, hook.Abstain, v.Effect, "to carry on is no grant: %s", v.Reason)
	assert.False(t, v.Grant)

	tool := func(id, name string) hook.Event {
		e := bustest.Shell(id, "ls")
		e.Subject, e.Data.Tool.Name = name, name
		return e
	}
	j.lines = nil
	b.Request(tool("3", "NotebookEdit"))
	assert.Equal(t, "first matched dangerous:/home/dev/shop", j.String())

	for _, c := range []struct{ tool, why string }{{"Slow", "hook slow failed: it took longer than its time-out of 50ms"}, {"Panic", "hook panics failed: it panicked: ouch"}} {
		v = b.Request(tool("4"+c.tool, c.tool))
		assert.Equal(t, hook.Deny, v.Effect, "what fails keeps a tool from running")
		assert.Contains(t, v.Reason, c.why)
		assert.Equal(t, hook.Crashed, v.Outcomes[0].Outcome)
	}
	require.NoError(t, m.Wait(t.Context()))
}

// TestB4UpdatedInputOnTheBus is what the agent gets to run, and what everybody
// else decides on.
func TestB4UpdatedInputOnTheBus(t *testing.T) {
	t.Parallel()
	b := bustest.Start(t, nil, nil)
	m := manager(t, gohook.NewFunc(preToolUse("quiet"), says(gohook.Allow().WithUpdatedInput(json.RawMessage(`{"command":"npm install --no-fund"}`)))))
	join(t, b, m, &gohook.SubscriberOptions{Rewrites: true})
	b.Decider(hook.Entry{Name: "judge"}, func(_ context.Context, e hook.Event) (hook.Decision, error) {
		return hook.Decision{Effect: hook.Ask, Reason: "really " + string(e.Data.Tool.Input)}, nil
	})
	v := b.Request(bustest.Shell("1", "npm install"))
	assert.Equal(t, hook.Ask, v.Effect)
	assert.Equal(t, `really {"command":"npm install --no-fund"}`, v.Reason)
	assert.Equal(t, `{"command":"npm install --no-fund"}`, string(v.Input))
}

// TestB6HangingHookOnTheBus answers before the hook does.
func TestB6HangingHookOnTheBus(t *testing.T) {
	t.Parallel()
	release := make(chan struct{})
	hangs := preToolUse("hangs")
	hangs.Timeout = 50 * time.Millisecond
	m := manager(t, gohook.NewFunc(hangs, func(context.Context, gohook.Input, *gohook.Context) (gohook.Output, error) {
		<-release
		return gohook.Allow(), nil
	}))
	b := bustest.Start(t, nil, nil)
	join(t, b, m, nil)
	v := b.Request(bustest.Shell("1", "ls"))
	assert.Equal(t, hook.Deny, v.Effect)
	assert.Contains(t, v.Reason, "hook hangs failed")
	assert.Equal(t, 1, m.Left())
	close(release)
	require.NoError(t, m.Wait(t.Context()))
}

// TestB1GoLifecycleOnTheBus has a sub-agent's start blocked and an agent's stop
// not, and a stop blocked where that is asked for.
func TestB1GoLifecycleOnTheBus(t *testing.T) {
	t.Parallel()
	for _, stops := range []bool{false, true} {
		b := bustest.Start(t, nil, nil)
		m := manager(t, gohook.NewFunc(gohook.Spec{Name: "no", Events: []gohook.Event{gohook.SubagentStart, gohook.Stop}}, says(gohook.Block("not yet"))))
		o := &gohook.SubscriberOptions{}
		if stops {
			o.Blocks = func(e gohook.Event) bool { return e.CanBlock() || e == gohook.Stop }
		}
		join(t, b, m, o)
		event := func(n hook.Name) hook.Event {
			return hook.Event{ID: string(n), Source: "/host/claude-code", Name: n, Subject: "explore", SessionID: "s", Time: time.Now()}
		}
		v := b.Request(event(hook.SubagentStart))
		assert.Equal(t, hook.Deny, v.Effect)
		assert.Equal(t, "not yet", v.Reason)
		v = b.Request(event(hook.Stop))
		assert.Equal(t, stops, v.Effect == hook.Deny, "stop: %s %s", v.Effect, v.Reason)
		if !stops {
			assert.Contains(t, v.Outcomes[0].Reason, "hook no blocked Stop, which cannot be blocked", "it is on record")
		}
	}
}

// TestB1GoNotificationsOnTheBus reach the hooks as a handler, and again when one
// fails.
func TestB1GoNotificationsOnTheBus(t *testing.T) {
	t.Parallel()
	b := bustest.Start(t, nil, nil)
	seen := make(chan string, 10)
	tries := 0
	m := manager(t, gohook.NewFunc(gohook.Spec{Name: "log", Events: []gohook.Event{gohook.PostToolUse}},
		func(_ context.Context, in gohook.Input, _ *gohook.Context) (gohook.Output, error) {
			d, ok := in.Data.(gohook.PostToolUseData)
			if !ok {
				return gohook.Output{}, fmt.Errorf("a %T", in.Data)
			}
			if tries++; tries == 1 {
				return gohook.Output{}, assert.AnError
			}
			seen <- d.ToolName + " " + string(d.ToolResult)
			return gohook.Allow(), nil
		}))
	s := subscriber(t, m, nil)
	filter, ok := s.NotifyFilter()
	require.True(t, ok)
	subscription, err := b.Connect(natsd.Runner).Consume(t.Context(), "go-hooks", s, &bus.ConsumeOptions{Filter: filter, Workers: 1})
	require.NoError(t, err)
	t.Cleanup(subscription.Close)
	e := bustest.Shell("1", "ls")
	e.Name, e.Data.Result = hook.PostToolUse, json.RawMessage(`{"stdout":"a.go"}`)
	_, err = b.Connect(natsd.Agent).Publish(t.Context(), e)
	require.NoError(t, err)
	select {
	case got := <-seen:
		assert.Equal(t, `Bash {"stdout":"a.go"}`, got)
	case <-time.After(60 * time.Second):
		require.Fail(t, "it did not come again")
	}
}
