package copilot

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
		Name: hookwire.Copilot, Title: "Copilot", Events: append(events(), pascal()...), Kind: Kind, Fill: fill, Say: say,
		Keys: protocol.Keys{
			Event: []string{"hook_event_name", "hookName"}, Session: []string{"sessionId", "session_id"}, Time: []string{"timestamp"},
			CWD: []string{"cwd"}, ToolName: []string{"toolName", "tool_name"}, ToolInput: inputs(), CallID: []string{"toolCallId"},
			Result: []string{"toolResult", "tool_result"}, Error: []string{"error"}, Prompt: []string{"prompt"},
			Message: []string{"message", "response", "last_assistant_message"},
			Reason:  []string{"reason", "source", "trigger", "stopReason", "stop_reason"}, StopActive: []string{"stop_hook_active"},
			SubagentID: []string{"agentId", "agent_id"}, SubagentType: []string{"agentType", "agent_type", "agentName", "agent_name"},
		},
		Manner: protocol.Manner{Order: "one after another", Failure: "it does not run, but for a time-out, after which it runs", Unit: "seconds", Evidence: protocol.Seen},
		Quirks: []string{
			"a hook that runs out of time lets the tool run, whoever installed it; everything else that goes wrong with it denies (seen, 1.0.102; hooks reference)",
			"a hook program that is missing denies every tool call, so take the registration out with the program (seen)",
			"hooks of one event run one after the other, so their times add up (seen)",
			"hooks in .claude/settings.json run as well; a call that comes from both is decided once (hooks reference)",
			"VS Code runs what is registered for Copilot in .github/hooks, with payloads of its own; the edge knows them and answers in VS Code's words " +
				"(VS Code's hooks reference)",
			"the cloud agent reads .github/hooks/*.json alone, and takes an ask for a deny (hooks reference)",
			"a shell command that fails ends in postToolUse, not in postToolUseFailure (seen)",
			"an agent that is kept from stopping submits the reason as a prompt, which fires userPromptSubmitted (seen)",
			"the built-in general-purpose sub-agent starts and stops without an event (hooks reference)",
		},
	}
}

// inputs are the names of a tool's input, by event.
func inputs() []string { return []string{"toolArgs", "tool_input", "toolInput", "arguments"} }

const (
	timeout      = 30 * time.Second
	grantsChange = "a changed input was seen to be taken with an allow alone, and is documented without one; as the original could run, it takes a grant"
)

// events are those that we register, and those that have no other name.
func events() []protocol.Event {
	seen := protocol.Seen
	return []protocol.Event{
		{Name: "sessionStart", Canonical: hook.SessionStart, Subject: "source", Context: true, Timeout: timeout, Evidence: seen,
			Note: "source resume becomes session_resume"},
		{Name: "userPromptSubmitted", Canonical: hook.UserPromptSubmit, Block: true, Context: true, Timeout: timeout, Evidence: seen,
			Note: "a block is obeyed with exit code 0, and not with 2; its documentation says that the output is dropped; fires for sub-agents' prompts, too"},
		{Name: "userPromptTransformed", Canonical: hook.UserPromptExpand, Timeout: timeout, Unregistered: true, Evidence: seen,
			Note: "can only replace the text, of which no verdict tells; the prompt was decided on before, so it is left out"},
		{Name: "preToolUse", Canonical: hook.PreToolUse, Tool: true, AnyInput: true, Block: true, Ask: true, Grant: true, Rewrite: true, RewriteGrants: true,
			Context: true, Timeout: timeout, Evidence: seen, Note: "has no call id; toolArgs is an object or a text; " + grantsChange},
		{Name: "preMcpToolCall", Canonical: hook.PreMCPCall, Tool: true, AnyInput: true, Timeout: timeout, Unregistered: true, Evidence: seen,
			Note: "fires after preToolUse for the same call and is known to change the request's metadata alone; left out, as nothing can be denied"},
		{Name: "permissionRequest", Canonical: hook.PermissionRequest, Tool: true, AnyInput: true, Block: true, Grant: true, Halt: true, Timeout: timeout,
			Unregistered: true, Evidence: seen,
			Note: "fires after preToolUse also where nothing would be asked, so that no opinion asks nobody and an ask is a deny; " +
				"left out, as it would deny what preToolUse has just asked about; a changed input is not taken"},
		{Name: "postToolUse", Canonical: hook.PostToolUse, Tool: true, Context: true, Feedback: true, Timeout: timeout, Evidence: seen,
			Note: "a block takes the place of the result"},
		{Name: "postToolUseFailure", Canonical: hook.PostToolUseFailure, Tool: true, Context: true, Timeout: timeout, Evidence: seen},
		{Name: "subagentStart", Aliases: []string{"SubagentStart"}, Canonical: hook.SubagentStart, Subject: "agentName", Context: true, Timeout: timeout, Evidence: seen},
		{Name: "subagentStop", Canonical: hook.SubagentStop, Subject: "agentName", Continue: true, Timeout: timeout, Evidence: seen},
		{Name: "preCompact", Canonical: hook.PreCompact, Subject: "trigger", Timeout: timeout, Evidence: seen},
		{Name: "notification", Aliases: []string{"Notification"}, Canonical: hook.Notification, Subject: "notification_type", Timeout: timeout, Evidence: seen,
			Note: "nothing is said: a context would wake an idle session, which ends in the next notification"},
		{Name: "errorOccurred", Canonical: hook.Error, Subject: "errorContext", Timeout: timeout, Evidence: seen},
		{Name: "agentStop", Canonical: hook.Stop, Continue: true, Timeout: timeout, Evidence: seen, Note: "exit code 2 keeps nobody from stopping"},
		{Name: "sessionEnd", Canonical: hook.SessionEnd, Subject: "reason", Timeout: timeout, Evidence: seen, Note: "the end waits for the hook"},
	}
}

