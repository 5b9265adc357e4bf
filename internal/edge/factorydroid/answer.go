package factorydroid

import (
	"encoding/json"

	"github.com/grapnel-dev/grapnel/bus/hook"
	"github.com/grapnel-dev/grapnel/internal/edge/hookwire"
	"github.com/grapnel-dev/grapnel/internal/edge/protocol"
)

// output is what Droid reads.
type output struct {
	Continue   *bool     `json:"continue,omitempty"`
	StopReason string    `json:"stopReason,omitempty"`
	Decision   string    `json:"decision,omitempty"`
	Reason     string    `json:"reason,omitempty"`
	Specific   *specific `json:"hookSpecificOutput,omitempty"`
}

type specific struct {
	Event      string          `json:"hookEventName"`
	Permission string          `json:"permissionDecision,omitempty"`
	Reason     string          `json:"permissionDecisionReason,omitempty"`
	Input      json.RawMessage `json:"updatedInput,omitempty"`
	Context    string          `json:"additionalContext,omitempty"`
}

func say(r *protocol.Reply) hookwire.Response {
	var o output
	s := &specific{Event: r.Event.Name, Input: r.Input, Context: r.Context}
	exit := 0
	switch r.Event.Name {
	case "PreToolUse":
		switch {
		case r.Blocked():
			s.Permission, s.Reason, exit = "deny", r.Reason, 2
		case r.Effect == hook.Ask:
			s.Permission, s.Reason = "ask", r.Reason
		case r.Effect == hook.Allow:
			s.Permission, s.Reason = "allow", r.Reason
		}
	case "UserPromptSubmit", "PostToolUse", "Stop", "SubagentStop":
		if r.Effect == hook.Deny || r.Blocked() && r.Event.Block {
			o.Decision, o.Reason = "block", r.Reason
			if r.Event.Block {
				exit = 2
			}
		}
	}
	if r.Effect == hook.Halt {
		no := false
		o.Continue, o.StopReason, exit = &no, r.Reason, 0
	}
	if s.Permission != "" || s.Context != "" {
		o.Specific = s
	}
	return protocol.JSON(exit, o, r.Reason)
}
