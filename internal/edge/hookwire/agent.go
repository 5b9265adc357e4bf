package hookwire

// ClaudeCode is the agent's name on the command line.
const ClaudeCode = "claude-code"

// Class says what silence has to mean for an event.
type Class int

// The classes, as in package hook.
const (
	Notification Class = iota
	Lifecycle
	Gate
)

// ClassOf returns the class of an agent's event, by the agent's own name or
// the canonical one. What is not known is a gate: the shim cannot see what a
// new event lets through.
func ClassOf(agent, event string) Class {
	if agent == ClaudeCode {
		switch event {
		case "Stop", "SubagentStart", "SubagentStop", "SessionStart", "Setup", "PreCompact", "PostToolBatch",
			"PreModelSwitch", "TaskCreated", "TaskCompleted", "TeammateIdle", "ConfigChange",
			"Elicitation", "ElicitationResult", "WorktreeCreate",
			"stop", "subagent_start", "subagent_stop", "session_start", "session_resume", "setup", "pre_compact",
			"post_tool_batch", "pre_model_switch", "task_created", "task_completed", "teammate_idle", "config_change",
			"elicitation", "elicitation_result", "worktree_create":
			return Lifecycle
		case "PostToolUse", "PostToolUseFailure", "PermissionDenied", "Notification", "MessageDisplay", "StopFailure",
			"InstructionsLoaded", "CwdChanged", "DirectoryAdded", "FileChanged", "WorktreeRemove", "PostCompact",
			"PostModelSwitch", "SessionEnd",
			"post_tool_use", "post_tool_use_failure", "permission_denied", "notification", "model_stream_chunk",
			"agent_message", "stop_failure", "instructions_loaded", "cwd_changed", "directory_added", "file_changed",
			"worktree_remove", "post_compact", "post_model_switch", "session_end":
			return Notification
		}
	}
	return Gate
}

// Budget is how long the shim waits for an answer, in milliseconds. It ends
// well before the time-out that the installer writes into the agent's
// settings, because an agent that gives up on its hook lets the action run.
// Nobody waits for the answer to a notification, so a daemon that hangs must
// not hold the agent there.
func Budget(agent, event string) int {
	if agent == ClaudeCode {
		switch event {
		case "SessionEnd", "session_end":
			return 1000 // Claude Code ends it after 1.5 s
		case "MessageDisplay", "model_stream_chunk", "agent_message":
			return 500 // one for each streamed piece
		}
	}
	if ClassOf(agent, event) == Notification {
		return 5000
	}
	return 25000
}

// Variables that the bus sets for the hook commands it runs, so that an event
// which such a command causes knows where it comes from.
const (
	EnvHops        = "GRAPNEL_HOPS"         // hops of the event that the command ran for
	EnvCausation   = "GRAPNEL_CAUSATION_ID" // its id
	EnvTraceParent = "GRAPNEL_TRACEPARENT"  // its W3C trace context
	EnvAncestry    = "GRAPNEL_ANCESTRY"     // the hooks that led to it, and the command's own
)

// Allowed lists the variables that travel with a request. The environment
// holds the agent's tokens, so it never travels whole.
func Allowed(agent string) []string {
	common := []string{EnvHops, EnvCausation, EnvAncestry, EnvTraceParent, "TRACEPARENT"}
	if agent == ClaudeCode {
		return append(common, "CLAUDE_PROJECT_DIR", "CLAUDE_PLUGIN_ROOT", "CLAUDE_CODE_REMOTE")
	}
	return common
}

// SocketPaths lists where the hook socket may be, the first being where the
// daemon puts it when nobody says otherwise. It is empty when the environment
// names no directory at all.
func SocketPaths(getenv func(string) string) []string {
	if p := getenv("GRAPNEL_SOCKET"); p != "" {
		return []string{p}
	}
	var paths []string
	if d := getenv("XDG_RUNTIME_DIR"); d != "" {
		paths = append(paths, d+"/grapnel/hook.sock")
	}
	switch {
	case getenv("XDG_STATE_HOME") != "":
		paths = append(paths, getenv("XDG_STATE_HOME")+"/grapnel/run/hook.sock")
	case getenv("HOME") != "":
		paths = append(paths, getenv("HOME")+"/.local/state/grapnel/run/hook.sock")
	case getenv("LOCALAPPDATA") != "":
		paths = append(paths, getenv("LOCALAPPDATA")+"/grapnel/run/hook.sock")
	}
	return paths
}
