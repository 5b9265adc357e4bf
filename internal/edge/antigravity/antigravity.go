package antigravity

import (
	"strings"

	"github.com/grapnel-dev/grapnel/bus/hook"
	"github.com/grapnel-dev/grapnel/internal/edge/hookwire"
	"github.com/grapnel-dev/grapnel/internal/edge/protocol"
)

// New returns the protocol.
func New() *protocol.Agent {
	return &protocol.Agent{
		Name: hookwire.Antigravity, Title: "Antigravity", Events: events(), Kind: Kind, Fill: fill, Sniff: sniff, Say: say,
		Keys: protocol.Keys{
			Session: []string{"conversationId"}, Model: []string{"modelName"}, Error: []string{"error"},
			ToolInput: []string{"toolCall"}, // so that no later event with a call in it passes unread
		},
		Manner: protocol.Manner{Order: "not known", Failure: "it does not run; an empty answer with exit code 0 lets it run", Unit: "seconds, whole numbers", Evidence: protocol.Documented},
		Quirks: []string{
			"it fails closed: {} and all that it cannot read deny the tool call (safe-chains, agy 1.2.3)",
			"allow does not skip its own question in 1.1.2, and does in 1.2.3 (safe-chains)",
			"a time-out that is no whole number, or a key of the wrong type, drops the whole hooks.json with one line in the debug log (skillsaw, agy 1.1.25)",
			"ask is answered from what was always allowed, so grapnel says force_ask (safe-chains, agy 1.1.2)",
			"a prompt has no event, and SessionStart was not seen to fire (skillsaw)",
		},
	}
}

func events() []protocol.Event {
	told := protocol.Documented
	return []protocol.Event{
		{Name: "SessionStart", Canonical: hook.SessionStart, Evidence: told, Note: "in tables of others, and not seen to fire"},
		{Name: "PreInvocation", Canonical: hook.BeforeModel, Context: true, Evidence: told,
			Note: "fires before each request to the model, which cannot be denied; the one place for context"},
		{Name: "PostInvocation", Canonical: hook.AfterModel, Unregistered: true, Evidence: told, Note: "fires after each request to the model; left out for its cost"},
		{Name: "PreToolUse", Canonical: hook.PreToolUse, Tool: true, Block: true, Ask: true, Grant: true, Evidence: told,
			Note: "without an answer that can be read the call is denied"},
		{Name: "PostToolUse", Says: []string{"PreToolUse"}, Canonical: hook.PostToolUse, Evidence: told, Note: "names the step and no tool; with an error it becomes post_tool_use_failure"},
		{Name: "Stop", Canonical: hook.Stop, Continue: true, Evidence: told},
	}
}

// Kind sorts Antigravity's tools.
func Kind(tool string) hook.Kind {
	switch tool {
	case "run_command":
		return hook.KindShell
	case "view_file", "view_code_item", "view_file_outline":
		return hook.KindFileRead
	case "write_to_file":
		return hook.KindFileWrite
	case "replace_file_content", "multi_replace_file_content":
		return hook.KindFileEdit
	case "grep_search", "find_by_name", "list_dir", "codebase_search":
		return hook.KindSearch
	case "search_web", "read_url_content":
		return hook.KindWeb
	case "invoke_subagent":
		return hook.KindSubagent
	}
	switch {
	case strings.HasPrefix(tool, "browser_"):
		return hook.KindWeb
	case strings.HasPrefix(tool, "mcp_"):
		return hook.KindMCP
	}
	return hook.KindOther
}

func fill(f *protocol.Fields, row protocol.Event, _ protocol.Call, e *hook.Event) {
	if roots := f.Texts("workspacePaths"); len(roots) > 0 {
		e.Data.Workspace = roots[0]
	}
	if row.Name != "PreToolUse" && row.Name != "PostToolUse" {
		return
	}
	call := f.Object("toolCall")
	name := call.Text("name")
	e.Data.Tool = &hook.Tool{Name: name, Kind: Kind(name), Input: call.Input("args"), CallID: step(f)}
	f.Fail(call.Err())
	if row.Name == "PostToolUse" && e.Data.Error != "" {
		e.Name = hook.PostToolUseFailure
	}
}

// sniff knows a tool call, which is the only thing that tells one event's
// payload from another's. A later PostToolUse may have it, too.
func sniff(f *protocol.Fields) string {
	if f.Raw("toolCall") != nil {
		return "PreToolUse"
	}
	return ""
}

// step is the number of a step, as the agent writes it: protojson may put large
// numbers into quotes.
func step(f *protocol.Fields) string {
	return protocol.Clip(strings.Trim(string(f.Raw("stepIdx")), `"`))
}
