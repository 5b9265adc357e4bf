package claudecode_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/grapnel-dev/grapnel/bus/hook"
	"github.com/grapnel-dev/grapnel/internal/edge/claudecode"
	"github.com/grapnel-dev/grapnel/internal/edge/hookwire"
	"github.com/grapnel-dev/grapnel/internal/edge/protocol/protocoltest"
)

// TestShimKnowsTheSameEvents: the shim has a table of its own, because it
// cannot link this package. The two say the same.
func TestShimKnowsTheSameEvents(t *testing.T) {
	t.Parallel()
	classes := map[hookwire.Class]string{
		hookwire.Gate: hook.Gate.String(), hookwire.Lifecycle: hook.Lifecycle.String(), hookwire.Notification: hook.Notify.String(),
	}
	seen := make(map[string]bool)
	for _, c := range claudecode.Capabilities() {
		assert.False(t, seen[c.Event], "%s comes twice", c.Event)
		seen[c.Event] = true
		assert.Equal(t, c.Canonical.Class().String(), c.Class)
		for _, name := range []string{c.Event, string(c.Canonical)} {
			assert.Equal(t, c.Class, classes[hookwire.ClassOf(name)], name)
			budget := hookwire.Budget(claudecode.Agent, name)
			assert.Positive(t, budget)
			assert.Less(t, int64(budget)+250, c.TimeoutMS, "%s: the shim answers before Claude Code gives up", name)
			assert.Less(t, budget+250, 30_000, "%s: and before the time-out that is installed", name)
		}
	}
	for _, also := range []string{"session_resume", "agent_message"} {
		assert.NotEqual(t, hookwire.Gate, hookwire.ClassOf(also), also)
	}
}

// TestAlone holds the shim's own answers against what Claude Code does.
func TestAlone(t *testing.T) {
	t.Parallel()
	for _, c := range claudecode.Capabilities() {
		r := hookwire.Alone(claudecode.Agent, c.Event, protocoltest.Why)
		got := outcome(t, c.Event, r)
		assert.Contains(t, string(r.Stderr), protocoltest.Why)
		switch {
		case c.Event == "WorktreeCreate":
			assert.Empty(t, got.Path)
		case c.Class == "gate":
			assert.True(t, got.Blocked, c.Event)
			assert.False(t, got.Granted, c.Event)
		default:
			assert.False(t, got.Blocked || got.Continued || got.SessionEnds, "%s passes", c.Event)
			assert.Empty(t, got.ToModel, c.Event)
		}
	}
}
