package claudecode

import (
	"time"

	"github.com/grapnel-dev/grapnel/bus/hook"
	"github.com/grapnel-dev/grapnel/subscribers/command/dialect"
)

// speech is how an event's answer is read.
type speech int

const (
	unheard   speech = iota // nothing in the answer counts
	told                    // context and messages count, nothing blocks
	permits                 // PreToolUse, PreModelSwitch: permissionDecision
	dialog                  // PermissionRequest: a decision object; exit codes count nothing
	blocks                  // decision: block
	carriesOn               // Stop, SubagentStop: block and context keep the agent working
	exits                   // TaskCompleted, TeammateIdle: exit code 2 and continue: false
	feedback                // after the fact: a block is a remark to the model
	elicits                 // Elicitation and its result: an action
	makesPath               // WorktreeCreate
)

// subject is the field of the input that a matcher is tested against.
type subject int

const (
	nothing subject = iota
	toolName
	source      // SessionStart
	reason      // what the canonical event calls its reason
	commandName // UserPromptExpansion: command_name
	notice      // Notification: notification_type
	agentType
	failure // StopFailure: error
	model
	server // mcp_server_name
	fileName
)

// row is one event of Claude Code.
type row struct {
	event     string
	canonical []hook.Name
	subject   subject
	speech    speech
	block     bool // a hook can keep it from happening
	prompt    bool // prompt and agent hooks are taken
	http      bool
	context   bool // hookSpecificOutput.additionalContext is read
	plain     bool // plain text on stdout is context
	universal bool // continue, stopReason and systemMessage are read
	timeout   time.Duration
}

// timeouts that are not the 600 seconds of a command.
const (
	commandTimeout    = 600 * time.Second
	promptTimeout     = 30 * time.Second
	quickTimeout      = 30 * time.Second // UserPromptSubmit and the model switches
	displayTimeout    = 10 * time.Second
	sessionEndTimeout = 1500 * time.Millisecond
	sessionEndMost    = 60 * time.Second
)

// rows is the table of events, in the order of a session. Of several canonical
// events the first is the one that is meant when a hook moves elsewhere.
func rows() []row {
	return []row{
		{event: "Setup", canonical: list(hook.Setup), subject: reason, speech: told, context: true, universal: true},
		{event: "SessionStart", canonical: list(hook.SessionStart, hook.SessionResume), subject: source, speech: told, context: true, plain: true, universal: true},
		{event: "InstructionsLoaded", canonical: list(hook.InstructionsLoaded), subject: reason, http: true},
		{event: "UserPromptSubmit", canonical: list(hook.UserPromptSubmit), speech: blocks, block: true, prompt: true, http: true, context: true, plain: true, universal: true, timeout: quickTimeout},
		{event: "UserPromptExpansion", canonical: list(hook.UserPromptExpand), subject: commandName, speech: blocks, block: true, prompt: true, http: true, context: true, plain: true, universal: true},
		{event: "PreToolUse", canonical: list(hook.PreToolUse, hook.PreShell, hook.PreMCPCall, hook.PreFileRead), subject: toolName, speech: permits, block: true, prompt: true, http: true, context: true, universal: true},
		{event: "PermissionRequest", canonical: list(hook.PermissionRequest), subject: toolName, speech: dialog, block: true, prompt: true, http: true, universal: true},
		{event: "PermissionDenied", canonical: list(hook.PermissionDenied), subject: toolName, speech: told, prompt: true, http: true, universal: true},
		{event: "PostToolUse", canonical: list(hook.PostToolUse, hook.PostShell, hook.PostMCP, hook.PostFileEdit), subject: toolName, speech: feedback, prompt: true, http: true, context: true, universal: true},
		{event: "PostToolUseFailure", canonical: list(hook.PostToolUseFailure), subject: toolName, speech: feedback, prompt: true, http: true, context: true, universal: true},
		{event: "PostToolBatch", canonical: list(hook.PostToolBatch), speech: blocks, block: true, prompt: true, http: true, context: true, universal: true},
		{event: "Notification", canonical: list(hook.Notification), subject: notice, http: true},
		{event: "MessageDisplay", canonical: list(hook.ModelStreamChunk, hook.AgentMessage), http: true, timeout: displayTimeout},
		{event: "SubagentStart", canonical: list(hook.SubagentStart), subject: agentType, speech: told, http: true, context: true, universal: true},
		{event: "SubagentStop", canonical: list(hook.SubagentStop), subject: agentType, speech: carriesOn, block: true, prompt: true, http: true, context: true, universal: true},
		{event: "TaskCreated", canonical: list(hook.TaskCreated), speech: blocks, block: true, prompt: true, http: true},
		{event: "TaskCompleted", canonical: list(hook.TaskCompleted), speech: exits, block: true, prompt: true, http: true, universal: true},
		{event: "TeammateIdle", canonical: list(hook.TeammateIdle), speech: exits, block: true, prompt: true, http: true, universal: true},
		{event: "Stop", canonical: list(hook.Stop), speech: carriesOn, block: true, prompt: true, http: true, context: true, universal: true},
		{event: "StopFailure", canonical: list(hook.StopFailure), subject: failure, http: true},
		{event: "ConfigChange", canonical: list(hook.ConfigChange), subject: reason, speech: blocks, block: true, http: true},
		{event: "CwdChanged", canonical: list(hook.CwdChanged), speech: told, http: true},
		{event: "DirectoryAdded", canonical: list(hook.DirectoryAdded), subject: reason, http: true},
		{event: "FileChanged", canonical: list(hook.FileChanged), subject: fileName, speech: told, http: true},
		{event: "WorktreeCreate", canonical: list(hook.WorktreeCreate), speech: makesPath, block: true, http: true},
		{event: "WorktreeRemove", canonical: list(hook.WorktreeRemove), http: true},
		{event: "PreCompact", canonical: list(hook.PreCompact), subject: reason, speech: blocks, block: true, http: true},
		{event: "PostCompact", canonical: list(hook.PostCompact), subject: reason, http: true},
		{event: "PreModelSwitch", canonical: list(hook.PreModelSwitch), subject: model, speech: permits, block: true, prompt: true, http: true, universal: true, timeout: quickTimeout},
		{event: "PostModelSwitch", canonical: list(hook.PostModelSwitch), subject: model, speech: told, prompt: true, http: true, context: true, plain: true, universal: true, timeout: quickTimeout},
		{event: "Elicitation", canonical: list(hook.Elicitation), subject: server, speech: elicits, block: true, http: true},
		{event: "ElicitationResult", canonical: list(hook.ElicitationResult), subject: server, speech: elicits, block: true, http: true},
		{event: "SessionEnd", canonical: list(hook.SessionEnd), subject: reason, http: true, timeout: sessionEndTimeout},
	}
}

