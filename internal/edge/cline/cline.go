package cline

import (
	"strings"

	"github.com/grapnel-dev/grapnel/bus/hook"
	"github.com/grapnel-dev/grapnel/internal/edge/hookwire"
	"github.com/grapnel-dev/grapnel/internal/edge/protocol"
)

// New returns the protocol.
func New() *protocol.Agent {
	return &protocol.Agent{
		Name: hookwire.Cline, Title: "Cline", Events: events(), Kind: Kind, Fill: fill, Say: say,
		Keys: protocol.Keys{
			Event: []string{"hookName"}, Session: []string{"taskId"}, Time: []string{"timestamp"},
			ToolInput: []string{"preToolUse"}, // so that no later event with a call in it passes unread
		},
		Manner: protocol.Manner{Order: "one hook for each event", Failure: "it does not run", Unit: "none", Evidence: protocol.Documented},
		Quirks: []string{
			"a hook that crashes, hangs or prints what is no JSON blocks the action (docs/features/hooks/hook-reference.mdx)",
			"context is read with the model's next request and not with the action that it came for (docs/features/hooks/hook-reference.mdx)",
			"a project's hook file takes the place of the person's own for the same event (docs/features/hooks/hook-reference.mdx)",
			"a question to the person becomes a deny, and so does a changed input: Cline has neither (docs/features/hooks/hook-reference.mdx)",
		},
	}
}

func events() []protocol.Event {
	told := protocol.Documented
	return []protocol.Event{
		{Name: "TaskStart", Canonical: hook.SessionStart, Block: true, Context: true, Evidence: told, Note: "a task is a session; its first prompt is in the payload"},
		{Name: "TaskResume", Canonical: hook.SessionResume, Block: true, Context: true, Evidence: told},
		{Name: "UserPromptSubmit", Canonical: hook.UserPromptSubmit, Block: true, Context: true, Evidence: told},
		{Name: "PreToolUse", Canonical: hook.PreToolUse, Tool: true, Block: true, Context: true, Evidence: told,
			Note: "the parameters are all texts; context is read after the tool has run"},
		{Name: "PostToolUse", Canonical: hook.PostToolUse, Tool: true, Evidence: told, Note: "with success false it becomes post_tool_use_failure"},
		{Name: "PreCompact", Canonical: hook.PreCompact, Block: true, Context: true, Evidence: told, Note: "fires before the conversation is shortened"},
		{Name: "Notification", Canonical: hook.Notification, Evidence: told, Note: "in VS Code alone"},
		{Name: "TaskCancel", Canonical: hook.Interrupt, Evidence: told},
		{Name: "TaskError", Canonical: hook.Error, Evidence: told, Note: "on the command line alone"},
		{Name: "TaskComplete", Canonical: hook.SessionEnd, Evidence: told, Note: "cannot be kept from ending"},
		{Name: "SessionShutdown", Canonical: hook.SessionEnd, Evidence: told, Note: "on the command line alone"},
	}
}

// Kind sorts Cline's tools.
func Kind(tool string) hook.Kind {
	switch tool {
	case "execute_command":
		return hook.KindShell
	case "read_file":
		return hook.KindFileRead
	case "write_to_file":
		return hook.KindFileWrite
	case "replace_in_file", "apply_patch":
		return hook.KindFileEdit
	case "search_files", "list_files", "list_code_definition_names":
		return hook.KindSearch
	case "browser_action", "web_fetch", "web_search":
		return hook.KindWeb
	case "new_task", "use_subagents":
		return hook.KindSubagent
	case "use_mcp_tool", "access_mcp_resource":
		return hook.KindMCP
	}
	return hook.KindOther
}

func fill(f *protocol.Fields, row protocol.Event, _ protocol.Call, e *hook.Event) {
	if roots := f.Texts("workspaceRoots"); len(roots) > 0 {
		e.Data.Workspace = roots[0]
	}
	data := f.Object(strings.ToLower(row.Name[:1]) + row.Name[1:])
	d := &e.Data
	switch row.Name {
	case "PreToolUse", "PostToolUse":
		d.Tool.Name, d.Tool.Input = data.Text("toolName"), data.Input("parameters")
		d.Tool.Kind = Kind(d.Tool.Name)
		d.Result, d.DurationMS = data.Raw("result"), data.Number("executionTimeMs")
		if row.Name == "PostToolUse" && data.Has("success") && !data.Flag("success") {
			e.Name, d.Error = hook.PostToolUseFailure, text(data, "result")
		}
	case "UserPromptSubmit":
		if d.Prompt = data.Text("prompt"); !data.Has("prompt") {
			data.Fail(protocol.Bad("there is no prompt in userPromptSubmit"))
		}
	case "TaskComplete":
		d.Reason = "complete"
	case "SessionShutdown":
		d.Reason = "shutdown"
	}
	f.Fail(data.Err())
}

// text is a field that may be anything, if it is a text.
func text(f *protocol.Fields, key string) string {
	if raw := f.Raw(key); len(raw) == 0 || raw[0] != '"' {
		return ""
	}
	return f.Text(key)
}
