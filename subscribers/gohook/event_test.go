package gohook_test

import (
	"reflect"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/grapnel-dev/grapnel/bus/hook"
	"github.com/grapnel-dev/grapnel/subscribers/gohook"
)

// TestB1GoEvents holds the events to the document's table.
func TestB1GoEvents(t *testing.T) {
	t.Parallel()
	blocks := map[gohook.Event]bool{
		"PreToolUse": true, "PostToolUse": false, "PostToolUseFailure": false, "UserPromptSubmit": true, "Stop": false,
		"SubagentStart": true, "SubagentStop": false, "PreCompact": false, "SessionStart": true, "SessionEnd": false,
	}
	require.Len(t, gohook.Events(), len(blocks))
	for _, e := range gohook.Events() {
		want, ok := blocks[e]
		require.True(t, ok, "%s is not in the document", e)
		assert.Equal(t, want, e.CanBlock(), "%s can block", e)
		assert.True(t, e.Known())
		assert.Equal(t, e, inputs()[e].Event())
	}
	assert.False(t, gohook.Event("preToolUse").Known(), "names are taken as written")
	assert.Empty(t, gohook.Event("preToolUse").Names())
	assert.False(t, gohook.Event("").CanBlock())
}

// TestB1GoEventNames has each canonical event in one place at most, and what can
// block here wait for an answer on the bus.
func TestB1GoEventNames(t *testing.T) {
	t.Parallel()
	seen := map[hook.Name]gohook.Event{}
	for _, e := range gohook.Events() {
		names := e.Names()
		require.NotEmpty(t, names)
		for _, n := range names {
			assert.True(t, n.Known(), "%s", n)
			assert.Empty(t, seen[n], "%s is two events", n)
			seen[n] = e
			got, ok := gohook.EventOf(n)
			assert.True(t, ok)
			assert.Equal(t, e, got, "event of %s", n)
			assert.Equal(t, names[0].Class(), n.Class(), "%s and %s fail in different ways", names[0], n)
		}
		if e.CanBlock() {
			assert.True(t, names[0].Blocking(), "nobody waits for %s", names[0])
		}
	}
	for _, n := range hook.Names() {
		if _, ok := seen[n]; !ok {
			_, ok := gohook.EventOf(n)
			assert.False(t, ok, "%s", n)
		}
	}
}

// TestB1GoEventData has exactly the fields of the document's HookEventData.
func TestB1GoEventData(t *testing.T) {
	t.Parallel()
	fields := map[gohook.Event][]string{
		gohook.PreToolUse: {"ToolName", "ToolInput"}, gohook.PostToolUse: {"ToolName", "ToolResult"},
		gohook.PostToolUseFailure: {"ToolName", "Error"}, gohook.UserPromptSubmit: {"Prompt"}, gohook.Stop: nil,
		gohook.SubagentStart: {"SubagentID", "SubagentType", "Description"},
		gohook.SubagentStop:  {"SubagentID", "Success", "Error"},
		gohook.PreCompact:    nil, gohook.SessionStart: nil, gohook.SessionEnd: nil,
	}
	for e, in := range inputs() {
		var got []string
		for f := range reflect.TypeOf(in.Data).Fields() {
			got = append(got, f.Name)
		}
		assert.Equal(t, fields[e], got, "fields of %s", e)
	}
}
