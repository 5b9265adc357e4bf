package vscode

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
		Name: hookwire.VSCode, Title: "VS Code", Events: events(), Kind: Kind, Say: say,
		Keys: protocol.Keys{
			Event: []string{"hookEventName", "hook_event_name"}, Session: []string{"sessionId", "session_id"}, Time: []string{"timestamp"},
			CWD: []string{"cwd"}, ToolName: []string{"tool_name"}, ToolInput: []string{"tool_input"}, CallID: []string{"tool_use_id"},
			Result: []string{"tool_response"}, Prompt: []string{"prompt"}, Reason: []string{"source", "trigger"},
			StopActive: []string{"stop_hook_active"}, SubagentID: []string{"agent_id"}, SubagentType: []string{"agent_type"},
		},
		Manner: protocol.Manner{Order: "not known", Failure: "it runs", Unit: "seconds", Evidence: protocol.Documented},
		Quirks: []string{
			"hooks are a preview, and an organization may have turned them off (hooks reference, 2026-06-03)",
			"matchers are not applied, so each hook fires for every tool (hooks reference)",
			"hooks in .claude/settings.json and those for Copilot in .github/hooks and ~/.copilot/hooks run here as well, with VS Code's own payloads, " +
				"which grapnel denies under another agent's name; chat.hookFilesLocations turns them off (hooks reference)",
			"a hook that runs out of time or fails lets the tool run (nodeHookExecutor.ts)",
			"a changed input that does not fit the tool's schema is dropped and the original runs, so grapnel denies instead (hooks reference)",
			"a compaction that a person asks for fires no PreCompact (summarizedConversationHistory.tsx)",
		},
	}
}

func events() []protocol.Event {
	const timeout = 30 * time.Second
	documented := protocol.Documented
	return []protocol.Event{
		{Name: "SessionStart", Canonical: hook.SessionStart, Subject: "source", Context: true, Timeout: timeout, Evidence: documented,
			Note: "fires at a session's first prompt; source is always new; errors and continue:false are passed over (source)"},
		{Name: "UserPromptSubmit", Canonical: hook.UserPromptSubmit, Block: true, Context: true, Halt: true, Timeout: timeout, Evidence: documented,
			Note: "only the common keys are documented; the context is in the source"},
		{Name: "PreToolUse", Canonical: hook.PreToolUse, Tool: true, Block: true, Ask: true, Grant: true, Context: true, Halt: true,
			Timeout: timeout, Evidence: documented,
			Note: "a changed input that does not fit the tool's schema is dropped and the original runs; nobody here knows the schema, so it is a deny"},
		{Name: "PostToolUse", Canonical: hook.PostToolUse, Tool: true, Context: true, Feedback: true, Halt: true, Timeout: timeout, Evidence: documented},
		{Name: "SubagentStart", Canonical: hook.SubagentStart, Subject: "agent_type", Context: true, Timeout: timeout, Evidence: documented,
			Note: "errors and continue:false are passed over (source)"},
		{Name: "SubagentStop", Canonical: hook.SubagentStop, Subject: "agent_type", Continue: true, Halt: true, Timeout: timeout, Evidence: documented},
		{Name: "PreCompact", Canonical: hook.PreCompact, Subject: "trigger", Timeout: timeout, Evidence: documented,
			Note: "the common keys are documented and none is read (source)"},
		{Name: "Stop", Canonical: hook.Stop, Says: []string{"SubagentStop"}, Continue: true, Halt: true, Timeout: timeout, Evidence: documented,
			Note: "of a custom agent that runs as a sub-agent it is a SubagentStop"},
	}
}

// Kind sorts VS Code's tools: by their names in the source, by those in the
// documentation, and MCP tools by their prefix.
func Kind(tool string) hook.Kind {
	switch tool {
	case "run_in_terminal", "send_to_terminal", "create_and_run_task", "run_task", "runTerminalCommand":
		return hook.KindShell
	case "read_file", "view_image", "read_notebook_cell_output", "copilot_getNotebookSummary", "readFile":
		return hook.KindFileRead
	case "create_file", "create_directory", "create_new_jupyter_notebook", "createFile":
		return hook.KindFileWrite
	case "replace_string_in_file", "multi_replace_string_in_file", "insert_edit_into_file", "apply_patch", "edit_notebook_file", "edit_files",
		"editFiles", "deleteFile":
		return hook.KindFileEdit
	case "file_search", "grep_search", "semantic_search", "list_dir", "search_workspace_symbols", "test_search":
		return hook.KindSearch
	case "fetch_webpage", "github_repo", "github_text_search", "open_browser_page", "navigate_page", "read_page":
		return hook.KindWeb
	case "runSubagent", "search_subagent", "explore_subagent", "execution_subagent":
		return hook.KindSubagent
	}
	if strings.HasPrefix(tool, "mcp_") {
		return hook.KindMCP
	}
	return hook.KindOther
}