// pascal are the events under Claude Code's names. They can do the same.
func pascal() []protocol.Event {
	var list []protocol.Event
	for _, n := range []struct {
		name, of, subject string
		evidence          protocol.Evidence
		says              []string
	}{
		{"SessionStart", "sessionStart", "source", protocol.Seen, nil},
		{"UserPromptSubmit", "userPromptSubmitted", "", protocol.Seen, nil},
		{"PreToolUse", "preToolUse", "", protocol.Seen, nil},
		{"PermissionRequest", "permissionRequest", "", protocol.Seen, []string{"permissionRequest"}},
		{"PostToolUse", "postToolUse", "", protocol.Seen, nil},
		{"PostToolUseFailure", "postToolUseFailure", "", protocol.Documented, nil},
		{"SubagentStop", "subagentStop", "agent_name", protocol.Documented, nil},
		{"PreCompact", "preCompact", "trigger", protocol.Documented, nil},
		{"ErrorOccurred", "errorOccurred", "error_context", protocol.Documented, nil},
		{"Stop", "agentStop", "", protocol.Seen, nil},
		{"SessionEnd", "sessionEnd", "reason", protocol.Seen, nil},
	} {
		for _, e := range events() {
			if e.Name == n.of {
				e.Name, e.Subject, e.Evidence, e.Says = n.name, n.subject, n.evidence, n.says
				e.Unregistered, e.Note = true, "the same event as "+n.of+" in the dialect for Claude Code's settings; registered under both names it would come twice"
				list = append(list, e)
			}
		}
	}
	return list
}

// Kind sorts Copilot's tools, which have Claude Code's names in one of the
// dialects. An MCP tool is SERVER-TOOL before and after it runs and SERVER/TOOL
// in a permission request; no other tool has such a name.
func Kind(tool string) hook.Kind {
	switch tool {
	case "bash", "powershell", "Bash":
		return hook.KindShell
	case "view", "Read":
		return hook.KindFileRead
	case "create", "Write":
		return hook.KindFileWrite
	case "edit", "str_replace_editor", "apply_patch", "Edit":
		return hook.KindFileEdit
	case "grep", "rg", "glob", "Grep", "Glob":
		return hook.KindSearch
	case "web_fetch", "web_search", "WebFetch", "WebSearch":
		return hook.KindWeb
	case "task", "Task", "Agent":
		return hook.KindSubagent
	}
	if strings.ContainsAny(tool, "-/") || strings.HasPrefix(tool, "mcp__") {
		return hook.KindMCP
	}
	return hook.KindOther
}

func fill(f *protocol.Fields, row protocol.Event, _ protocol.Call, e *hook.Event) {
	gate := row.Canonical.Class() == hook.Gate
	switch row.Canonical {
	case hook.SessionStart:
		if e.Data.Reason == "resume" {
			e.Name = hook.SessionResume
		}
	case hook.Error:
		e.Data.Error = f.Object("error").Text("message")
		e.Data.Reason = f.Text("errorContext", "error_context")
	case hook.PreMCPCall:
		e.Data.Tool.Kind = hook.KindMCP
		if server := f.Text("serverName"); server != "" && e.Data.Tool.Name != "" {
			e.Data.Tool.Name = server + "-" + e.Data.Tool.Name // as preToolUse calls it
		}
	}
	if !row.Tool || !gate {
		return
	}
	for _, key := range inputs() {
		if f.Has(key) {
			return
		}
	}
	// Any value will do, and none at all is a payload that nobody has seen.
	f.Fail(protocol.Bad("the tool %s has no input", protocol.Quote(e.Data.Tool.Name)))
}
