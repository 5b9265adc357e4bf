package hookwire

// The agents' names on the command line.
const (
	ClaudeCode   = "claude-code"
	Codex        = "codex"
	GeminiCLI    = "gemini-cli"
	Cursor       = "cursor"
	Copilot      = "copilot"
	VSCode       = "vscode"
	QwenCode     = "qwen-code"
	OpenCode     = "opencode"
	Windsurf     = "windsurf"
	Cline        = "cline"
	FactoryDroid = "factory-droid"
	Goose        = "goose"
	KimiCode     = "kimi-code"
	KiroCLI      = "kiro-cli"
	Antigravity  = "antigravity"
)

// Class says what silence has to mean for an event.
type Class int

// The classes, as in package hook.
const (
	Notification Class = iota
	Lifecycle
	Gate
)

// ClassOf returns the class of an event, by an agent's own name or the
// canonical one; no two agents mean different things by one name. What is not
// known is a gate: the shim cannot see what a new event lets through.
func ClassOf(event string) Class {
	switch event {
	case "session_start", "session_resume", "setup", "stop", "subagent_start", "subagent_stop", "pre_compact",
		"post_tool_batch", "before_tool_selection", "pre_model_switch", "task_created", "task_completed", "teammate_idle",
		"config_change", "elicitation", "elicitation_result", "worktree_create",
		"Setup", "SessionStart", "sessionStart", "agentSpawn", "AgentSpawn", "TaskStart", "TaskResume", "session.created",
		"workspaceOpen", "post_setup_worktree",
		"Stop", "agentStop", "AfterAgent", "session.idle", "SubagentStart", "subagentStart", "SubagentStop", "subagentStop",
		"PreCompact", "preCompact", "PreCompress", "experimental.session.compacting", "PostToolBatch", "BeforeToolSelection",
		"PreModelSwitch", "TaskCreated", "TaskStarted", "TodoCreated", "PreTaskExec", "PostTaskExec", "TaskCompleted", "TodoCompleted",
		"TeammateIdle", "ConfigChange", "Elicitation", "ElicitationResult", "WorktreeCreate":
		return Lifecycle
	case "session_end", "session_delete", "session_message", "post_tool_use", "post_tool_use_failure", "post_shell",
		"post_mcp", "post_file_edit", "permission_granted", "permission_denied", "stop_failure", "interrupt", "error",
		"post_compact", "notification", "after_model", "model_stream_start", "model_stream_chunk", "model_stream_end",
		"model_thought", "agent_message", "post_model_switch", "instructions_loaded", "cwd_changed", "directory_added",
		"file_changed", "worktree_remove", "heartbeat", "hook_execution_start", "hook_execution_complete", "hook_execution_error",
		"SessionEnd", "sessionEnd", "SessionShutdown", "TaskComplete", "SessionDelete",
		"PostToolUse", "postToolUse", "AfterTool", "tool.execute.after", "PostToolUseFailure", "postToolUseFailure",
		"afterShellExecution", "AfterShellExecution", "post_run_command", "afterMCPExecution", "post_mcp_tool_use",
		"afterFileEdit", "AfterFileEdit", "afterTabFileEdit", "post_write_code", "post_read_code",
		"PermissionDenied", "PermissionResult", "StopFailure", "Interrupt", "TaskCancel",
		"errorOccurred", "ErrorOccurred", "session.error", "TaskError", "Notification",
		"PostCompact", "AfterModel", "PostModelRequest", "PostInvocation", "MessageDisplay", "afterAgentThought",
		"afterAgentResponse", "post_cascade_response", "post_cascade_response_with_transcript", "PostModelSwitch",
		"InstructionsLoaded", "CwdChanged", "DirectoryAdded", "FileChanged", "PostFileCreate", "PostFileSave", "PostFileDelete",
		"session.deleted", "permission.asked", "permission.replied", "file.watcher.updated", "message.updated", "message.part.updated",
		"message.part.delta", "experimental.text.complete", "experimental.chat.messages.transform", "experimental.chat.system.transform",
		"chat.params", "chat.headers", "config", "shell.env", "tool.definition", "session.status", "session.updated", "session.diff",
		"catalog.updated", "integration.updated", "plugin.added", "reference.updated",
		"file.edited", "WorktreeRemove", "SessionHeartbeat", "TurnStarted", "UserPromptQueued", "session.compacted",
		"PreToolUseResult", "Manual", "manual":
		return Notification
	}
	return Gate
}

// Budget is how long the shim waits for an answer, in milliseconds. It ends
// well before the time-out that the installer writes into the agent's
// settings, because an agent that gives up on its hook lets the action run.
// Nobody waits for the answer to a notification, so a daemon that hangs must
// not hold the agent there.
func Budget(agent, event string) int {
	switch event {
	case "SessionEnd", "session_end", "Interrupt", "interrupt":
		switch agent {
		case ClaudeCode:
			return 1000 // Claude Code ends it after 1.5 s
		case Codex:
			return 600 // Codex ends it after 1 s
		}
	case "MessageDisplay", "AfterModel", "model_stream_chunk", "agent_message", "after_model":
		return 500 // one for each streamed piece
	}
	if ClassOf(event) == Notification {
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
	switch agent {
	case ClaudeCode:
		return append(common, "CLAUDE_PROJECT_DIR", "CLAUDE_PLUGIN_ROOT", "CLAUDE_CODE_REMOTE")
	case GeminiCLI:
		return append(common, "GEMINI_PROJECT_DIR")
	case QwenCode:
		return append(common, "QWEN_PROJECT_DIR")
	case Cursor:
		return append(common, "CURSOR_PROJECT_DIR", "CURSOR_CODE_REMOTE")
	case Copilot:
		return append(common, "COPILOT_PROJECT_DIR")
	case FactoryDroid:
		return append(common, "FACTORY_PROJECT_DIR")
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
