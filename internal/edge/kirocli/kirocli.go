package kirocli

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
		Name: hookwire.KiroCLI, Title: "Kiro CLI", Events: append(third(), second()...), Kind: Kind, Fill: fill, Say: say,
		Keys: protocol.Keys{
			Event: []string{"hook_event_name"}, Session: []string{"session_id"}, CWD: []string{"cwd"}, ToolName: []string{"tool_name"},
			ToolInput: []string{"tool_input"}, Result: []string{"tool_response"}, Prompt: []string{"prompt"}, Message: []string{"assistant_response"},
		},
		Manner: protocol.Manner{Order: "not known", Failure: "it runs", Unit: "seconds; milliseconds in version 2", Evidence: protocol.Documented},
		Quirks: []string{
			"a hook that crashes or takes too long lets the action run, and no setting changes that (kiro.dev/docs/cli/hooks)",
			"version 3 does not run hooks of an agent's configuration any more; `kiro-cli agent migrate` moves them (kiro.dev/docs/cli/v3/hooks)",
			"version 2 cannot block a prompt: a deny is a warning there (docs/hooks.md of aws/amazon-q-developer-cli)",
			"time-outs are seconds in version 3 and milliseconds, timeout_ms, in version 2 (kiro.dev/docs/cli/v3/hooks)",
			"cache_ttl_seconds of version 2 gives an old answer again, and must not be set for grapnel (docs/hooks.md of aws/amazon-q-developer-cli)",
		},
	}
}

// third are the triggers of version 3.
func third() []protocol.Event {
	const long = 60 * time.Second
	told := protocol.Documented
	return []protocol.Event{
		{Name: "SessionStart", Aliases: []string{"AgentSpawn"}, Says: []string{"agentSpawn"}, Canonical: hook.SessionStart, Context: true, Timeout: long, Evidence: told},
		{Name: "UserPromptSubmit", Says: []string{"userPromptSubmit"}, Canonical: hook.UserPromptSubmit, Block: true, Context: true, Timeout: long, Evidence: told},
		{Name: "PreToolUse", Says: []string{"preToolUse"}, Canonical: hook.PreToolUse, Tool: true, Block: true, Context: true, Timeout: long, Evidence: told},
		{Name: "PostToolUse", Says: []string{"postToolUse"}, Canonical: hook.PostToolUse, Tool: true, Context: true, Timeout: long, Evidence: told},
		{Name: "PostFileCreate", Canonical: hook.FileChanged, Timeout: long, Evidence: told, Note: "in the IDE; what its payload has is not documented"},
		{Name: "PostFileSave", Canonical: hook.FileChanged, Timeout: long, Evidence: told, Note: "in the IDE; what its payload has is not documented"},
		{Name: "PostFileDelete", Canonical: hook.FileChanged, Timeout: long, Evidence: told, Note: "in the IDE; what its payload has is not documented"},
		{Name: "PreTaskExec", Canonical: hook.TaskCreated, Block: true, Context: true, Timeout: long, Evidence: told, Note: "before a task of a specification is worked on"},
		{Name: "PostTaskExec", Canonical: hook.TaskCompleted, Context: true, Timeout: long, Evidence: told, Note: "after a task of a specification; cannot be kept open"},
		{Name: "Stop", Says: []string{"stop"}, Canonical: hook.Stop, Context: true, Timeout: long, Evidence: told, Note: "cannot be kept up; context waits for the next prompt"},
		{Name: "SessionEnd", Canonical: hook.SessionEnd, Timeout: long, Evidence: told, Note: "since 2.25 with the third hooks"},
		{Name: "Manual", Aliases: []string{"manual"}, Canonical: hook.Other, Timeout: long, Unregistered: true, Evidence: told,
			Note: "fires when the person starts the hook, so there is nothing to listen for"},
	}
}

// second are the events of version 2.
func second() []protocol.Event {
	const long = 30 * time.Second
	const note = "version 2, in an agent's own configuration, which is the person's to write, so it is left out"
	told := protocol.Documented
	return []protocol.Event{
		{Name: "agentSpawn", Canonical: hook.SessionStart, Context: true, Timeout: long, Unregistered: true, Evidence: told, Note: note},
		{Name: "userPromptSubmit", Canonical: hook.UserPromptSubmit, Context: true, Timeout: long, Unregistered: true, Evidence: told,
			Note: note + "; cannot be blocked"},
		{Name: "preToolUse", Canonical: hook.PreToolUse, Tool: true, Block: true, Timeout: long, Unregistered: true, Evidence: told, Note: note},
		{Name: "postToolUse", Canonical: hook.PostToolUse, Tool: true, Timeout: long, Unregistered: true, Evidence: told, Note: note},
		{Name: "stop", Canonical: hook.Stop, Timeout: long, Unregistered: true, Evidence: told, Note: note + "; cannot be kept up"},
	}
}

// Kind sorts Kiro's tools, by their own names and those of version 3's matchers.
func Kind(tool string) hook.Kind {
	switch tool {
	case "execute_bash", "execute_cmd", "shell":
		return hook.KindShell
	case "fs_read", "read":
		return hook.KindFileRead
	case "fs_write", "write":
		return hook.KindFileEdit // creates, replaces, inserts and appends
	case "grep", "glob":
		return hook.KindSearch
	case "web_search", "web_fetch":
		return hook.KindWeb
	case "use_subagent", "delegate":
		return hook.KindSubagent
	}
	if strings.HasPrefix(tool, "@") && strings.Contains(tool, "/") {
		return hook.KindMCP
	}
	return hook.KindOther
}

func fill(f *protocol.Fields, row protocol.Event, _ protocol.Call, e *hook.Event) {
	switch row.Name {
	case "UserPromptSubmit", "userPromptSubmit":
		if !f.Has("prompt") {
			f.Fail(protocol.Bad("there is no prompt"))
		}
	case "PostFileCreate":
		e.Data.Reason = "create"
	case "PostFileSave":
		e.Data.Reason = "save"
	case "PostFileDelete":
		e.Data.Reason = "delete"
	}
}
