package geminicli

import (
	"encoding/json"

	"github.com/grapnel-dev/grapnel/bus/hook"
	"github.com/grapnel-dev/grapnel/internal/edge/hookwire"
	"github.com/grapnel-dev/grapnel/internal/edge/protocol"
)

// output is what Gemini CLI reads; each event takes some of it.
type output struct {
	Continue      *bool     `json:"continue,omitempty"`
	StopReason    string    `json:"stopReason,omitempty"`
	SystemMessage string    `json:"systemMessage,omitempty"`
	Decision      string    `json:"decision,omitempty"`
	Reason        string    `json:"reason,omitempty"`
	Specific      *specific `json:"hookSpecificOutput,omitempty"`
}

type specific struct {
	Event   string          `json:"hookEventName"`
	Input   json.RawMessage `json:"tool_input,omitempty"`
	Context string          `json:"additionalContext,omitempty"`
}

func say(r *protocol.Reply) hookwire.Response {
	var o output
	exit := 0
	switch r.Effect {
	case hook.Halt:
		no := false
		o.Continue, o.StopReason = &no, r.Reason
		if r.Event.Block {
			// It stops at the first; the second blocks if it did not.
			o.Decision, o.Reason, exit = "deny", r.Reason, 2
		}
	case hook.Deny:
		o.Decision, o.Reason = "deny", r.Reason
		if r.Event.Block {
			exit = 2
		}
	case hook.Ask:
		// The dialog shows the message.
		o.Decision, o.Reason, o.SystemMessage = "ask", r.Reason, r.Reason
	default:
		if r.Input != nil {
			o.Decision = "allow" // skips nothing; it was seen to take an input with it
		}
	}
	if r.Input != nil || r.Context != "" {
		o.Specific = &specific{Event: r.Event.Name, Input: r.Input, Context: r.Context}
	}
	return protocol.JSON(exit, o, r.Reason)
}
