package edge

import (
	"bytes"

	"github.com/grapnel-dev/grapnel/internal/edge/hookwire"
	"github.com/grapnel-dev/grapnel/internal/edge/protocol"
)

// guest says which agent really calls, and with which of its events, where
// agents run each other's hooks: Cursor, Copilot and VS Code read Claude Code's
// settings as well, and Copilot and VS Code read each other's. Each is answered
// in its own words, and its tools are known for what they are. Fields that the
// registered agent never sends give the others away. A payload that lies is
// answered in a language that its agent does not speak, and gains nothing by
// it, since a deny blocks by its exit code as well.
func guest(r hookwire.Request) (agent, event string) {
	switch r.Agent {
	case hookwire.ClaudeCode:
		// Cheap for Claude Code itself, whose tool calls wait for this.
		if !bytes.Contains(r.Stdin, []byte(`"timestamp"`)) && !bytes.Contains(r.Stdin, []byte(`"cursor_version"`)) {
			return r.Agent, r.Event
		}
	case hookwire.Copilot, hookwire.VSCode:
	default:
		return r.Agent, r.Event
	}
	f, _, err := protocol.Parse(r.Stdin, protocol.MaxWhole)
	if err != nil {
		return r.Agent, r.Event // refused as what it is registered for
	}
	agent, event = caller(r.Agent, f)
	if f.Err() != nil || event == "" || agent == r.Agent {
		return r.Agent, r.Event
	}
	return agent, event
}

// caller tells agents apart by the fields of their payloads, and finds the
// event's name where it is in there.
func caller(registered string, f *protocol.Fields) (agent, event string) {
	event = f.Text("hook_event_name", "hookEventName")
	switch {
	case f.Has("cursor_version"):
		return hookwire.Cursor, event
	case !f.Has("timestamp"):
		return registered, event
	case f.Has("hookName"):
		return hookwire.Copilot, f.Text("hookName")
	case event == "":
		return registered, event
	case f.Has("hookEventName"), f.Has("tool_use_id"), f.Has("transcript_path") && !f.Has("stop_reason"):
		return hookwire.VSCode, event
	}
	return hookwire.Copilot, event
}
