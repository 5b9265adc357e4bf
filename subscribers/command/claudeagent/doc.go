// Package claudeagent is the hook dialect of claude-agent, as the claude-agent
// hooks documentation ("Hooks System") has it: its command hooks. [New] returns
// it; package dialect runs it. Hooks written in Go are in package
// subscribers/gohook.
//
// # Files
//
//	.claude/settings.json                            workspace
//	~/.claude/settings.json                          the person's own
//	.claude/skills/*/SKILL.md, ~/.claude/skills/*/SKILL.md    front matter
//	.claude/agents/*.md, ~/.claude/agents/*.md                front matter
//	~/.claude/plugins/*/hooks/hooks.json             extension
//
// Under an event's key in camelCase stand named hooks, each an object or a
// command, or a list of commands; in PascalCase the official form, which all
// other files have as well:
//
//	{"hooks": {
//	  "preToolUse":   {"security-check": {"command": "python check_security.py",
//	                                      "timeout_secs": 30, "matcher": "Bash|Write"}},
//	  "postToolUse":  {"audit-log": "cat >> /tmp/audit.log"},
//	  "sessionStart": ["notify-send 'Session started'"],
//	  "PostToolUse":  [{"matcher": "Write|Edit",
//	                    "hooks": [{"type": "command", "command": "fmt.sh", "timeout": 10}]}]}}
//
// Both may stand in one file, and the value's form tells which it is. Times are
// seconds, 60 where none is said. Besides, "priority", "env" and "args" (an
// argument vector without a shell) may stand there, and the keys that every
// dialect has (see package dialect). A name that stands under two events gets
// the event's added. disableAllHooks disables the hooks of its file.
//
// Claude Code reads these files, too, and runs what is in the official form
// under its own spelling: that is left to it for its own events, and counts for
// those of other agents. The camelCase keys it passes over, so their hooks
// always count. Hooks that start grapnel are passed over.
//
// # Matchers
//
// A matcher is a regular expression (RE2) that may match anywhere in the tool's
// name: "Bash|Write" also is BashOutput. Missing, empty and "*" are all tools. On
// events without a tool a matcher is passed over.
//
// Hook rules in a sub-agent's file are for the events of that sub-agent, and
// Stop there is its end. Whether a skill is in use is in no event: hook rules in
// a skill's file always count. A relative path in a command is relative to the
// workspace.
//
// # Events
//
//	PreToolUse          pre_tool_use, pre_shell, pre_mcp_call, pre_file_read   blocks
//	PostToolUse         post_tool_use, post_shell, post_mcp, post_file_edit
//	PostToolUseFailure  post_tool_use_failure
//	UserPromptSubmit    user_prompt_submit                                     blocks
//	Stop                stop
//	SubagentStart       subagent_start                                         blocks
//	SubagentStop        subagent_stop
//	PreCompact          pre_compact
//	SessionStart        session_start, session_resume                          blocks
//	SessionEnd          session_end
//
// # Tools
//
// Those of package claudecode, with Task for a sub-agent.
//
// # What the process gets
//
// JSON on standard input: "event" and "session_id", and of HookEventData the
// fields of the event.
//
//	pre_tool_use           tool_name, tool_input
//	post_tool_use          tool_name, tool_result
//	post_tool_use_failure  tool_name, error
//	user_prompt_submit     prompt
//	subagent_start         subagent_id, subagent_type, description
//	subagent_stop          subagent_id, success, error (null where there is none)
//	all others             nothing
//
// The environment has EVENT, which is the same as "event", CLAUDE_PROJECT_DIR,
// and CLAUDE_PLUGIN_ROOT for the hooks of plugins.
//
// # Answers
//
// Nothing on standard output, and text that does not begin with "{", is to go
// on. Else it is one JSON object:
//
//	continue_execution  false blocks, true goes on; missing is true
//	stop_reason         why
//	suppress_logging    the run is not logged (it is on record all the same)
//	system_message      text for the conversation
//	updated_input       the tool's whole new input
//	additional_context  text for the model's context
//
// null is as if it were not there. A wrong type, a duplicate key, and an object
// that has keys and none of these are failures ([dialect.ErrFailed]), which are
// gone on from.
//
// The documentation says nothing about exit codes. An answer that blocks counts
// at each of them; 2 blocks, with standard error as the reason, as it does in
// Claude Code, whose form of hooks these files share; any other than 0 is a
// failure. To continue is no permission: the agent's own question is asked.
//
// # Merge
//
// Hooks run one after another, those of higher priority first, all of them with
// the same input. One that blocks, blocks; of stop_reason, system_message and
// updated_input the latest that is there counts; suppress_logging is true when
// one says so; additional_context is joined by newlines.
//
// # What it cannot express
//
// Prompt and http hooks, other events than the ten, working directories,
// variables with parts of the event, permission rules (if), hooks that run once,
// descriptions. [dialect.Dialect.Write] writes named hooks, says what was lost
// and leaves out what is disabled.
//
// # How to bring hooks over
//
// Leave the files where they are: grapnel reads them. Named hooks count at once,
// for every agent; those of a workspace or a plugin once they are approved.
package claudeagent
