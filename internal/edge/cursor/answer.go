package cursor

import (
	"encoding/json"

	"github.com/grapnel-dev/grapnel/bus/hook"
	"github.com/grapnel-dev/grapnel/internal/edge/hookwire"
	"github.com/grapnel-dev/grapnel/internal/edge/protocol"
)

// output is what Cursor reads; each event takes some of it.
type output struct {
	Continue     *bool           `json:"continue,omitempty"`
	Permission   string          `json:"permission,omitempty"`
	UserMessage  string          `json:"user_message,omitempty"`
	AgentMessage string          `json:"agent_message,omitempty"`
	Input        json.RawMessage `json:"updated_input,omitempty"`
	FollowUp     string          `json:"followup_message,omitempty"`
	Context      string          `json:"additional_context,omitempty"`
}

func say(r *protocol.Reply) hookwire.Response {
	var o output
	exit := 0
	if r.Blocked() && r.Event.Block {
		exit = 2
	}
	switch r.Event.Name {
	case "beforeSubmitPrompt":
		if exit == 2 {
			o.Continue, o.UserMessage = new(bool), r.Reason
		}
	case "preToolUse", "beforeShellExecution", "beforeMCPExecution":
		switch {
		case exit == 2:
			o.Permission, o.UserMessage, o.AgentMessage = "deny", r.Reason, r.Reason
		case r.Effect == hook.Ask:
			o.Permission, o.UserMessage, o.AgentMessage = "ask", r.Reason, r.Reason
		case r.Effect == hook.Allow, r.Input != nil:
			o.Permission, o.Input = "allow", r.Input
		}
	case "beforeReadFile", "subagentStart":
		if exit == 2 {
			o.Permission, o.UserMessage = "deny", r.Reason
		}
	case "beforeTabFileRead":
		if exit == 2 {
			o.Permission = "deny" // the reason is on stderr
		}
	case "sessionStart", "postToolUse":
		o.Context = r.Context
	case "stop", "subagentStop":
		if r.Blocked() {
			o.FollowUp = r.Reason
		}
	}
	if o.Continue == nil && o.Permission == "" && o.FollowUp == "" && o.Context == "" {
		return hookwire.Silent(hookwire.Cursor, r.Event.Name)
	}
	return protocol.JSON(exit, o, r.Reason)
}
