package hook

// Name is a canonical event name: lower-case snake case, the second token of
// an event's NATS subject and the last part of its CloudEvents type.
type Name string

// The canonical event names.
const (
	SessionStart   Name = "session_start"
	SessionResume  Name = "session_resume"
	SessionEnd     Name = "session_end"
	SessionDelete  Name = "session_delete"
	SessionMessage Name = "session_message"
	Setup          Name = "setup"

	UserPromptSubmit Name = "user_prompt_submit"
	UserPromptExpand Name = "user_prompt_expand"

	PreToolUse         Name = "pre_tool_use"
	PreShell           Name = "pre_shell"
	PreMCPCall         Name = "pre_mcp_call"
	PreFileRead        Name = "pre_file_read"
	PostToolUse        Name = "post_tool_use"
	PostToolUseFailure Name = "post_tool_use_failure"
	PostToolBatch      Name = "post_tool_batch"
	PostShell          Name = "post_shell"
	PostMCP            Name = "post_mcp"
	PostFileEdit       Name = "post_file_edit"

	PermissionCheck   Name = "permission_check"
	PermissionRequest Name = "permission_request"
	PermissionGranted Name = "permission_granted"
	PermissionDenied  Name = "permission_denied"

	Stop          Name = "stop"
	StopFailure   Name = "stop_failure"
	Interrupt     Name = "interrupt"
	Error         Name = "error"
	SubagentStart Name = "subagent_start"
	SubagentStop  Name = "subagent_stop"
	PreCompact    Name = "pre_compact"
	PostCompact   Name = "post_compact"
	Notification  Name = "notification"

	BeforeModel         Name = "before_model"
	AfterModel          Name = "after_model"
	BeforeToolSelection Name = "before_tool_selection"
	ModelStreamStart    Name = "model_stream_start"
	ModelStreamChunk    Name = "model_stream_chunk"
	ModelStreamEnd      Name = "model_stream_end"
	ModelThought        Name = "model_thought"
	AgentMessage        Name = "agent_message"
	PreModelSwitch      Name = "pre_model_switch"
	PostModelSwitch     Name = "post_model_switch"

	TaskCreated        Name = "task_created"
	TaskCompleted      Name = "task_completed"
	TeammateIdle       Name = "teammate_idle"
	InstructionsLoaded Name = "instructions_loaded"
	ConfigChange       Name = "config_change"
	CwdChanged         Name = "cwd_changed"
	DirectoryAdded     Name = "directory_added"
	FileChanged        Name = "file_changed"
	WorktreeCreate     Name = "worktree_create"
	WorktreeRemove     Name = "worktree_remove"
	Elicitation        Name = "elicitation"
	ElicitationResult  Name = "elicitation_result"
	Heartbeat          Name = "heartbeat"

	HookExecutionStart    Name = "hook_execution_start"
	HookExecutionComplete Name = "hook_execution_complete"
	HookExecutionError    Name = "hook_execution_error"

	// Other is any event that has no canonical name; Data.Native.Event holds
	// the agent's own.
	Other Name = "other"
)

// Names lists every canonical event name, in the order of the constants.
func Names() []Name {
	return []Name{
		SessionStart, SessionResume, SessionEnd, SessionDelete, SessionMessage, Setup,
		UserPromptSubmit, UserPromptExpand,
		PreToolUse, PreShell, PreMCPCall, PreFileRead, PostToolUse, PostToolUseFailure, PostToolBatch,
		PostShell, PostMCP, PostFileEdit,
		PermissionCheck, PermissionRequest, PermissionGranted, PermissionDenied,
		Stop, StopFailure, Interrupt, Error, SubagentStart, SubagentStop, PreCompact, PostCompact, Notification,
		BeforeModel, AfterModel, BeforeToolSelection, ModelStreamStart, ModelStreamChunk, ModelStreamEnd,
		ModelThought, AgentMessage, PreModelSwitch, PostModelSwitch,
		TaskCreated, TaskCompleted, TeammateIdle, InstructionsLoaded, ConfigChange, CwdChanged, DirectoryAdded,
		FileChanged, WorktreeCreate, WorktreeRemove, Elicitation, ElicitationResult, Heartbeat,
		HookExecutionStart, HookExecutionComplete, HookExecutionError, Other,
	}
}

// Known reports whether n is a canonical name.
func (n Name) Known() bool {
	for _, k := range Names() {
		if n == k {
			return true
		}
	}
	return false
}

// Class sorts event names by who waits and what silence means.
type Class int

// The classes.
const (
	// Notify events are accepted and never waited for.
	Notify Class = iota
	// Lifecycle events are blocking, and a failure lets the agent go on:
	// inverting that makes stop hooks loop for ever.
	Lifecycle
	// Gate events are blocking, and a failure keeps the action from running.
	Gate
)

// String returns "notification", "lifecycle" or "gate".
func (c Class) String() string {
	switch c {
	case Gate:
		return "gate"
	case Lifecycle:
		return "lifecycle"
	}
	return "notification"
}

// Class returns the class of n. A name that is not canonical is a Notify
// event, as Other is: an agent that invents an event has no use for an answer
// that nobody specified.
func (n Name) Class() Class {
	switch n {
	case PreToolUse, PreShell, PreMCPCall, PreFileRead, PermissionCheck, PermissionRequest,
		UserPromptSubmit, UserPromptExpand, BeforeModel:
		return Gate
	case SessionStart, SessionResume, Setup, Stop, SubagentStart, SubagentStop, PreCompact, PostToolBatch,
		BeforeToolSelection, PreModelSwitch, TaskCreated, TaskCompleted, TeammateIdle, ConfigChange,
		Elicitation, ElicitationResult, WorktreeCreate:
		return Lifecycle
	}
	return Notify
}

// Blocking reports whether the agent waits for a verdict on n.
func (n Name) Blocking() bool { return n.Class() != Notify }

// Type returns the CloudEvents type of events named n, such as
// "dev.grapnel.hook.pre_tool_use.v1".
func (n Name) Type() string { return typePrefix + string(n) + typeSuffix }

const (
	typePrefix = "dev.grapnel.hook."
	typeSuffix = ".v1"
)

// NameOfType returns the event name in a CloudEvents type, and false when the
// type is not one of ours. The name need not be canonical.
func NameOfType(t string) (Name, bool) {
	if len(t) <= len(typePrefix)+len(typeSuffix) || t[:len(typePrefix)] != typePrefix || t[len(t)-len(typeSuffix):] != typeSuffix {
		return "", false
	}
	n := t[len(typePrefix) : len(t)-len(typeSuffix)]
	if !plainToken(n) {
		return "", false
	}
	return Name(n), true
}
