package kimicode

import (
	"encoding/json"
	"strings"
	"time"

	"github.com/grapnel-dev/grapnel/bus/hook"
	"github.com/grapnel-dev/grapnel/internal/edge/hookwire"
	"github.com/grapnel-dev/grapnel/internal/edge/protocol"
)

// New returns the protocol.
func New() *protocol.Agent {
	return &protocol.Agent{
		Name: hookwire.KimiCode, Title: "Kimi Code", Events: events(), Kind: Kind, Fill: fill, Say: say,
		Keys: protocol.Keys{
			Event: []string{"hook_event_name"}, Session: []string{"session_id"}, CWD: []string{"cwd"}, Model: []string{"model"},
			ToolName: []string{"tool_name"}, ToolInput: []string{"tool_input"}, CallID: []string{"tool_call_id"}, Result: []string{"tool_output"},
			Error: []string{"error", "error_message"}, StopActive: []string{"stop_hook_active"}, SubagentType: []string{"agent_name"},
		},
		Manner: protocol.Manner{Order: "at the same time", Failure: "it runs", Unit: "seconds", Evidence: protocol.Documented},
		Quirks: []string{
			"a hook that crashes or takes too long lets the action run, and no setting changes that (moonshotai.github.io/kimi-code/en/customization/hooks)",
			"on an event without a matcher value any matcher keeps the hook from running (moonshotai.github.io/kimi-code/en/customization/hooks)",
			"a key in [[hooks]] that it does not know drops the hook (moonshotai.github.io/kimi-code/en/customization/hooks)",
			"kimi -p does not fire UserPromptSubmit (its users)",
			"the same command runs once for an event, however often it is registered (moonshotai.github.io/kimi-code/en/customization/hooks)",
		},
	}
}

func events() []protocol.Event {
	const long = 30 * time.Second
	told := protocol.Documented
	return []protocol.Event{
		{Name: "SessionStart", Canonical: hook.SessionStart, Subject: "source", Timeout: long, Evidence: told, Note: "source resume becomes session_resume"},
		{Name: "UserPromptSubmit", Canonical: hook.UserPromptSubmit, Block: true, Context: true, Timeout: long, Evidence: told,
			Note: "does not fire with kimi -p"},
		{Name: "UserPromptQueued", Canonical: hook.SessionMessage, Timeout: long, Evidence: told, Note: "the prompt fires UserPromptSubmit later"},
		{Name: "TurnStarted", Canonical: hook.Other, Timeout: long, Evidence: told},
		{Name: "PreToolUse", Canonical: hook.PreToolUse, Tool: true, Block: true, Timeout: long, Evidence: told},
		{Name: "PermissionRequest", Canonical: hook.PermissionRequest, Tool: true, Timeout: long, Evidence: told, Note: "is told and not asked; the person decides"},
		{Name: "PermissionResult", Canonical: hook.PermissionDenied, Tool: true, Timeout: long, Evidence: told,
			Note: "decision approved becomes permission_granted, and one that is not known other"},
		{Name: "PostToolUse", Canonical: hook.PostToolUse, Tool: true, Timeout: long, Evidence: told, Note: "the output is its first 2,000 characters"},
		{Name: "PostToolUseFailure", Canonical: hook.PostToolUseFailure, Tool: true, Timeout: long, Evidence: told},
		{Name: "SubagentStart", Canonical: hook.SubagentStart, Subject: "agent_name", Timeout: long, Evidence: told},
		{Name: "SubagentStop", Canonical: hook.SubagentStop, Subject: "agent_name", Timeout: long, Evidence: told},
		{Name: "TaskStarted", Canonical: hook.TaskCreated, Subject: "kind", Timeout: long, Evidence: told, Note: "a task in the background, that runs already"},
		{Name: "PreCompact", Canonical: hook.PreCompact, Subject: "trigger", Timeout: long, Evidence: told, Note: "is waited for, and its answer is not read"},
		{Name: "PostCompact", Canonical: hook.PostCompact, Subject: "trigger", Timeout: long, Evidence: told},
		{Name: "Notification", Canonical: hook.Notification, Subject: "notification_type", Timeout: long, Evidence: told},
		{Name: "Stop", Canonical: hook.Stop, Continue: true, Timeout: long, Evidence: told, Note: "fires once in a turn"},
		{Name: "StopFailure", Canonical: hook.StopFailure, Subject: "error_type", Timeout: long, Evidence: told},
		{Name: "Interrupt", Canonical: hook.Interrupt, Subject: "reason", Timeout: long, Evidence: told},
		{Name: "SessionHeartbeat", Canonical: hook.Heartbeat, Timeout: long, Unregistered: true, Evidence: told,
			Note: "fires each minute, and only because somebody listens, so it is left out"},
		{Name: "SessionEnd", Canonical: hook.SessionEnd, Subject: "reason", Timeout: long, Evidence: told},
	}
}

