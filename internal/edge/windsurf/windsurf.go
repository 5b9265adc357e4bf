package windsurf

import (
	"encoding/json"
	"strings"

	"github.com/grapnel-dev/grapnel/bus/hook"
	"github.com/grapnel-dev/grapnel/internal/edge/hookwire"
	"github.com/grapnel-dev/grapnel/internal/edge/protocol"
)

// New returns the protocol.
func New() *protocol.Agent {
	return &protocol.Agent{
		Name: hookwire.Windsurf, Title: "Windsurf", Events: events(), Kind: Kind, Fill: fill, Say: say,
		Keys: protocol.Keys{
			Event: []string{"agent_action_name"}, Session: []string{"trajectory_id"}, Turn: []string{"execution_id"},
			Time: []string{"timestamp"}, Model: []string{"model_name"}, ToolInput: []string{"tool_info"},
		},
		Manner: protocol.Manner{Order: "not known", Failure: "it runs", Unit: "none", Evidence: protocol.Documented},
		Quirks: []string{
			"only exit code 2 blocks; a hook that crashes or is not found lets the action run, and no setting changes that (docs.windsurf.com/windsurf/cascade/hooks)",
			"hooks have no time-out in its settings (docs.windsurf.com/windsurf/cascade/hooks)",
			"a question to the person, a changed input and context cannot be said to it: the first two become a deny (docs.windsurf.com/windsurf/cascade/hooks)",
			"hooks of /etc/windsurf, of ~/.codeium/windsurf and of the workspace are all run, so one that is in two of them is called twice (docs.windsurf.com/windsurf/cascade/hooks)",
		},
	}
}

func events() []protocol.Event {
	return []protocol.Event{
		{Name: "post_setup_worktree", Canonical: hook.Setup, Evidence: protocol.Documented, Note: "runs inside the new worktree"},
		{Name: "pre_user_prompt", Canonical: hook.UserPromptSubmit, Block: true, Evidence: protocol.Documented},
		{Name: "pre_read_code", Canonical: hook.PreFileRead, Tool: true, Block: true, Evidence: protocol.Documented, Note: "a directory may be read as well"},
		{Name: "pre_write_code", Canonical: hook.PreToolUse, Tool: true, Block: true, Evidence: protocol.Documented},
		{Name: "pre_run_command", Canonical: hook.PreShell, Tool: true, Block: true, Evidence: protocol.Documented},
		{Name: "pre_mcp_tool_use", Canonical: hook.PreMCPCall, Tool: true, Block: true, Evidence: protocol.Documented},
		{Name: "post_read_code", Canonical: hook.PostToolUse, Tool: true, Evidence: protocol.Documented},
		{Name: "post_write_code", Canonical: hook.PostFileEdit, Tool: true, Evidence: protocol.Documented},
		{Name: "post_run_command", Canonical: hook.PostShell, Tool: true, Evidence: protocol.Documented},
		{Name: "post_mcp_tool_use", Canonical: hook.PostMCP, Tool: true, Evidence: protocol.Documented},
		{Name: "post_cascade_response", Canonical: hook.AgentMessage, Evidence: protocol.Documented, Note: "the whole text of a turn; nobody waits for it"},
		{Name: "post_cascade_response_with_transcript", Canonical: hook.AgentMessage, Unregistered: true, Evidence: protocol.Documented,
			Note: "says the same as post_cascade_response, and to listen makes Windsurf write the conversation to a file, so it is left out"},
	}
}

// Kind sorts the tools that this package names after Windsurf's events.
func Kind(tool string) hook.Kind {
	switch tool {
	case "run_command":
		return hook.KindShell
	case "read_code":
		return hook.KindFileRead
	case "write_code":
		return hook.KindFileEdit
	}
	if strings.HasPrefix(tool, "mcp__") {
		return hook.KindMCP
	}
	return hook.KindOther
}

func fill(f *protocol.Fields, row protocol.Event, _ protocol.Call, e *hook.Event) {
	info := f.Object("tool_info")
	switch row.Name {
	case "pre_user_prompt":
		if e.Data.Prompt = info.Text("user_prompt"); !info.Has("user_prompt") {
			info.Fail(protocol.Bad("there is no user_prompt in tool_info"))
		}
	case "post_cascade_response":
		e.Data.Message = info.Text("response")
	case "post_cascade_response_with_transcript":
		e.Data.Path = info.Text("transcript_path")
	case "post_setup_worktree":
		e.Data.Path, e.Data.Workspace = info.Text("worktree_path"), info.Text("root_workspace_path")
	case "pre_mcp_tool_use", "post_mcp_tool_use":
		t := e.Data.Tool
		t.Name, t.Input = mcpName(info.Text("mcp_server_name"), info.Text("mcp_tool_name")), info.Input("mcp_tool_arguments")
		if t.Input == nil {
			t.Input = json.RawMessage("{}") // it takes none
		}
		e.Data.Result = info.Raw("mcp_result")
	default:
		_, action, _ := strings.Cut(row.Name, "_")
		e.Data.Tool.Name = action
	}
	if t := e.Data.Tool; t != nil {
		t.Kind = Kind(t.Name)
		needs(info, row.Name)
	}
	f.Fail(info.Err())
}

// needs sees to it that a gate says what it is about.
func needs(info *protocol.Fields, event string) {
	key := map[string]string{"pre_read_code": "file_path", "pre_write_code": "file_path", "pre_run_command": "command_line"}[event]
	if key != "" && info.Text(key) == "" {
		info.Fail(protocol.Bad("there is no %s in tool_info", key))
	}
}

func mcpName(server, tool string) string {
	if server == "" || tool == "" {
		return "" // refused
	}
	return "mcp__" + server + "__" + tool
}
