package edge_test

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/grapnel-dev/grapnel/bus/hook"
	"github.com/grapnel-dev/grapnel/internal/edge"
	"github.com/grapnel-dev/grapnel/internal/edge/hookwire"
)

// TestRefusalsAreTold: what the bus never sees must reach the record in another
// way.
func TestRefusalsAreTold(t *testing.T) {
	t.Parallel()
	type refusal struct {
		event hook.Event
		err   error
	}
	var told []refusal
	e := edge.New(edge.NewOffline(nil, "it is a test"), &edge.Options{OnRefusal: func(_ context.Context, e hook.Event, err error) {
		told = append(told, refusal{e, err})
	}})
	t.Cleanup(e.Close)
	r := e.Decide(t.Context(), hookwire.Request{Agent: hookwire.ClaudeCode, Event: "PreToolUse", Stdin: []byte(`{"tool_name":"Bash","tool_name":"Read"}`)})
	assert.Equal(t, 2, r.Exit)
	if assert.Len(t, told, 1) {
		assert.Equal(t, `{"tool_name":"Bash","tool_name":"Read"}`, string(told[0].event.Raw))
		assert.Equal(t, "PreToolUse", told[0].event.Subject)
		assert.Error(t, told[0].err)
	}
	r = e.Decide(t.Context(), hookwire.Request{Agent: hookwire.ClaudeCode, Event: "PreToolUse",
		Stdin: []byte(`{"session_id":"s","hook_event_name":"PreToolUse","cwd":"/tmp","tool_name":"Bash","tool_input":{"command":"ls"},"tool_use_id":"t"}`)})
	assert.Equal(t, 2, r.Exit)
	if assert.Len(t, told, 2) {
		var offline *edge.OfflineError
		assert.True(t, errors.As(told[1].err, &offline), "no verdict came")
		assert.Equal(t, "Bash", told[1].event.Subject)
	}
}
