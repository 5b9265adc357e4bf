package claudecode_test

import (
	"bytes"
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/grapnel-dev/grapnel/bus/cloudevent"
	"github.com/grapnel-dev/grapnel/bus/hook"
	"github.com/grapnel-dev/grapnel/internal/edge/claudecode"
	"github.com/grapnel-dev/grapnel/internal/edge/protocol"
)

// FuzzEvent: whatever stands on stdin, there is an event that can travel or an
// error that is answered; a gate never passes by mistake.
func FuzzEvent(f *testing.F) {
	for file, stdin := range payloads(f) {
		f.Add(eventName(file), stdin)
	}
	f.Add("PreToolUse", []byte(`{"hook_event_name":"PreToolUse","tool_name":"Bash","tool_name":"Read","tool_input":{}}`))
	f.Fuzz(func(t *testing.T, event string, stdin []byte) {
		c := call(event, stdin)
		e, err := claudecode.Event(c)
		if err != nil {
			require.ErrorIs(t, err, protocol.ErrPayload)
			a := claudecode.Refuse(c, err)
			if event == "PreToolUse" || event == "UserPromptSubmit" {
				assert.True(t, outcome(t, event, a.Response).Blocked || bytes.Contains(stdin, []byte("hook_event_name")))
				assert.NotEmpty(t, a.Stdout)
			}
			return
		}
		var native struct {
			Event string `json:"hook_event_name"`
			Tool  string `json:"tool_name"`
		}
		require.NoError(t, json.Unmarshal(e.Data.Native.Payload, &native))
		assert.Equal(t, native.Event, e.Data.Native.Event)
		if e.Name == hook.PreToolUse {
			require.NotNil(t, e.Data.Tool)
			assert.Equal(t, native.Tool, e.Data.Tool.Name)
		}
		assert.NotEmpty(t, e.ID)
		data, err := cloudevent.EncodeData(e)
		require.NoError(t, err)
		var back hook.Event
		require.NoError(t, cloudevent.DecodeData(&back, data))
		assert.Equal(t, string(e.Data.Native.Payload), string(back.Data.Native.Payload))
	})
}
