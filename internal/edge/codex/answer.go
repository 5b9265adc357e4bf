package codex

import (
	"encoding/json"

	"github.com/grapnel-dev/grapnel/bus/hook"
	"github.com/grapnel-dev/grapnel/internal/edge/hookwire"
	"github.com/grapnel-dev/grapnel/internal/edge/protocol"
)

// output is what Codex reads; each event takes some of it.
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
	Decision   *decision       `json:"decision,omitempty"`
}

type decision struct {
	Behavior string `json:"behavior"`
	Message  string `json:"message,omitempty"`
}

func say(r *protocol.Reply) hookwire.Response {
	var o output
	s := &specific{Event: r.Event.Name, Context: r.Context}
	stop := func() {
		no := false
		o.Continue, o.StopReason = &no, r.Reason
	}
	exit := 0
	switch r.Event.Name {
	case "PreToolUse":
		if r.Blocked() {
			s.Permission, s.Reason, exit = "deny", r.Reason, 2
		} else if r.Input != nil {
			s.Permission, s.Input = "allow", r.Input
		}
	case "PermissionRequest":
		switch {
		case r.Blocked():
			s.Decision, exit = &decision{"deny", r.Reason}, 2
		case r.Effect == hook.Allow:
			s.Decision = &decision{Behavior: "allow"}
		}
	case "SessionStart", "PreCompact":
		if r.Blocked() {
			stop()
		}
	case "UserPromptSubmit", "PostToolUse", "Stop", "SubagentStop":
		switch {
		case r.Effect == hook.Halt:
			stop()
		case r.Effect == hook.Deny:
			o.Decision, o.Reason = "block", r.Reason
		}
	}
	if s.Context != "" || s.Permission != "" || s.Decision != nil {
		o.Specific = s
	}
	if o == (output{}) {
		return hookwire.Response{} // anything more could be taken for something
	}
	return protocol.JSON(exit, o, r.Reason)
}