// Kind sorts Kimi Code's tools.
func Kind(tool string) hook.Kind {
	switch tool {
	case "Bash", "Shell":
		return hook.KindShell
	case "Read", "ReadFile", "ReadMediaFile":
		return hook.KindFileRead
	case "Write", "WriteFile":
		return hook.KindFileWrite
	case "Edit", "StrReplaceFile":
		return hook.KindFileEdit
	case "Glob", "Grep":
		return hook.KindSearch
	case "WebSearch", "SearchWeb", "FetchURL":
		return hook.KindWeb
	case "Agent", "Task":
		return hook.KindSubagent
	}
	if strings.HasPrefix(tool, "mcp__") {
		return hook.KindMCP
	}
	return hook.KindOther
}

func fill(f *protocol.Fields, row protocol.Event, _ protocol.Call, e *hook.Event) {
	d := &e.Data
	e.CorrelationID = protocol.Clip(strings.Trim(string(f.Raw("turn_id")), `"`))
	switch row.Name {
	case "SessionStart":
		if d.Reason = f.Text("source"); d.Reason == "resume" {
			e.Name = hook.SessionResume
		}
	case "UserPromptSubmit":
		if d.Prompt = words(f); !f.Has("prompt") {
			f.Fail(protocol.Bad("there is no prompt"))
		}
	case "UserPromptQueued", "TurnStarted", "SubagentStart":
		d.Message = words(f)
	case "PermissionResult":
		switch d.Reason = f.Text("feedback"); f.Text("decision") {
		case "approved", "allow", "allowed":
			e.Name = hook.PermissionGranted
		case "rejected", "denied", "deny", "cancelled":
		default:
			e.Name = hook.Other
		}
	case "PostToolUseFailure":
		if d.Error == "" {
			d.Error = string(f.Raw("error")) // an object
		}
	case "SubagentStop":
		d.Message = f.Text("response")
	case "TaskStarted":
		d.Message = f.Text("description")
	case "PreCompact", "PostCompact":
		d.Reason = f.Text("trigger")
	case "Notification":
		d.Message, d.Reason = strings.TrimPrefix(f.Text("title")+"\n"+f.Text("body"), "\n"), f.Text("notification_type")
	case "StopFailure":
		d.Reason = f.Text("error_type")
	case "Interrupt", "SessionEnd":
		d.Reason = f.Text("reason")
	}
}

// words is a prompt: a text, or the texts of a list of parts, one a line.
func words(f *protocol.Fields) string {
	raw := f.Raw("prompt")
	if len(raw) == 0 || raw[0] != '[' {
		return f.Text("prompt")
	}
	var parts []struct {
		Type string `json:"type"`
		Text string `json:"text"`
	}
	if err := json.Unmarshal(raw, &parts); err != nil {
		f.Fail(protocol.Bad("prompt is neither a text nor a list of parts"))
	}
	var texts []string
	for _, p := range parts {
		if p.Type == "text" || p.Type == "" {
			texts = append(texts, p.Text)
		}
	}
	return strings.Join(texts, "\n")
}
