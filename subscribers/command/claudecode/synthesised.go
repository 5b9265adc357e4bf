package claudecode

import (
	"bytes"
	"encoding/json"
	"slices"

	"github.com/grapnel-dev/grapnel/bus/hook"
	"github.com/grapnel-dev/grapnel/internal/strictjson"
	"github.com/grapnel-dev/grapnel/subscribers/command/dialect"
)

// members is a JSON object in the order in which it is written.
type members struct{ b bytes.Buffer }

func (m *members) raw(key string, value json.RawMessage) {
	if len(value) == 0 || !json.Valid(value) {
		value = json.RawMessage("null")
	}
	if m.b.Len() == 0 {
		m.b.WriteByte('{')
	} else {
		m.b.WriteByte(',')
	}
	m.b.WriteString(`"` + key + `":`)
	m.b.Write(value)
}

func (m *members) set(key string, value any) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if e.Encode(value) == nil { // texts, numbers and booleans
		m.raw(key, bytes.TrimSpace(b.Bytes()))
	}
}

// given sets a text that is not empty.
func (m *members) given(key, value string) {
	if value != "" {
		m.set(key, value)
	}
}

func (m *members) bytes() []byte {
	m.b.WriteByte('}')
	return m.b.Bytes()
}

// noMode are the events whose input has no permission_mode.
func noMode(event string) bool {
	return slices.Contains([]string{
		"SessionStart", "Setup", "SessionEnd", "Notification", "StopFailure", "InstructionsLoaded", "MessageDisplay", "SubagentStart",
		"CwdChanged", "DirectoryAdded", "FileChanged", "ConfigChange", "WorktreeCreate", "WorktreeRemove", "PreCompact", "PostCompact",
		"PreModelSwitch", "PostModelSwitch",
	}, event)
}

// synthesised puts an input together from what all agents' events have.
func synthesised(c *dialect.Call) []byte {
	e, d, m := c.Event, c.Event.Data, &members{}
	m.set("session_id", e.SessionID)
	m.given("prompt_id", e.CorrelationID)
	m.given("transcript_path", transcript(d.Native.Payload))
	cwd := d.CWD
	if cwd == "" {
		cwd = c.Workspace
	}
	m.set("cwd", cwd)
	if !noMode(c.Name) {
		mode := d.PermissionMode
		if !slices.Contains([]string{"default", "plan", "acceptEdits", "auto", "dontAsk", "bypassPermissions"}, mode) {
			mode = "default"
		}
		m.set("permission_mode", mode)
	}
	m.set("hook_event_name", c.Name)
	if d.Subagent != nil {
		m.given("agent_id", d.Subagent.ID)
		m.given("agent_type", d.Subagent.Type)
	}
	fill(m, c)
	return m.bytes()
}

// fill sets what events of this name have besides.
func fill(m *members, c *dialect.Call) {
	d := c.Event.Data
	switch c.Name {
	case "SessionStart":
		m.set("source", sessionSource(c))
		m.given("model", d.Model)
	case "Setup", "PreCompact", "PostCompact":
		m.set("trigger", reasonOf(c))
		if c.Name == "PreCompact" {
			m.set("custom_instructions", d.Prompt)
		} else if c.Name == "PostCompact" {
			m.set("compact_summary", d.Message)
		}
	case "UserPromptSubmit":
		m.set("prompt", d.Prompt)
	case "UserPromptExpansion":
		m.set("expansion_type", "slash_command")
		m.set("command_name", c.Event.Subject)
		m.set("prompt", d.Prompt)
	case "PreToolUse", "PermissionRequest", "PermissionDenied", "PostToolUse", "PostToolUseFailure":
		fillTool(m, c)
	case "PostToolBatch":
		m.raw("tool_calls", d.Result)
	case "Notification":
		m.set("message", d.Message)
		m.set("notification_type", d.Reason)
	case "MessageDisplay":
		m.set("turn_id", c.Event.CorrelationID)
		m.set("message_id", c.Event.ID)
		m.set("index", 0)
		m.set("final", c.Event.Name == hook.AgentMessage)
		m.set("delta", d.Message)
	case "Stop", "SubagentStop":
		m.set("stop_hook_active", d.StopActive)
		m.set("last_assistant_message", d.Message)
	case "StopFailure":
		m.set("error", d.Error)
		m.given("error_details", d.Reason)
		m.given("last_assistant_message", d.Message)
	case "TaskCreated", "TaskCompleted":
		m.set("task_id", c.Event.Subject)
		m.set("task_subject", d.Message)
	case "TeammateIdle":
		if d.Subagent != nil {
			m.set("teammate_name", d.Subagent.ID)
		}
	case "InstructionsLoaded":
		m.set("file_path", d.Path)
		m.set("load_reason", d.Reason)
	case "ConfigChange":
		m.set("source", d.Reason)
		m.given("file_path", d.Path)
	case "CwdChanged":
		m.set("new_cwd", d.Path)
	case "DirectoryAdded":
		m.set("directory", d.Path)
		m.set("source", d.Reason)
	case "FileChanged":
		m.set("file_path", d.Path)
		m.set("event", d.Reason)
	case "WorktreeCreate":
		m.set("name", d.Message)
	case "WorktreeRemove":
		m.set("worktree_path", d.Path)
	case "PreModelSwitch", "PostModelSwitch":
		m.set("to_model", d.Model)
		m.set("source", d.Reason)
	case "Elicitation":
		m.set("mcp_server_name", c.Event.Subject)
		m.set("message", d.Message)
		m.given("url", d.Path)
	case "ElicitationResult":
		m.set("mcp_server_name", c.Event.Subject)
		m.set("action", d.Reason)
		m.raw("content", d.Result)
	case "SessionEnd":
		m.set("reason", reasonOf(c))
	}
}

func fillTool(m *members, c *dialect.Call) {
	d := c.Event.Data
	m.set("tool_name", c.Tool)
	m.raw("tool_input", c.ToolInput())
	if c.Name != "PermissionRequest" {
		id := c.Event.ID
		if d.Tool != nil && d.Tool.CallID != "" {
			id = d.Tool.CallID
		}
		m.set("tool_use_id", id)
	}
	switch c.Name {
	case "PermissionDenied":
		m.set("reason", d.Reason)
	case "PostToolUse":
		m.raw("tool_response", c.Result())
	case "PostToolUseFailure":
		m.set("error", d.Error)
	}
	if d.DurationMS > 0 {
		m.set("duration_ms", d.DurationMS)
	}
}

// transcript is where an agent says that it writes the conversation.
func transcript(payload json.RawMessage) string {
	var p map[string]json.RawMessage
	if len(payload) == 0 || strictjson.UnmarshalOpen(payload, &p, 0) != nil {
		return ""
	}
	for _, key := range []string{"transcript_path", "transcriptPath"} {
		var s string
		if strictjson.Unmarshal(p[key], &s, 0) == nil && s != "" {
			return s
		}
	}
	return ""
}
