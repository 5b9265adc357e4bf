package claudecode

import (
	"github.com/grapnel-dev/grapnel/bus/hook"
	"github.com/grapnel-dev/grapnel/internal/edge/hookwire"
	"github.com/grapnel-dev/grapnel/internal/edge/protocol"
)

// Agent is the agent's name on our command line.
const Agent = hookwire.ClaudeCode

// style is how an event is answered.
type style int

const (
	silent     style = iota // nothing that we could say is heard
	tool                    // PreToolUse, PreModelSwitch: permissionDecision
	permission              // PermissionRequest: a decision object
	block                   // decision:block and exit code 2
	carryOn                 // Stop, SubagentStop: decision:block, exit code 0
	feedback                // after the fact: the reason reaches the model
	told                    // cannot block; the reason is shown
	elicit                  // Elicitation and its result: an action
	worktree                // WorktreeCreate
)

// row is one event of Claude Code.
type row struct {
	event     string
	canonical hook.Name
	matcher   string // field that is the event's subject
	style     style
	context   bool // hookSpecificOutput.additionalContext is read
	block     bool // a deny really stops it
	ask       bool
	halt      bool // continue:false is honoured
	timeout   int64
	evidence  protocol.Evidence
	note      string
}

// rows is the protocol's table, in the order of a session.
func rows() []row {
	const long, prompt = 600_000, 30_000
	seen, doc := protocol.Seen, protocol.Documented
	return []row{
		{event: "Setup", canonical: hook.Setup, matcher: "trigger", style: told, context: true, timeout: long, evidence: seen,
			note: "fires for --init and --maintenance only"},
		{event: "SessionStart", canonical: hook.SessionStart, matcher: "source", style: told, context: true, timeout: long, evidence: seen,
			note: "source resume and fork become session_resume; nothing blocks a session's start"},
		{event: "InstructionsLoaded", canonical: hook.InstructionsLoaded, matcher: "load_reason", timeout: long, evidence: seen},
		{event: "UserPromptSubmit", canonical: hook.UserPromptSubmit, style: block, context: true, block: true, halt: true, timeout: prompt, evidence: seen},
		{event: "UserPromptExpansion", canonical: hook.UserPromptExpand, matcher: "command_name", style: block, context: true, block: true, halt: true, timeout: long, evidence: seen},
		{event: "PreToolUse", canonical: hook.PreToolUse, matcher: "tool_name", style: tool, context: true, block: true, ask: true, halt: true, timeout: long, evidence: seen,
			note: "@file mentions and /skill typed by the person do not fire it"},
		{event: "PermissionRequest", canonical: hook.PermissionRequest, matcher: "tool_name", style: permission, block: true, ask: true, halt: true, timeout: long, evidence: seen,
			note: "exit codes are ignored; has no call id"},
		{event: "PermissionDenied", canonical: hook.PermissionDenied, matcher: "tool_name", timeout: long, evidence: seen, note: "auto mode only"},
		{event: "PostToolUse", canonical: hook.PostToolUse, matcher: "tool_name", style: feedback, context: true, halt: true, timeout: long, evidence: seen},
		{event: "PostToolUseFailure", canonical: hook.PostToolUseFailure, matcher: "tool_name", style: feedback, context: true, halt: true, timeout: long, evidence: seen},
		{event: "PostToolBatch", canonical: hook.PostToolBatch, style: block, context: true, block: true, halt: true, timeout: long, evidence: seen,
			note: "a block ends the turn after the tools have run"},
		{event: "Notification", canonical: hook.Notification, matcher: "notification_type", timeout: long, evidence: seen},
		{event: "MessageDisplay", canonical: hook.ModelStreamChunk, timeout: 10_000, evidence: seen,
			note: "the last piece of a message becomes agent_message; never waited for"},
		{event: "SubagentStart", canonical: hook.SubagentStart, matcher: "agent_type", style: told, context: true, timeout: long, evidence: seen,
			note: "cannot be blocked; the reason goes to the sub-agent"},
		{event: "SubagentStop", canonical: hook.SubagentStop, matcher: "agent_type", style: carryOn, timeout: long, halt: true, evidence: seen},
		{event: "TaskCreated", canonical: hook.TaskCreated, style: block, block: true, timeout: long, evidence: doc},
		{event: "TaskCompleted", canonical: hook.TaskCompleted, style: block, block: true, halt: true, timeout: long, evidence: doc},
		{event: "TeammateIdle", canonical: hook.TeammateIdle, style: block, block: true, halt: true, timeout: long, evidence: doc,
			note: "a block makes the teammate carry on"},
		{event: "Stop", canonical: hook.Stop, style: carryOn, halt: true, timeout: long, evidence: seen,
			note: "ends after 8 blocks in a row; context would also make it carry on, so none is given"},
		{event: "StopFailure", canonical: hook.StopFailure, matcher: "error", timeout: long, evidence: seen},
		{event: "ConfigChange", canonical: hook.ConfigChange, matcher: "source", style: block, block: true, timeout: long, evidence: doc,
			note: "a change of policy_settings cannot be blocked"},
		{event: "CwdChanged", canonical: hook.CwdChanged, timeout: long, evidence: seen},
		{event: "DirectoryAdded", canonical: hook.DirectoryAdded, matcher: "source", timeout: long, evidence: doc},
		{event: "FileChanged", canonical: hook.FileChanged, matcher: "file_path", timeout: long, evidence: seen,
			note: "the matcher is tested against the file's name without its directory"},
		{event: "WorktreeCreate", canonical: hook.WorktreeCreate, style: worktree, block: true, timeout: long, evidence: seen,
			note: "a hook replaces git's own worktree, so it is never registered"},
		{event: "WorktreeRemove", canonical: hook.WorktreeRemove, timeout: long, evidence: doc},
		{event: "PreCompact", canonical: hook.PreCompact, matcher: "trigger", style: block, block: true, timeout: long, evidence: seen},
		{event: "PostCompact", canonical: hook.PostCompact, matcher: "trigger", timeout: long, evidence: seen},
		{event: "PreModelSwitch", canonical: hook.PreModelSwitch, matcher: "to_model", style: tool, block: true, ask: true, timeout: prompt, evidence: seen,
			note: "a time-out blocks, too"},
		{event: "PostModelSwitch", canonical: hook.PostModelSwitch, matcher: "to_model", context: true, timeout: prompt, evidence: doc},
		{event: "Elicitation", canonical: hook.Elicitation, matcher: "mcp_server_name", style: elicit, block: true, ask: true, timeout: long, evidence: doc},
		{event: "ElicitationResult", canonical: hook.ElicitationResult, matcher: "mcp_server_name", style: elicit, block: true, timeout: long, evidence: doc},
		{event: "SessionEnd", canonical: hook.SessionEnd, matcher: "reason", timeout: 1500, evidence: seen},
	}
}

