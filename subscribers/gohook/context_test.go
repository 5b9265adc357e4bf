package gohook_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/grapnel-dev/grapnel/subscribers/gohook"
)

func TestB5Context(t *testing.T) {
	t.Parallel()
	given := &gohook.Context{SessionID: "session-2", CWD: "/home/dev/shop", Env: map[string]string{"TEAM": "web"}}
	var got []gohook.Context
	m := manager(t,
		gohook.NewFunc(preToolUse("a"), func(_ context.Context, _ gohook.Input, c *gohook.Context) (gohook.Output, error) {
			got = append(got, *c)
			c.SessionID, c.CWD = "changed", "/"
			c.Env["TEAM"] = "changed"
			return gohook.Allow(), nil
		}),
		gohook.NewFunc(preToolUse("b"), func(_ context.Context, _ gohook.Input, c *gohook.Context) (gohook.Output, error) {
			got = append(got, *c)
			return gohook.Allow(), nil
		}))
	_, err := m.Execute(t.Context(), bash(t, "ls"), given)
	require.NoError(t, err)
	want := gohook.Context{SessionID: "session-2", CWD: "/home/dev/shop", Env: map[string]string{"TEAM": "web"}}
	assert.Equal(t, want, *given, "no hook changes its caller's context")
	require.Len(t, got, 2)
	assert.Equal(t, want, got[1], "each hook has a context of its own")

	got = nil
	m = manager(t, gohook.NewFunc(preToolUse("a"), func(_ context.Context, _ gohook.Input, c *gohook.Context) (gohook.Output, error) {
		got = append(got, *c)
		return gohook.Allow(), nil
	}))
	for _, c := range []*gohook.Context{nil, {}, gohook.NewContext("session-1")} {
		_, err := m.Execute(t.Context(), bash(t, "ls"), c)
		require.NoError(t, err)
	}
	assert.Equal(t, []gohook.Context{{SessionID: "session-1"}, {SessionID: "session-1"}, {SessionID: "session-1"}}, got)
}

// TestB5Cancellation ends the hook under way and starts no other; both count as
// failures.
func TestB5Cancellation(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancelCause(t.Context())
	var j journal
	m := manager(t,
		gohook.NewFunc(preToolUse("waits"), func(ctx context.Context, _ gohook.Input, _ *gohook.Context) (gohook.Output, error) {
			deadline, ok := ctx.Deadline()
			assert.True(t, ok, "a hook can see how long it has")
			assert.WithinDuration(t, time.Now().Add(time.Minute), deadline, 30*time.Second)
			j.add("waits")
			cancel(assert.AnError)
			<-ctx.Done()
			return gohook.Allow(), context.Cause(ctx)
		}),
		gohook.NewFunc(preToolUse("never"), j.notes("never")))
	out, err := m.Execute(ctx, bash(t, "ls"), nil)
	assert.ErrorIs(t, err, assert.AnError)
	assert.ErrorContains(t, err, "hook waits failed")
	assert.ErrorContains(t, err, "hook never failed: it was not started")
	assert.False(t, out.ContinueExecution)
	assert.Equal(t, "waits", j.String())
	require.NoError(t, m.Wait(t.Context()))
}

// TestB5WhyIsAlwaysTold has a hook fail in the moment in which its context ends,
// many times: whichever is seen first, the error says why it ended.
func TestB5WhyIsAlwaysTold(t *testing.T) {
	t.Parallel()
	for range 200 {
		ctx, cancel := context.WithCancelCause(t.Context())
		m := manager(t, gohook.NewFunc(preToolUse("h"), func(ctx context.Context, _ gohook.Input, _ *gohook.Context) (gohook.Output, error) {
			cancel(assert.AnError)
			return gohook.Output{}, ctx.Err()
		}))
		out, err := m.Execute(ctx, bash(t, "ls"), nil)
		require.ErrorIs(t, err, assert.AnError)
		require.False(t, out.ContinueExecution)
		require.NoError(t, m.Wait(t.Context()))
	}
}
