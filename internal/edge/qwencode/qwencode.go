package qwencode

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
		Name: hookwire.QwenCode, Title: "Qwen Code", Events: events(), Kind: Kind, Fill: fill, Say: say,
		Keys: protocol.Keys{
			Event: []string{"hook_event_name"}, Session: []string{"session_id"}, Turn: []string{"prompt_id"}, Time: []string{"timestamp"},
			CWD: []string{"cwd"}, Mode: []string{"permission_mode"}, Model: []string{"model"},
			ToolName: []string{"tool_name"}, ToolInput: []string{"tool_input"}, CallID: []string{"tool_use_id", "tool_call_id"},
			Result: []string{"tool_response", "tool_calls"}, Error: []string{"error"}, Duration: []string{"duration_ms"}, Prompt: []string{"prompt"},
			Message:    []string{"message", "last_assistant_message", "displayed_text", "compact_summary"},
			Reason:     []string{"reason", "trigger", "source", "load_reason", "phase"},
			StopActive: []string{"stop_hook_active"}, SubagentID: []string{"agent_id"}, SubagentType: []string{"agent_type"}, Path: []string{"file_path"},
		},
		Manner: protocol.Manner{Order: "at the same time", Failure: "it runs", Unit: "seconds; values of 1000 and more, and version 0.15, milliseconds", Evidence: protocol.Seen},
		Quirks: []string{
			"a changed input is passed over and the original command runs, whatever the documentation says (seen, 0.24.4)",
			"time-outs in its settings are seconds, and milliseconds from 1000 on; 0.15 took milliseconds (seen)",
			"continue:false at the end of a turn makes it carry on (seen: 9 requests)",
			"an ask where nobody is there is a deny (seen, -p); sub-agents in the background as well (docs/users/features/hooks.md)",
			"SessionEnd does not fire in -p, and a turn that ends in an API error fired no StopFailure (seen)",
			"sub-agents' tools carry an agent_id and no agent_type (seen)",
			"before 0.24 there is no prompt_id and no tool_call_id, and stop_hook_active is true from the first Stop on (seen, 0.15.10)",
		},
	}
}

