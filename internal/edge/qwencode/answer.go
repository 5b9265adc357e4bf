package qwencode

import (
	"github.com/grapnel-dev/grapnel/bus/hook"
	"github.com/grapnel-dev/grapnel/internal/edge/hookwire"
	"github.com/grapnel-dev/grapnel/internal/edge/protocol"
)

// output is what Qwen Code reads; each event takes some of it. continue is not
// among it: it says something else on each event.
type output struct {
	Decision string    `json:"decision,omitempty"`
	Reason   string    `json:"reason,omitempty"`
	Specific *specific `json:"hookSpecificOutput,omitempty"`
}

type specific struct {
	Event      string    `json:"hookEventName"`
	Permission string    `json:"permissionDecision,omitempty"`
	Reason     string    `json:"permissionDecisionReason,omitempty"`
	Context    string    `json:"additionalContext,omitempty"`
	Decision   *decision `json:"decision,omitempty"`
}

type decision struct {
	Behavior string `json:"behavior"`
	Message  string `json:"message,omitempty"`
}

func say(r *protocol.Reply) hookwire.Response {
	var o output
	s := &specific{Event: r.Event.Name, Context: r.Context}
	exit := 0
	switch r.Event.Name {
	case "PreToolUse":
		switch {
		case r.Blocked():
			s.Permission, s.Reason, exit = "deny", r.Reason, 2
		case r.Effect == hook.Ask:
			s.Permission, s.Reason = "ask", r.Reason
		}
	case "PermissionRequest":
		switch { // an ask is nothing: the question comes, or stands there
		case r.Blocked():
			s.Decision = &decision{"deny", r.Reason}
		case r.Effect == hook.Allow:
			s.Decision = &decision{Behavior: "allow"}
		}
	default:
		if r.Blocked() {
			o.Decision, o.Reason = "block", r.Reason
			if r.Event.Block {
				exit = 2
			}
		}
	}
	if s.Context != "" || s.Permission != "" || s.Decision != nil {
		o.Specific = s
	}
	return protocol.JSON(exit, o, r.Reason)
}
