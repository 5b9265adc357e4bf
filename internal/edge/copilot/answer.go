package copilot

import (
	"encoding/json"

	"github.com/grapnel-dev/grapnel/bus/hook"
	"github.com/grapnel-dev/grapnel/internal/edge/hookwire"
	"github.com/grapnel-dev/grapnel/internal/edge/protocol"
)

// output is what Copilot reads, flat in both dialects; each event takes some of
// it.
type output struct {
	Permission       string          `json:"permissionDecision,omitempty"`
	PermissionReason string          `json:"permissionDecisionReason,omitempty"`
	Args             json.RawMessage `json:"modifiedArgs,omitempty"`
	Behavior         string          `json:"behavior,omitempty"`
	Message          string          `json:"message,omitempty"`
	Interrupt        bool            `json:"interrupt,omitempty"`
	Decision         string          `json:"decision,omitempty"`
	Reason           string          `json:"reason,omitempty"`
	Context          string          `json:"additionalContext,omitempty"`
}

func say(r *protocol.Reply) hookwire.Response {
	o := output{Context: r.Context}
	exit := 0
	switch r.Event.Canonical {
	case hook.PreToolUse:
		switch {
		case r.Blocked():
			o.Permission, o.PermissionReason, exit = "deny", r.Reason, 2
		case r.Effect == hook.Ask:
			o.Permission, o.PermissionReason = "ask", r.Reason
		case r.Effect == hook.Allow:
			o.Permission, o.Args = "allow", r.Input
		}
	case hook.PermissionRequest:
		switch {
		case r.Blocked():
			o.Behavior, o.Message, o.Interrupt, exit = "deny", r.Reason, r.Effect == hook.Halt, 2
		case r.Effect == hook.Allow:
			o.Behavior = "allow"
		}
	case hook.UserPromptSubmit, hook.PostToolUse, hook.Stop, hook.SubagentStop:
		// Exit code 2 is a warning there, with which nothing is known to count.
		if r.Blocked() {
			o.Decision, o.Reason = "block", r.Reason
		}
	}
	return protocol.JSON(exit, o, r.Reason)
}
