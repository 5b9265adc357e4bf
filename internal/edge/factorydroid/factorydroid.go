package factorydroid

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
		Name: hookwire.FactoryDroid, Title: "Droid", Events: events(), Kind: Kind, Fill: fill, Say: say,
		Keys: protocol.Keys{
			Event: []string{"hookEventName", "hook_event_name"}, Session: []string{"sessionId", "session_id"}, CWD: []string{"cwd"},
			Mode: []string{"permissionMode", "permission_mode"}, ToolName: []string{"tool_name", "toolName"}, ToolInput: []string{"tool_input", "toolInput"},
			Result: []string{"tool_response", "toolResponse"}, Prompt: []string{"prompt"}, Message: []string{"message"},
			StopActive: []string{"stopHookActive", "stop_hook_active"},
		},
		Manner: protocol.Manner{Order: "not known", Failure: "it runs", Unit: "seconds", Evidence: protocol.Documented},
		Quirks: []string{
			"hooks.json holds the events at its top; inside a \"hooks\" object they are passed over without a word (docs.factory.ai/harness/hooks)",
			"version 0.186.0 never read hooks.json; settings.json is read when there is none (its users, github.com/Factory-AI/factory)",
			"a changed input keeps the keys that it leaves out, so taking one out is a deny (docs.factory.ai/reference/hooks-reference)",
			"hooksDisabled, and an organization's policy, turn hooks off (docs.factory.ai/reference/hooks-reference)",
		},
	}
}

func events() []protocol.Event {
	const long = 60 * time.Second
	told := protocol.Documented
	return []protocol.Event{
		{Name: "SessionStart", Canonical: hook.SessionStart, Subject: "source", Context: true, Halt: true, Timeout: long, Evidence: told,
			Note: "source resume becomes session_resume"},
		{Name: "UserPromptSubmit", Canonical: hook.UserPromptSubmit, Block: true, Context: true, Halt: true, Timeout: long, Evidence: told,
			Note: "the reason is shown to the person and not to the model"},
		{Name: "PreToolUse", Canonical: hook.PreToolUse, Tool: true, Block: true, Ask: true, Grant: true, Rewrite: true, RewriteGrants: true, RewriteMerges: true,
			Halt: true, Timeout: long, Evidence: told, Note: "has no call id"},
		{Name: "PostToolUse", Canonical: hook.PostToolUse, Tool: true, Context: true, Feedback: true, Halt: true, Timeout: long, Evidence: told},
		{Name: "Notification", Canonical: hook.Notification, Timeout: long, Evidence: told},
		{Name: "PreCompact", Canonical: hook.PreCompact, Subject: "trigger", Halt: true, Timeout: long, Evidence: told,
			Note: "exit code 2 is shown to the person and stops nothing"},
		{Name: "SubagentStop", Canonical: hook.SubagentStop, Continue: true, Halt: true, Timeout: long, Evidence: told},
		{Name: "Stop", Canonical: hook.Stop, Continue: true, Halt: true, Timeout: long, Evidence: told, Note: "does not fire when the person interrupts"},
		{Name: "SessionEnd", Canonical: hook.SessionEnd, Subject: "reason", Timeout: long, Evidence: told},
	}
}

// Kind sorts Droid's tools.
func Kind(tool string) hook.Kind {
	switch tool {
	case "Execute":
		return hook.KindShell
	case "Read":
		return hook.KindFileRead
	case "Create", "Write":
		return hook.KindFileWrite
	case "Edit", "MultiEdit", "ApplyPatch":
		return hook.KindFileEdit
	case "LS", "Glob", "Grep":
		return hook.KindSearch
	case "FetchUrl", "WebSearch":
		return hook.KindWeb
	case "Task":
		return hook.KindSubagent
	}
	if strings.HasPrefix(tool, "mcp__") {
		return hook.KindMCP
	}
	return hook.KindOther
}

func fill(f *protocol.Fields, row protocol.Event, c protocol.Call, e *hook.Event) {
	e.Data.Workspace = c.Lookup("FACTORY_PROJECT_DIR")
	switch row.Name {
	case "SessionStart":
		if e.Data.Reason = f.Text("source"); e.Data.Reason == "resume" {
			e.Name = hook.SessionResume
		}
	case "UserPromptSubmit":
		if !f.Has("prompt") {
			f.Fail(protocol.Bad("there is no prompt"))
		}
	case "PreCompact":
		e.Data.Reason = f.Text("trigger")
	case "SessionEnd":
		e.Data.Reason = f.Text("reason")
	}
}
