package vscode

import (
	"github.com/grapnel-dev/grapnel/bus/hook"
	"github.com/grapnel-dev/grapnel/internal/edge/hookwire"
	"github.com/grapnel-dev/grapnel/internal/edge/protocol"
)

// output is what VS Code reads; each event takes some of it.
type output struct {
	Continue   *bool     `json:"continue,omitempty"`
	StopReason string    `json:"stopReason,omitempty"`
	Decision   string    `json:"decision,omitempty"`
	Reason     string    `json:"reason,omitempty"`
	Specific   *specific `json:"hookSpecificOutput,omitempty"`
}

type specific struct {
	Event            string `json:"hookEventName"`
	Permission       string `json:"permissionDecision,omitempty"`
	PermissionReason string `json:"permissionDecisionReason,omitempty"`
	Decision         string `json:"decision,omitempty"`
	Reason           string `json:"reason,omitempty"`
	Context          string `json:"additionalContext,omitempty"`
}

func say(r *protocol.Reply) hookwire.Response {
	var o output
	s := &specific{Event: r.Event.Name, Context: r.Context}
	halt, exit := r.Effect == hook.Halt, 0
	if r.Blocked() && r.Event.Halt && (halt || r.Event.Name == "UserPromptSubmit") {
		no := false
		o.Continue, o.StopReason = &no, r.Reason
	}
	switch r.Event.Name {
	case "UserPromptSubmit":
		if r.Effect == hook.Deny {
			exit = 2
		}
	case "PreToolUse":
		switch {
		case r.Blocked():
			s.Permission, s.PermissionReason = "deny", r.Reason
			if !halt { // which the JSON alone can say
				exit = 2
			}
		case r.Effect == hook.Ask:
			s.Permission, s.PermissionReason = "ask", r.Reason
		case r.Effect == hook.Allow:
			s.Permission = "allow"
		}
	case "PostToolUse":
		if r.Effect == hook.Deny {
			o.Decision, o.Reason = "block", r.Reason
		}
	case "Stop":
		if r.Effect == hook.Deny {
			s.Decision, s.Reason, exit = "block", r.Reason, 2
		}
	case "SubagentStop":
		if r.Effect == hook.Deny {
			o.Decision, o.Reason, exit = "block", r.Reason, 2
		}
	}
	if *s != (specific{Event: r.Event.Name}) {
		o.Specific = s
	}
	return protocol.JSON(exit, o, r.Reason)
}