// lookup finds an event by Claude Code's own name or the canonical one.
func lookup(name string) (row, bool) {
	all := rows()
	for _, r := range all {
		if r.event == name {
			return r, true
		}
	}
	switch hook.Name(name) {
	case hook.SessionResume:
		name = string(hook.SessionStart)
	case hook.AgentMessage:
		name = string(hook.ModelStreamChunk)
	}
	for _, r := range all {
		if string(r.canonical) == name {
			return r, true
		}
	}
	return row{event: name, canonical: hook.Other}, false
}

// Capabilities lists what Claude Code can be made to do, one entry an event.
func Capabilities() []protocol.Capability {
	var list []protocol.Capability
	for _, r := range rows() {
		isTool := r.event == "PreToolUse" || r.event == "PermissionRequest"
		list = append(list, protocol.Capability{
			Agent: Agent, Event: r.event, Canonical: r.canonical, Class: r.canonical.Class().String(), Matcher: r.matcher,
			Block: r.block, Ask: r.ask, Grant: isTool || r.event == "PreModelSwitch", Rewrite: isTool, Context: r.context,
			Continue: r.style == carryOn || r.event == "TeammateIdle" || r.event == "TaskCompleted", Halt: r.halt,
			TimeoutMS: r.timeout, Installed: r.style != worktree, Evidence: r.evidence, Note: r.note,
		})
	}
	return list
}
