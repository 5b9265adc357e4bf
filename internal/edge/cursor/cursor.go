package cursor

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
		Name: hookwire.Cursor, Title: "Cursor", Events: events(), Kind: Kind, Fill: fill, Say: say,
		Keys: protocol.Keys{
			Event: []string{"hook_event_name"}, Session: []string{"conversation_id", "session_id"}, Turn: []string{"generation_id"},
			CWD: []string{"cwd"}, Model: []string{"model"}, ToolName: []string{"tool_name"}, ToolInput: []string{"tool_input"},
			CallID: []string{"tool_use_id"}, Result: []string{"tool_output", "output", "result_json"}, Error: []string{"error_message"},
			Duration: []string{"duration", "duration_ms"}, Prompt: []string{"prompt"}, Message: []string{"text", "summary", "task"},
			Reason:     []string{"reason", "status", "trigger", "failure_type"},
			SubagentID: []string{"subagent_id"}, SubagentType: []string{"subagent_type"}, Path: []string{"file_path"},
		},
		Manner: protocol.Manner{Order: "not known", Failure: "it runs; our entries set failClosed, with which it does not", Unit: "seconds", Evidence: protocol.Documented},
		Quirks: []string{
			"an empty answer on a permission hook blocks every tool (users' reports, 2026-08)",
			"a hook that fails or runs out of time lets the action pass, unless failClosed stands at its entry (cursor.com/docs/hooks, 2026-08-24)",
			"the time-out without one in the settings is not documented",
			"one event's name that the command line does not know makes it drop the whole hooks.json (users' reports, cursor-agent 2026.09.10); the editor passes over it",
			"hooks of Claude Code run as well when third-party hooks are on: install for one of the two (cursor.com/docs/reference/third-party-hooks)",
			"cloud agents run no hooks of the person's, none of the session's and none on MCP calls; preToolUse fires there (cursor.com/docs/hooks)",
			"agent -p fires neither beforeSubmitPrompt nor stop (users' reports, cursor-agent 2026.09.10)",
			"an ask on preToolUse is accepted and not enforced, so grapnel denies instead (cursor.com/docs/hooks)",
		},
	}
}

const (
	lastHook = "preToolUse has decided on the call already, and whether an allow here skips Cursor's own question is not known; " +
		"left out, and where it is registered no opinion is an ask, as anything else could be a grant or a block"
	sameCall = "left out: postToolUse tells of the same call"
	typing   = "left out for its cost: it fires while the person types"
)

func events() []protocol.Event {
	doc := protocol.Documented
	return []protocol.Event{
		{Name: "workspaceOpen", Canonical: hook.Setup, Evidence: doc, Note: "takes paths of plugins, and is told none"},
		{Name: "sessionStart", Canonical: hook.SessionStart, Subject: "composer_mode", Context: true, Evidence: doc, Note: "nobody waits for the answer"},
		{Name: "beforeSubmitPrompt", Canonical: hook.UserPromptSubmit, Block: true, Evidence: doc, Note: "takes no context"},
		{Name: "preToolUse", Canonical: hook.PreToolUse, Tool: true, Block: true, Rewrite: true, RewriteMerges: true, Evidence: doc,
			Note: "carries the decision for all tools: an allow lets the call go on to Cursor's own checks, which come after it; " +
				"an ask is not enforced and so a deny; whether a changed input is merged is not documented"},
		{Name: "beforeShellExecution", Canonical: hook.PreShell, Tool: true, Block: true, Ask: true, Grant: true, SilenceAsks: true, Unregistered: true,
			Evidence: doc, Note: lastHook},
		{Name: "beforeMCPExecution", Canonical: hook.PreMCPCall, Tool: true, Block: true, Ask: true, Grant: true, SilenceAsks: true, Unregistered: true,
			Evidence: doc, Note: lastHook},
		{Name: "beforeReadFile", Canonical: hook.PreFileRead, Tool: true, Block: true, Evidence: doc,
			Note: "carries the file's whole content; one that is too large for an event is denied"},
		{Name: "beforeTabFileRead", Canonical: hook.PreFileRead, Tool: true, Block: true, Unregistered: true, Evidence: doc, Note: typing},
		{Name: "postToolUse", Canonical: hook.PostToolUse, Tool: true, Context: true, Evidence: doc},
		{Name: "postToolUseFailure", Canonical: hook.PostToolUseFailure, Tool: true, Evidence: doc,
			Note: "failure_type permission_denied becomes permission_denied"},
		{Name: "afterShellExecution", Canonical: hook.PostShell, Tool: true, Unregistered: true, Evidence: doc, Note: sameCall},
		{Name: "afterMCPExecution", Canonical: hook.PostMCP, Tool: true, Unregistered: true, Evidence: doc, Note: sameCall},
		{Name: "afterFileEdit", Canonical: hook.PostFileEdit, Tool: true, Evidence: doc},
		{Name: "afterTabFileEdit", Canonical: hook.PostFileEdit, Tool: true, Unregistered: true, Evidence: doc, Note: typing},
		{Name: "afterAgentThought", Canonical: hook.ModelThought, Evidence: doc},
		{Name: "afterAgentResponse", Canonical: hook.AgentMessage, Evidence: doc},
		{Name: "subagentStart", Canonical: hook.SubagentStart, Subject: "subagent_type", Block: true, Evidence: doc},
		{Name: "subagentStop", Canonical: hook.SubagentStop, Subject: "subagent_type", Continue: true, Evidence: doc,
			Note: "goes on only if its status is completed, and five times at most"},
		{Name: "preCompact", Canonical: hook.PreCompact, Subject: "trigger", Evidence: doc},
		{Name: "stop", Canonical: hook.Stop, Subject: "status", Continue: true, Evidence: doc,
			Note: "status aborted becomes interrupt and error becomes stop_failure; goes on five times at most"},
		{Name: "sessionEnd", Canonical: hook.SessionEnd, Subject: "reason", Evidence: doc},
	}
}

