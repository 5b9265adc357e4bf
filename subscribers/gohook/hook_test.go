package gohook_test

import (
	"context"
	"regexp"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/grapnel-dev/grapnel/bus/hook"
	"github.com/grapnel-dev/grapnel/subscribers/gohook"
)

// plain overrides nothing that has a default.
type plain struct{ gohook.Defaults }

func (plain) Name() string           { return "plain" }
func (plain) Events() []gohook.Event { return []gohook.Event{gohook.PreToolUse} }
func (plain) Execute(context.Context, gohook.Input, *gohook.Context) (gohook.Output, error) {
	return gohook.Block("plain says no"), nil
}

// early overrides all that has one.
type early struct {
	plain
	matcher *regexp.Regexp
}

func (early) Name() string                  { return "early" }
func (h early) ToolMatcher() *regexp.Regexp { return h.matcher }
func (early) Timeout() time.Duration        { return time.Second }
func (early) Priority() int                 { return 100 }

func TestB2Defaults(t *testing.T) {
	t.Parallel()
	m := manager(t, plain{}, early{matcher: regexp.MustCompile("Bash")})
	hooks := m.Hooks()
	require.Len(t, hooks, 2)
	assert.Equal(t, gohook.Spec{
		Name: "early", Events: []gohook.Event{gohook.PreToolUse}, ToolMatcher: regexp.MustCompile("Bash"), Timeout: time.Second, Priority: 100,
	}, hooks[0])
	assert.Equal(t, gohook.Spec{Name: "plain", Events: []gohook.Event{gohook.PreToolUse}, Timeout: 60 * time.Second}, hooks[1])
	out, err := m.Execute(t.Context(), bash(t, "ls"), nil)
	require.NoError(t, err)
	assert.Equal(t, gohook.Block("plain says no"), out)
}

func TestB2Func(t *testing.T) {
	t.Parallel()
	spec := gohook.Spec{
		Name: "f", Events: []gohook.Event{gohook.Stop, gohook.PreToolUse}, ToolMatcher: regexp.MustCompile("^Write$"),
		Timeout: time.Minute, Priority: -3,
	}
	m := manager(t, gohook.NewFunc(spec, says(gohook.Block("f"))), gohook.NewFunc(preToolUse("g"), says(gohook.Allow())))
	hooks := m.Hooks()
	require.Len(t, hooks, 2)
	assert.Equal(t, "g", hooks[0].Name)
	assert.Equal(t, gohook.DefaultTimeout, hooks[0].Timeout, "zero means the default")
	assert.Equal(t, spec, hooks[1])
	for _, c := range []struct {
		in   gohook.Input
		runs bool
	}{
		{gohook.NewStop("s"), true},
		{gohook.NewPreToolUse("s", "Write", nil), true},
		{gohook.NewPreToolUse("s", "Bash", nil), false},
		{gohook.NewPostToolUse("s", "Write", nil), false},
	} {
		out, err := m.Execute(t.Context(), c.in, nil)
		require.NoError(t, err)
		assert.Equal(t, c.runs, out.StopReason == "f", "%s %+v", c.in.Event(), c.in.Data)
	}
}

func TestB2HooksThatAreRefused(t *testing.T) {
	t.Parallel()
	events := []gohook.Event{gohook.PreToolUse}
	f := func(s gohook.Spec) gohook.Hook { return gohook.NewFunc(s, says(gohook.Allow())) }
	for name, h := range map[string]gohook.Hook{
		"nil":              nil,
		"nil func":         (*gohook.Func)(nil),
		"no function":      gohook.NewFunc(gohook.Spec{Name: "x", Events: events}, nil),
		"no name":          f(gohook.Spec{Events: events}),
		"no event":         f(gohook.Spec{Name: "x"}),
		"unknown event":    f(gohook.Spec{Name: "x", Events: []gohook.Event{gohook.PreToolUse, "preToolUse"}}),
		"negative timeout": f(gohook.Spec{Name: "x", Events: events, Timeout: -1}),
		"endless timeout":  f(gohook.Spec{Name: "x", Events: events, Timeout: hook.MaxTimeout + 1}),
		"name taken":       f(gohook.Spec{Name: "first", Events: events}),
	} {
		m := manager(t, f(gohook.Spec{Name: "first", Events: events}))
		err := m.Register(f(gohook.Spec{Name: "good", Events: events}), h)
		assert.ErrorIs(t, err, gohook.ErrHook, name)
		assert.Len(t, m.Hooks(), 1, "%s: one that is refused leaves the others out too", name)
	}
}

// TestB2WhatAHookSaysIsKept: a hook cannot move about.
func TestB2WhatAHookSaysIsKept(t *testing.T) {
	t.Parallel()
	events := []gohook.Event{gohook.PreToolUse}
	m := manager(t, gohook.NewFunc(gohook.Spec{Name: "x", Events: events}, says(gohook.Block("x"))))
	events[0] = gohook.Stop
	m.Hooks()[0].Events[0] = gohook.Stop
	out, err := m.Execute(t.Context(), bash(t, "ls"), nil)
	require.NoError(t, err)
	assert.Equal(t, "x", out.StopReason)
}

// TestB2DefaultTimeout lets sixty virtual seconds pass.
func TestB2DefaultTimeout(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		m := manager(t, gohook.NewFunc(preToolUse("slow"), func(ctx context.Context, _ gohook.Input, _ *gohook.Context) (gohook.Output, error) {
			<-ctx.Done()
			return gohook.Output{}, ctx.Err()
		}))
		out, err := m.Execute(t.Context(), bash(t, "ls"), nil)
		assert.Equal(t, time.Minute, time.Since(began))
		require.ErrorIs(t, err, gohook.ErrTimeout)
		var failure *gohook.Failure
		require.ErrorAs(t, err, &failure)
		assert.Equal(t, "slow", failure.Hook)
		assert.False(t, out.ContinueExecution, "a failure blocks what can be blocked")
		assert.True(t, strings.HasPrefix(out.StopReason, "hook slow failed: it took longer than its time-out of 1m0s"), out.StopReason)
		require.NoError(t, m.Wait(t.Context()))
		assert.Zero(t, m.Left())
	})
}