func events() []protocol.Event {
	const minute = time.Minute
	seen, doc := protocol.Seen, protocol.Documented
	return []protocol.Event{
		{Name: "SessionStart", Canonical: hook.SessionStart, Subject: "source", Context: true, Timeout: minute, Evidence: seen,
			Note: "source resume becomes session_resume; nothing blocks a session's start"},
		{Name: "InstructionsLoaded", Canonical: hook.InstructionsLoaded, Subject: "load_reason", Timeout: minute, Evidence: seen},
		{Name: "UserPromptSubmit", Canonical: hook.UserPromptSubmit, Block: true, Context: true, Timeout: minute, Evidence: seen,
			Note: "fires for every round of tool results, too, with an empty prompt"},
		{Name: "UserPromptExpansion", Canonical: hook.UserPromptExpand, Subject: "command_name", Block: true, Context: true, Timeout: minute, Evidence: doc,
			Note: "was seen to fire; that a deny blocks it is from its code"},
		{Name: "PermissionRequest", Canonical: hook.PermissionRequest, Tool: true, Block: true, Ask: true, Grant: true, Timeout: minute, Evidence: seen,
			Note: "comes before PreToolUse and has no call id; exit codes are ignored"},
		{Name: "PermissionDenied", Canonical: hook.PermissionDenied, Tool: true, Timeout: minute, Evidence: doc},
		{Name: "PreToolUse", Canonical: hook.PreToolUse, Tool: true, Block: true, Ask: true, Timeout: minute, Evidence: seen,
			Note: "comes after the person was asked, so that an allow skips nothing; that an ask asks is from the documentation"},
		{Name: "PostToolUse", Canonical: hook.PostToolUse, Tool: true, Context: true, Timeout: minute, Evidence: seen,
			Note: "a block is passed over; the model is told in context"},
		{Name: "PostToolUseFailure", Canonical: hook.PostToolUseFailure, Tool: true, Context: true, Timeout: minute, Evidence: seen,
			Note: "a shell command that fails is one"},
		{Name: "PostToolBatch", Canonical: hook.PostToolBatch, Timeout: minute, Evidence: seen, Note: "no answer to it is known"},
		{Name: "TodoCreated", Canonical: hook.TaskCreated, Block: true, Timeout: minute, Evidence: doc,
			Note: "was seen to fire; a deny counts before the list is written (phase validation), by the documentation"},
		{Name: "TodoCompleted", Canonical: hook.TaskCompleted, Block: true, Timeout: minute, Evidence: doc,
			Note: "was seen to fire; a deny counts before the list is written (phase validation), by the documentation"},
		{Name: "Notification", Canonical: hook.Notification, Subject: "notification_type", Timeout: minute, Evidence: seen,
			Note: "auth_success comes at each start"},
		{Name: "MessageDisplay", Canonical: hook.ModelStreamChunk, Timeout: minute, Unregistered: true, Evidence: seen,
			Note: "a process for each streamed piece, so it is left out; the last becomes agent_message"},
		{Name: "SubagentStart", Canonical: hook.SubagentStart, Subject: "agent_type", Timeout: minute, Evidence: seen,
			Note: "context is passed over, whatever the documentation says"},
		{Name: "SubagentStop", Canonical: hook.SubagentStop, Subject: "agent_type", Continue: true, Timeout: minute, Evidence: seen},
		{Name: "Stop", Canonical: hook.Stop, Continue: true, Timeout: minute, Evidence: seen, Note: "ends after 8 blocks in a row"},
		{Name: "StopFailure", Canonical: hook.StopFailure, Subject: "error", Timeout: minute, Evidence: doc},
		{Name: "PreCompact", Canonical: hook.PreCompact, Subject: "trigger", Timeout: minute, Evidence: seen, Note: "no answer to it is known"},
		{Name: "PostCompact", Canonical: hook.PostCompact, Subject: "trigger", Timeout: minute, Evidence: seen},
		{Name: "SessionDelete", Canonical: hook.SessionDelete, Subject: "deleted_session_id", Timeout: minute, Evidence: doc},
		{Name: "SessionEnd", Canonical: hook.SessionEnd, Subject: "reason", Timeout: minute, Evidence: seen, Note: "does not fire in -p"},
	}
}

// Kind sorts Qwen Code's tools.
func Kind(tool string) hook.Kind {
	switch tool {
	case "run_shell_command":
		return hook.KindShell
	case "read_file", "read_many_files":
		return hook.KindFileRead
	case "write_file":
		return hook.KindFileWrite
	case "edit", "replace":
		return hook.KindFileEdit
	case "glob", "grep_search", "search_file_content", "list_directory":
		return hook.KindSearch
	case "web_fetch", "web_search":
		return hook.KindWeb
	case "agent", "task":
		return hook.KindSubagent
	}
	if strings.HasPrefix(tool, "mcp__") {
		return hook.KindMCP
	}
	return hook.KindOther
}

// toolResult is the reason of a prompt that nobody wrote.
const toolResult = "tool_result"

func fill(f *protocol.Fields, row protocol.Event, _ protocol.Call, e *hook.Event) {
	switch row.Name {
	case "SessionStart":
		if e.Data.Reason == "resume" {
			e.Name = hook.SessionResume
		}
	case "UserPromptSubmit":
		if e.Data.Prompt == "" && !f.Has("submitted_prompt") {
			e.Data.Reason = toolResult
		}
	case "MessageDisplay":
		if f.Flag("is_final") {
			e.Name = hook.AgentMessage
		}
	case "TodoCreated", "TodoCompleted":
		e.Data.Message = f.Text("todo_content")
	}
}
