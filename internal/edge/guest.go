package edge

import (
	"bytes"

	"github.com/grapnel-dev/grapnel/internal/edge/hookwire"
	"github.com/grapnel-dev/grapnel/internal/edge/protocol"
)

// guest says which agent really calls, and with which of its events, where an
// agent runs the hooks in Claude Code's settings: Cursor, Copilot and VS Code
// read those as well. Each is answered in its own words, and its tools are
// known for what they are. Claude Code's own payloads have none of the fields
// that give the others away; a payload that lies is read in a language that
// its agent does not speak, and gains nothing by it, since a deny blocks by its
// exit code as well.
func guest(r hookwire.Request) (agent, event string) {
	if r.Agent != hookwire.ClaudeCode {
		return r.Agent, r.Event
	}
	// Cheap for Claude Code itself, whose tool calls wait for this.
	if !bytes.Contains(r.Stdin, []byte(`"timestamp"`)) && !bytes.Contains(r.Stdin, []byte(`"cursor_version"`)) {
		return r.Agent, r.Event
	}
	f, _, err := protocol.Parse(r.Stdin, protocol.MaxWhole)
	if err != nil {
		return r.Agent, r.Event // refused as what it is registered for
	}
	agent, event = r.Agent, r.Event
	switch {
	case f.Has("cursor_version"):
		agent, event = hookwire.Cursor, f.Text("hook_event_name")
	case !f.Has("timestamp"):
	case f.Has("hookName"):
		agent, event = hookwire.Copilot, f.Text("hookName")
	case f.Has("hookEventName"):
		agent = hookwire.VSCode
	case f.Has("stop_reason"), !f.Has("transcript_path"):
		agent = hookwire.Copilot
	default:
		agent = hookwire.VSCode
	}
	if f.Err() != nil || event == "" {
		return r.Agent, r.Event
	}
	return agent, event
}
