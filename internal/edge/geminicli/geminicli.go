package geminicli

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
		Name: hookwire.GeminiCLI, Title: "Gemini CLI", Events: events(), Kind: Kind, Fill: fill, Say: say,
		Keys: protocol.Keys{
			Event: []string{"hook_event_name"}, Session: []string{"session_id"}, Time: []string{"timestamp"}, CWD: []string{"cwd"},
			ToolName: []string{"tool_name"}, ToolInput: []string{"tool_input"}, Result: []string{"tool_response"},
			Prompt: []string{"prompt"}, Message: []string{"message", "prompt_response"}, Reason: []string{"reason", "trigger", "source"},
			StopActive: []string{"stop_hook_active"},
		},
		Manner: protocol.Manner{Order: "at the same time", Failure: "it runs; when the program is missing or ends with 3 and more beside text, it does not", Unit: "milliseconds", Evidence: protocol.Seen},
		Quirks: []string{
			"time-outs in its settings are milliseconds (docs/hooks/reference.md)",
			"a hook command that is not found blocks tools and prompts, and a turn then never ends; take the hooks out before the program (seen, 0.61.0)",
			"a hook that ignores TERM at its time-out holds it until the hook ends by itself; it sends no KILL (seen)",
			"nothing ends a turn that a hook keeps going; grapnel lets it stop after two blocks in a row (seen: 438 rounds in 12 s)",
			"an ask where nobody is there ends the session at once, with exit code 0 (seen, -p)",
			"hooks share its process group and terminal (seen)",
			"< and > in context reach the model as &lt; and &gt; (hooks/types.ts)",
			"sub-agents' tools look like the main agent's (seen)",
		},
	}
}

func events() []protocol.Event {
	const minute = time.Minute
	seen := protocol.Seen
	return []protocol.Event{
		{Name: "SessionStart", Canonical: hook.SessionStart, Subject: "source", Context: true, Timeout: minute, Evidence: seen,
			Note: "source resume becomes session_resume; nothing blocks a session's start"},
		{Name: "BeforeAgent", Canonical: hook.UserPromptSubmit, Block: true, Context: true, Halt: true, Timeout: minute, Evidence: seen,
			Note: "fires for each retry of AfterAgent as well; a deny takes the prompt out of the history, a halt leaves it there"},
		{Name: "PreCompress", Canonical: hook.PreCompact, Subject: "trigger", Timeout: minute, Unregistered: true, Evidence: seen,
			Note: "fires before every request, whether anything is compressed or not, so it says nothing and is left out"},
		{Name: "BeforeModel", Canonical: hook.BeforeModel, Block: true, Timeout: minute, Unregistered: true, Evidence: seen,
			Note: "hands over the whole conversation before each request, and a long one is too large for a gate; left out for that"},
		{Name: "BeforeToolSelection", Canonical: hook.BeforeToolSelection, Timeout: minute, Unregistered: true, Evidence: seen,
			Note: "hands over the whole conversation before each request and obeys nothing, so it is left out"},
		{Name: "AfterModel", Canonical: hook.AfterModel, Timeout: minute, Unregistered: true, Evidence: seen,
			Note: "a process for each streamed piece, with the whole conversation; a deny makes it ask the model again"},
		{Name: "BeforeTool", Canonical: hook.PreToolUse, Tool: true, Block: true, Ask: true, Rewrite: true, RewriteMerges: true, Halt: true,
			Timeout: minute, Evidence: seen, Note: "has no call id; an allow does not skip the question; context is not read"},
		{Name: "AfterTool", Canonical: hook.PostToolUse, Tool: true, Context: true, Halt: true, Feedback: true, Timeout: minute, Evidence: seen,
			Note: "a deny's reason replaces the result; with an error in tool_response it becomes post_tool_use_failure, and a command's own failure is none"},
		{Name: "Notification", Canonical: hook.Notification, Subject: "notification_type", Timeout: minute, Evidence: seen,
			Note: "ToolPermission alone: a question stands on the screen"},
		{Name: "AfterAgent", Canonical: hook.Stop, Continue: true, Halt: true, Timeout: minute, Evidence: seen},
		{Name: "SessionEnd", Canonical: hook.SessionEnd, Subject: "reason", Timeout: minute, Evidence: seen,
			Note: "is waited for, and fires three times when the terminal is left with /quit"},
	}
}

// Kind sorts Gemini CLI's tools.
func Kind(tool string) hook.Kind {
	switch tool {
	case "run_shell_command":
		return hook.KindShell
	case "read_file", "read_many_files":
		return hook.KindFileRead
	case "write_file":
		return hook.KindFileWrite
	case "replace":
		return hook.KindFileEdit
	case "glob", "search_file_content", "grep_search", "list_directory":
		return hook.KindSearch
	case "web_fetch", "google_web_search":
		return hook.KindWeb
	case "invoke_agent":
		return hook.KindSubagent
	}
	if strings.HasPrefix(tool, "mcp_") { // mcp_SERVER_TOOL, with one underscore
		return hook.KindMCP
	}
	return hook.KindOther
}

func fill(f *protocol.Fields, row protocol.Event, _ protocol.Call, e *hook.Event) {
	switch row.Name {
	case "SessionStart":
		if e.Data.Reason == "resume" {
			e.Name = hook.SessionResume
		}
	case "AfterTool":
		if why, failed := failure(f); failed {
			e.Name, e.Data.Error = hook.PostToolUseFailure, why
		}
	case "AfterAgent":
		e.Data.Prompt = f.Text("prompt")
	case "BeforeModel", "BeforeToolSelection", "AfterModel":
		e.Data.Model = f.Object("llm_request").Text("model")
		e.Data.Message = f.Object("llm_response").Text("text")
	}
}

// failure is the error in a tool's response, which may be of any type.
func failure(f *protocol.Fields) (why string, failed bool) {
	if raw := f.Raw("tool_response"); len(raw) == 0 || raw[0] != '{' {
		return "", false
	}
	response := f.Object("tool_response")
	raw := response.Raw("error")
	switch {
	case len(raw) == 0:
		return "", false
	case raw[0] == '"':
		return response.Text("error"), true
	case raw[0] == '{':
		if inner := response.Object("error"); len(inner.Raw("message")) > 0 && inner.Raw("message")[0] == '"' {
			return inner.Text("message"), true
		}
	}
	return string(raw), true
}
