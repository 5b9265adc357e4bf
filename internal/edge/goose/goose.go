package goose

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
		Name: hookwire.Goose, Title: "Goose", Events: events(), Kind: Kind, Fill: fill, Say: say,
		Keys: protocol.Keys{
			Event: []string{"event"}, Session: []string{"session_id"}, CWD: []string{"working_dir"}, ToolName: []string{"tool_name"},
			ToolInput: []string{"tool_input"}, CallID: []string{"tool_call_id"},
			Prompt: []string{"message"}, Message: []string{"last_assistant_message"}, Reason: []string{"reason"},
		},
		Manner: protocol.Manner{Order: "not known", Failure: "it runs; our entries set on_failure, with which it does not", Unit: "seconds", Evidence: protocol.Documented},
		Quirks: []string{
			"a hook that fails lets the tool run, unless its on_failure is \"block\", which counts on PreToolUse alone (documentation/docs/guides/context-engineering/hooks.md)",
			"a matcher is a regular expression; \"*\" is none, and the rule is skipped with a line in the log (documentation/docs/guides/context-engineering/hooks.md)",
			"a prompt cannot be blocked, and no event takes context (documentation/docs/guides/context-engineering/hooks.md)",
			"it ends a turn that is kept up more often than GOOSE_STOP_HOOK_BLOCK_CAP says (documentation/docs/guides/context-engineering/hooks.md)",
		},
	}
}

func events() []protocol.Event {
	const long = 30 * time.Second
	told := protocol.Documented
	const (
		before = "cannot block, and fires beside PreToolUse for the same call, so it is left out"
		after  = "fires beside PostToolUse for the same call, so it is left out"
	)
	return []protocol.Event{
		{Name: "SessionStart", Canonical: hook.SessionStart, Timeout: long, Evidence: told},
		{Name: "UserPromptSubmit", Canonical: hook.UserPromptSubmit, Timeout: long, Evidence: told, Note: "cannot be blocked; a deny changes nothing"},
		{Name: "PreToolUse", Canonical: hook.PreToolUse, Tool: true, Block: true, Timeout: long, Evidence: told},
		{Name: "PreToolUseResult", Canonical: hook.PermissionDenied, Tool: true, Timeout: long, Unregistered: true, Evidence: told,
			Note: "says what the PreToolUse hooks decided, grapnel among them, and holds up each call, so it is left out; decision allow becomes permission_granted"},
		{Name: "BeforeReadFile", Canonical: hook.PreFileRead, Tool: true, Timeout: long, Unregistered: true, Evidence: told, Note: before},
		{Name: "BeforeShellExecution", Canonical: hook.PreShell, Tool: true, Timeout: long, Unregistered: true, Evidence: told, Note: before},
		{Name: "PostToolUse", Canonical: hook.PostToolUse, Tool: true, Timeout: long, Evidence: told},
		{Name: "PostToolUseFailure", Canonical: hook.PostToolUseFailure, Tool: true, Timeout: long, Evidence: told},
		{Name: "AfterFileEdit", Canonical: hook.PostFileEdit, Tool: true, Timeout: long, Unregistered: true, Evidence: told, Note: after},
		{Name: "AfterShellExecution", Canonical: hook.PostShell, Tool: true, Timeout: long, Unregistered: true, Evidence: told, Note: after},
		{Name: "Stop", Canonical: hook.Stop, Continue: true, Timeout: long, Evidence: told, Note: "stays open when a hook fails, whatever on_failure says"},
		{Name: "SessionEnd", Canonical: hook.SessionEnd, Timeout: long, Evidence: told},
	}
}

// Kind sorts Goose's tools. Those of its own are developer's; the others are of
// extensions, which are MCP servers.
func Kind(tool string) hook.Kind {
	extension, name, ok := strings.Cut(tool, "__")
	if !ok {
		extension, name = "developer", tool
	}
	if extension != "developer" {
		return hook.KindMCP
	}
	switch name {
	case "shell":
		return hook.KindShell
	case "read_image":
		return hook.KindFileRead
	case "write":
		return hook.KindFileWrite
	case "edit", "text_editor":
		return hook.KindFileEdit
	case "tree":
		return hook.KindSearch
	}
	return hook.KindOther
}

func fill(f *protocol.Fields, row protocol.Event, _ protocol.Call, e *hook.Event) {
	switch row.Name {
	case "PreToolUseResult":
		if f.Text("decision") == "allow" {
			e.Name = hook.PermissionGranted
		}
	case "UserPromptSubmit":
		if !f.Has("message") {
			f.Fail(protocol.Bad("there is no message"))
		}
	case "BeforeReadFile", "AfterFileEdit":
		e.Data.Path = f.Text("matcher_context")
	}
}