// mcp stands before the names of MCP tools, where events are about all tools.
const mcp = "MCP:"

// Kind sorts Cursor's tools.
func Kind(tool string) hook.Kind {
	switch tool {
	case "Shell":
		return hook.KindShell
	case "Read", "TabRead":
		return hook.KindFileRead
	case "Write", "TabWrite":
		return hook.KindFileWrite
	case "Edit", "StrReplace", "Delete":
		return hook.KindFileEdit
	case "Grep", "Glob":
		return hook.KindSearch
	case "WebFetch", "WebSearch":
		return hook.KindWeb
	case "Task":
		return hook.KindSubagent
	}
	if strings.HasPrefix(tool, mcp) {
		return hook.KindMCP
	}
	return hook.KindOther
}

func fill(f *protocol.Fields, row protocol.Event, c protocol.Call, e *hook.Event) {
	d := &e.Data
	if roots := f.Texts("workspace_roots"); len(roots) > 0 {
		d.Workspace = roots[0]
	}
	if d.Workspace == "" {
		d.Workspace = c.Lookup("CURSOR_PROJECT_DIR")
	}
	if f.Text("cwd") == "" && d.Workspace != "" {
		d.CWD = d.Workspace
	}
	switch row.Name {
	case "beforeShellExecution", "afterShellExecution":
		tool(f, d.Tool, "Shell", hook.KindShell, "command", "cwd")
	case "beforeReadFile":
		tool(f, d.Tool, "Read", hook.KindFileRead, "file_path")
	case "beforeTabFileRead":
		tool(f, d.Tool, "TabRead", hook.KindFileRead, "file_path")
	case "afterFileEdit":
		tool(f, d.Tool, "Write", hook.KindFileEdit, "file_path", "edits")
	case "afterTabFileEdit":
		tool(f, d.Tool, "TabWrite", hook.KindFileEdit, "file_path", "edits")
	case "beforeMCPExecution", "afterMCPExecution":
		d.Tool.Kind = hook.KindMCP
		if d.Tool.Name != "" && !strings.HasPrefix(d.Tool.Name, mcp) {
			d.Tool.Name = mcp + d.Tool.Name // as preToolUse calls it
		}
	case "postToolUseFailure":
		if d.Reason == "permission_denied" {
			e.Name = hook.PermissionDenied
		}
	case "stop":
		switch d.Reason {
		case "aborted":
			e.Name = hook.Interrupt
		case "error":
			e.Name = hook.StopFailure
		}
	}
	if row.Canonical == hook.Stop || row.Canonical == hook.SubagentStop {
		d.StopActive = f.Number("loop_count") > 0
	}
}

// tool makes a tool call of an event that is about one tool: its fields are the
// input. The first is a text that is there.
func tool(f *protocol.Fields, t *hook.Tool, name string, kind hook.Kind, keys ...string) {
	if f.Text(keys[0]) == "" {
		f.Fail(protocol.Bad("it has no %s", keys[0]))
		return
	}
	var b strings.Builder
	for _, key := range keys {
		raw := f.Raw(key)
		if raw == nil {
			continue
		}
		separator := ","
		if b.Len() == 0 {
			separator = "{"
		}
		if key == "cwd" {
			key = "working_directory" // as the tool calls it
		}
		b.WriteString(separator + `"` + key + `":` + string(raw))
	}
	t.Name, t.Kind, t.Input = name, kind, json.RawMessage(b.String()+"}")
}
