package protocol_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/grapnel-dev/grapnel/bus/hook"
	"github.com/grapnel-dev/grapnel/internal/edge/protocol"
)

func variables(vars map[string]string) func(string) string {
	return func(name string) string { return vars[name] }
}

func TestLineageIsWhatAHookCommandWasGiven(t *testing.T) {
	t.Parallel()
	var e hook.Event
	require.NoError(t, protocol.Lineage(&e, variables(nil)))
	assert.Zero(t, e, "nothing led to what a person did")

	trace := "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
	first := hook.Event{ID: "one"}
	require.NoError(t, protocol.Lineage(&e, variables(map[string]string{
		"GRAPNEL_HOPS": "2", "GRAPNEL_CAUSATION_ID": "one", "GRAPNEL_ANCESTRY": first.Ancestry("hook"), "TRACEPARENT": trace,
	})))
	assert.Equal(t, 3, e.Hops)
	assert.Equal(t, "one", e.CausationID)
	assert.Equal(t, trace, e.TraceParent)
	assert.True(t, e.Descended("hook"))
	assert.False(t, e.Descended("another"))
}

func TestLineageThatIsNoneIsRefused(t *testing.T) {
	t.Parallel()
	for _, vars := range []map[string]string{
		{"GRAPNEL_HOPS": "-1"}, {"GRAPNEL_HOPS": "1000"}, {"GRAPNEL_HOPS": "x"}, {"GRAPNEL_HOPS": strings.Repeat("9", 100)},
		{"GRAPNEL_ANCESTRY": "hook"}, {"GRAPNEL_ANCESTRY": strings.Repeat("0123456789ab,", 64) + "0123456789ab"},
	} {
		var e hook.Event
		assert.ErrorIs(t, protocol.Lineage(&e, variables(vars)), protocol.ErrLineage, "%v", vars)
	}
	var e hook.Event
	require.NoError(t, protocol.Lineage(&e, variables(map[string]string{"TRACEPARENT": "not one"})))
	assert.Empty(t, e.TraceParent, "a trace context is nothing to fail for")
}

func TestClipKeepsLongNamesApart(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("ä", 1000)
	assert.Equal(t, "short", protocol.Clip("short"))
	assert.LessOrEqual(t, len(protocol.Clip(long)), 1024)
	assert.NotEqual(t, protocol.Clip(long+"a"), protocol.Clip(long+"b"))
	assert.Less(t, len(protocol.Quote(long)), 400)
}