func list(names ...hook.Name) []hook.Name { return names }

// rowOf finds an event by Claude Code's name.
func rowOf(event string) (row, bool) {
	for _, r := range rows() {
		if r.event == event {
			return r, true
		}
	}
	return row{}, false
}

// standard is how long a hook of this type may take that says nothing else; 0
// is the dialect's own time.
func (r row) standard(t dialect.Type) time.Duration {
	switch {
	case r.timeout != 0:
		return r.timeout
	case t == dialect.TypePrompt:
		return promptTimeout
	}
	return 0
}

// tool reports whether events of this name are about one tool call.
func (r row) tool() bool { return r.subject == toolName }

func events() []dialect.EventName {
	var names []dialect.EventName
	for _, r := range rows() {
		for _, canonical := range r.canonical {
			names = append(names, dialect.EventName{Canonical: canonical, Name: r.event, Blocks: r.block})
		}
	}
	return names
}

// Tools are Claude Code's names of tools, for its own dialect and for others
// that speak them.
func Tools() []dialect.ToolName {
	return []dialect.ToolName{
		{Tool: dialect.ToolShell, Name: "Bash"}, {Tool: dialect.ToolShell, Name: "PowerShell"},
		{Tool: dialect.ToolRead, Name: "Read"}, {Tool: dialect.ToolRead, Name: "NotebookRead"},
		{Tool: dialect.ToolWrite, Name: "Write"},
		{Tool: dialect.ToolEdit, Name: "Edit"}, {Tool: dialect.ToolEdit, Name: "MultiEdit"}, {Tool: dialect.ToolEdit, Name: "NotebookEdit"},
		{Tool: dialect.ToolGlob, Name: "Glob"}, {Tool: dialect.ToolGrep, Name: "Grep"}, {Tool: dialect.ToolList, Name: "LS"},
		{Tool: dialect.ToolFetch, Name: "WebFetch"}, {Tool: dialect.ToolWebSearch, Name: "WebSearch"},
		{Tool: dialect.ToolSubagent, Name: "Agent"}, {Tool: dialect.ToolSubagent, Name: "Task"},
	}
}

// Fields are Claude Code's names of the members of a tool's input.
func Fields() []dialect.FieldName {
	return []dialect.FieldName{
		{Tool: dialect.ToolShell, Field: dialect.FieldCommand, Name: "command"},
		{Tool: dialect.ToolRead, Field: dialect.FieldPath, Name: "file_path"},
		{Tool: dialect.ToolWrite, Field: dialect.FieldPath, Name: "file_path"},
		{Tool: dialect.ToolWrite, Field: dialect.FieldContent, Name: "content"},
		{Tool: dialect.ToolEdit, Field: dialect.FieldPath, Name: "file_path"},
		{Tool: dialect.ToolEdit, Field: dialect.FieldOld, Name: "old_string"},
		{Tool: dialect.ToolEdit, Field: dialect.FieldNew, Name: "new_string"},
		{Tool: dialect.ToolGlob, Field: dialect.FieldPattern, Name: "pattern"},
		{Tool: dialect.ToolGlob, Field: dialect.FieldPath, Name: "path"},
		{Tool: dialect.ToolGrep, Field: dialect.FieldPattern, Name: "pattern"},
		{Tool: dialect.ToolGrep, Field: dialect.FieldPath, Name: "path"},
		{Tool: dialect.ToolList, Field: dialect.FieldPath, Name: "path"},
		{Tool: dialect.ToolFetch, Field: dialect.FieldURL, Name: "url"},
		{Tool: dialect.ToolFetch, Field: dialect.FieldPrompt, Name: "prompt"},
		{Tool: dialect.ToolWebSearch, Field: dialect.FieldQuery, Name: "query"},
		{Tool: dialect.ToolSubagent, Field: dialect.FieldPrompt, Name: "prompt"},
		{Tool: dialect.ToolSubagent, Field: dialect.FieldDescription, Name: "description"},
	}
}
