package protocol_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/grapnel-dev/grapnel/bus/hook"
	"github.com/grapnel-dev/grapnel/internal/edge/hookwire"
	"github.com/grapnel-dev/grapnel/internal/edge/protocol"
)

func TestNoKeyShowsThroughAChangedInput(t *testing.T) {
	t.Parallel()
	agent := &protocol.Agent{
		Name: "some-agent", Title: "Some Agent",
		Events: []protocol.Event{
			{Name: "Merges", Canonical: hook.PreToolUse, Tool: true, Block: true, Rewrite: true, RewriteMerges: true},
			{Name: "Replaces", Canonical: hook.PreToolUse, Tool: true, Block: true, Rewrite: true},
		},
		Say: func(r *protocol.Reply) hookwire.Response {
			return protocol.JSON(0, map[string]any{"blocked": r.Blocked(), "input": string(r.Input), "reason": r.Reason}, r.Reason)
		},
	}
	called := json.RawMessage(`{"command":"ls","background":true}`)
	for _, c := range []struct {
		name, event, input string
		effect             hook.Effect
		denied             bool
	}{
		{"a key is gone", "Merges", `{"command":"ls -l"}`, hook.Abstain, true},
		{"a key is gone, and allowed", "Merges", `{"command":"ls -l"}`, hook.Allow, true},
		{"all keys stay", "Merges", `{"command":"ls -l","background":false,"more":1}`, hook.Abstain, false},
		{"a key is null", "Merges", `{"command":"ls -l","background":null}`, hook.Abstain, false},
		{"nothing is changed", "Merges", "", hook.Abstain, false},
		{"the agent takes it whole", "Replaces", `{"command":"ls -l"}`, hook.Abstain, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			e := hook.Event{Name: hook.PreToolUse, Data: hook.Data{Tool: &hook.Tool{Name: "sh", Input: called}, Native: hook.Native{Event: c.event}}}
			a := agent.AnswerTo(e, hook.Verdict{Effect: c.effect, Input: json.RawMessage(c.input)})
			var said struct {
				Blocked bool
				Reason  string
			}
			assert.NoError(t, json.Unmarshal(a.Stdout, &said))
			assert.Equal(t, c.denied, said.Blocked)
			if c.denied {
				assert.Contains(t, said.Reason, `cannot take "background" out of the input`)
				assert.Contains(t, a.Note, "background")
			}
		})
	}
}
