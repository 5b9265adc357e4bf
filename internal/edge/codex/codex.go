package codex

import (
	"strings"
	"time"

	"github.com/grapnel-dev/grapnel/bus/hook"
	"github.com/grapnel-dev/grapnel/internal/edge/hookwire"
	"github.com/grapnel-dev/grapnel/internal/edge/protocol"
)

// New returns the protocol.
func New() *protocol.Agent {
	return &protocol.Agent{
		Name: hookwire.Codex, Title: "Codex", Events: events(), Kind: Kind, Fill: fill, Say: say, MaxText: 8000,
		Keys: protocol.Keys{
			Event: []string{"hook_event_name"}, Session: []string{"session_id"}, Turn: []string{"turn_id"}, CWD: []string{"cwd"},
			Mode: []string{"permission_mode"}, Model: []string{"model"}, ToolName: []string{"tool_name"}, ToolInput: []string{"tool_input"},
			CallID: []string{"tool_use_id"}, Result: []string{"tool_response"}, Error: []string{"error"}, Prompt: []string{"prompt"},
			Message: []string{"last_assistant_message"}, StopActive: []string{"stop_hook_active"},
			SubagentID: []string{"agent_id"}, SubagentType: []string{"agent_type"},
		},
		Manner: protocol.Manner{Order: "at the same time", Failure: "it runs", Unit: "seconds", Evidence: protocol.Seen},
		Quirks: []string{
			"hooks run only after the person has trusted them in /hooks, by a hash of the definition; `codex exec` skips untrusted ones without a word (seen, 0.169.0)",
			"hosted tools such as web search fire no hooks (learn.chatgpt.com/docs/hooks)",
			"nothing ends a turn that a hook keeps going; grapnel lets it stop after two blocks in a row (seen: 1,427 rounds)",
			"an unknown key in an answer drops the whole answer, and the tool runs (seen)",
		},
	}
}

func events() []protocol.Event {
	const long, short = 600 * time.Second, time.Second
	seen := protocol.Seen
	return []protocol.Event{
		{Name: "SessionStart", Canonical: hook.SessionStart, Subject: "source", Block: true, Context: true, Halt: true, Timeout: long, Evidence: seen,
			Note: "source resume becomes session_resume; continue:false ends the session before its first request"},
		{Name: "UserPromptSubmit", Canonical: hook.UserPromptSubmit, Block: true, Context: true, Halt: true, Timeout: long, Evidence: seen,
			Note: "fires for a sub-agent's prompt, too"},
		{Name: "PreModelRequest", Canonical: hook.BeforeModel, Timeout: long, Unregistered: true, Evidence: seen,
			Note: "fires before each request and obeys nothing, so it is left out"},
		{Name: "PostModelRequest", Canonical: hook.AfterModel, Timeout: long, Unregistered: true, Evidence: seen, Note: "fires after each request; left out for its cost"},
		{Name: "PreToolUse", Canonical: hook.PreToolUse, Tool: true, AnyInput: true, Block: true, Rewrite: true, RewriteGrants: true, Context: true,
			Timeout: long, Evidence: seen, Note: "the input may be any JSON value; calls nested in Code Mode may not fire it"},
		{Name: "PermissionRequest", Canonical: hook.PermissionRequest, Tool: true, AnyInput: true, Block: true, Ask: true, Grant: true, Timeout: long, Evidence: seen,
			Note: "has no call id"},
		{Name: "PostToolUse", Canonical: hook.PostToolUse, Tool: true, Context: true, Feedback: true, Timeout: long, Evidence: seen,
			Note: "a block replaces the result that the model sees; failed commands fire it as well"},
		{Name: "PreCompact", Canonical: hook.PreCompact, Subject: "trigger", Block: true, Halt: true, Timeout: long, Evidence: seen,
			Note: "continue:false ends the session; exit code 2 stops nothing"},
		{Name: "PostCompact", Canonical: hook.PostCompact, Subject: "trigger", Timeout: long, Evidence: seen},
		{Name: "SubagentStart", Canonical: hook.SubagentStart, Subject: "agent_type", Context: true, Timeout: long, Evidence: seen},
		{Name: "SubagentStop", Canonical: hook.SubagentStop, Subject: "agent_type", Continue: true, Halt: true, Timeout: long, Evidence: seen},
		{Name: "Stop", Canonical: hook.Stop, Continue: true, Halt: true, Timeout: long, Evidence: seen},
		{Name: "Interrupt", Canonical: hook.Interrupt, Timeout: short, Evidence: seen},
		{Name: "SessionEnd", Canonical: hook.SessionEnd, Subject: "reason", Timeout: short, Evidence: seen},
	}
}

// Kind sorts Codex's tools.
func Kind(tool string) hook.Kind {
	switch tool {
	case "Bash":
		return hook.KindShell
	case "apply_patch":
		return hook.KindFileEdit
	case "spawn_agent":
		return hook.KindSubagent
	case "view_image":
		return hook.KindFileRead
	}
	if strings.HasPrefix(tool, "mcp__") {
		return hook.KindMCP
	}
	return hook.KindOther
}

func fill(f *protocol.Fields, row protocol.Event, _ protocol.Call, e *hook.Event) {
	switch row.Name {
	case "SessionStart":
		if e.Data.Reason = f.Text("source"); e.Data.Reason == "resume" {
			e.Name = hook.SessionResume
		}
	case "PreCompact", "PostCompact":
		e.Data.Reason = f.Text("trigger")
	case "SessionEnd":
		e.Data.Reason = f.Text("reason")
	}
}
