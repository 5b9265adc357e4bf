// Package claudecode is the hook dialect of Claude Code's own configuration, as
// the Claude Code hooks reference has it (33 events). [New] returns it; package
// dialect runs it. Hooks that were written for Claude Code move to the bus as
// they are, and answer the events of every agent.
//
// # Files
//
// All are merged; the order is that in which hooks are listed.
//
//	/etc/claude-code/managed-settings.json           managed
//	/etc/claude-code/managed-settings.d/*.json       managed
//	.claude/settings.local.json                      workspace
//	.claude/settings.json                            workspace
//	~/.claude/settings.json                          the person's own
//	.claude/skills/*/SKILL.md, ~/.claude/skills/*/SKILL.md    front matter
//	.claude/agents/*.md, ~/.claude/agents/*.md                front matter
//	~/.claude/plugins/*/hooks/hooks.json             extension
//
// Claude Code itself runs what stands there, so for its own events these files
// are left to it ([dialect.File.Own]), and for those of other agents they count.
// A file that only grapnel reads, given by [dialect.Options.Files], counts for
// all. Hooks that start grapnel (grapnel-hook …, grapnel hook …) are how events
// come to the bus and are passed over.
//
//	{"hooks": {"PreToolUse": [{"matcher": "Bash|PowerShell", "hooks": [
//	  {"type": "command", "command": "/usr/local/bin/bus", "args": ["check"],
//	   "timeout": 10, "onFailure": "block", "if": "Bash(git *)"}]}]}}
//
// Handlers are command (shell text; with "args" an argument vector without a
// shell; "shell" bash or powershell), http (url, headers, allowedEnvVars) and
// prompt (prompt, model). agent and mcp_tool need Claude Code's own loop: they
// are problems and do not load, and neither do http and prompt on events that
// Claude Code runs none on. Common keys are timeout (seconds), if, async,
// statusMessage, onFailure, once (a skill's front matter alone), and those that
// every dialect has (see package dialect).
//
// Without a timeout a command and an http hook may take 600 seconds, a prompt
// 30, any hook of UserPromptSubmit and the model switches 30, of MessageDisplay
// 10 and of SessionEnd 1.5 (60 at most).
//
// onFailure: block makes every failure a deny. It does not count on Stop,
// SubagentStop, TaskCompleted and TeammateIdle and for hooks in the background.
// Hooks of PreModelSwitch have it unasked, because a time-out there blocks.
//
// disableAllHooks, allowManagedHooksOnly, allowedHttpHookUrls and
// httpHookAllowedEnvVars count within their file when it is read, and over
// others by [Settle].
//
// # Matchers
//
// Missing, empty and "*" select everything. Letters, digits, "_", "-", spaces,
// commas and "|" alone are a list of exact names. Anything else is a regular
// expression that may match anywhere; it is RE2, and what JavaScript has beyond
// that (look-around, back-references) is a problem. FileChanged has a list of
// file names with "|" between, whatever characters they have.
//
// "if" is one permission rule: Tool, Tool(specifier). For Bash the specifier is
// compared with each simple command of the line, wherever it stands, without
// its quotes, assignments and redirections; "*" is any text, "git:*" and
// "git *" are git with any arguments. Read, Edit and the like take patterns of
// paths as gitignore files have them (//absolute, /workspace, ./directory, ~/,
// bare), WebFetch domain:name and Agent a type. What cannot be told (text that
// does not parse, names that are computed) is taken as selected: the hook runs.
//
// # Events
//
// The matcher is tested against the field in brackets.
//
//	Setup [trigger]                     setup
//	SessionStart [source]               session_start, session_resume
//	InstructionsLoaded [load_reason]    instructions_loaded
//	UserPromptSubmit                    user_prompt_submit                 blocks
//	UserPromptExpansion [command_name]  user_prompt_expand                 blocks
//	PreToolUse [tool_name]              pre_tool_use, pre_shell,
//	                                    pre_mcp_call, pre_file_read        blocks
//	PermissionRequest [tool_name]       permission_request                 blocks
//	PermissionDenied [tool_name]        permission_denied
//	PostToolUse [tool_name]             post_tool_use, post_shell,
//	                                    post_mcp, post_file_edit
//	PostToolUseFailure [tool_name]      post_tool_use_failure
//	PostToolBatch                       post_tool_batch                    blocks
//	Notification [notification_type]    notification
//	MessageDisplay                      model_stream_chunk, agent_message
//	SubagentStart [agent_type]          subagent_start
//	SubagentStop [agent_type]           subagent_stop                      blocks
//	TaskCreated                         task_created                       blocks
//	TaskCompleted                       task_completed                     blocks
//	TeammateIdle                        teammate_idle                      blocks
//	Stop                                stop                               blocks
//	StopFailure [error]                 stop_failure
//	ConfigChange [source]               config_change                      blocks
//	CwdChanged                          cwd_changed
//	DirectoryAdded [source]             directory_added
//	FileChanged [file name]             file_changed
//	WorktreeCreate                      worktree_create                    blocks
//	WorktreeRemove                      worktree_remove
//	PreCompact [trigger]                pre_compact                        blocks
//	PostCompact [trigger]               post_compact
//	PreModelSwitch [to_model]           pre_model_switch                   blocks
//	PostModelSwitch [to_model]          post_model_switch
//	Elicitation [mcp_server_name]       elicitation                        blocks
//	ElicitationResult [mcp_server_name] elicitation_result                 blocks
//	SessionEnd [reason]                 session_end
//
// Hooks in a sub-agent's file are for the events of that sub-agent, and Stop
// there is its end. Whether a skill is in use is in no event: hooks in a
// skill's file always count.
//
// # Tools
//
// Bash (PowerShell), Read, Write, Edit (MultiEdit, NotebookEdit), Glob, Grep,
// LS, WebFetch, WebSearch, Agent (Task) and mcp__server__tool, with the members
// command, file_path, content, old_string, new_string, pattern, path, url,
// query, prompt and description. A matcher may also name the agent's own tool.
//
// # What the process gets
//
// Standard input is Claude Code's JSON and a newline. For Claude Code's events it
// is the very payload, byte for byte; when another decider has changed the
// tool's input, the new one stands in it, since that is what would run. For
// other agents' events it is put together: session_id, prompt_id,
// transcript_path where the agent says one, cwd, permission_mode ("default"
// where the agent has another word), hook_event_name, agent_id and agent_type,
// and the event's own fields as far as the bus knows them. tool_use_id is the
// event's id where an agent has none.
//
// The environment has CLAUDE_PROJECT_DIR, CLAUDE_PLUGIN_ROOT (plugins) and
// CLAUDE_EFFORT (where Claude Code says it). In "args" ${CLAUDE_PROJECT_DIR} and
// ${CLAUDE_PLUGIN_ROOT} are filled in. An http hook is sent the same JSON.
//
// # Output
//
// Standard output that begins with "{" is JSON, which counts at every exit code:
//
//	continue: false        halt, with stopReason; beats everything else
//	PreToolUse             permissionDecision allow, ask, defer (ask), deny;
//	                       updatedInput replaces the whole input
//	PermissionRequest      decision.behavior allow, deny; interrupt is halt
//	decision: block        deny on events with "blocks"; approve is allow
//	Stop, SubagentStop     block, or additionalContext: carry on
//	TaskCompleted,         exit code 2 or continue: false only
//	TeammateIdle
//	Elicitation            action decline, cancel: deny
//
// hookEventName in hookSpecificOutput must be the event's. JSON of another
// shape, with duplicate keys or a word that is not known is a failure
// ([dialect.ErrFailed]), which is gone on from; unknown keys are passed over.
// Other text is context on SessionStart, UserPromptSubmit, UserPromptExpansion
// and PostModelSwitch, and nothing elsewhere; from an http hook it is a failure.
//
// Exit code 2 blocks whatever the JSON says, with its reason where it blocks and
// else with standard error; on PermissionRequest it decides nothing. Any other
// exit code without JSON is a failure.
//
// # Merge
//
// All hooks of an event run at the same time; the same handler in several files
// once, copies in plugins and skills apart. The strictest answer counts, reasons
// and contexts in order, and the last updatedInput.
//
// # What it cannot express
//
// Of Claude Code's answers the bus has no word for updatedToolOutput,
// updatedPermissions, retry, watchPaths, sessionTitle, initialUserMessage,
// displayContent, terminalSequence, a worktree's path and the content of an
// elicitation; CLAUDE_ENV_FILE does not exist; a prompt hook's block never ends
// the turn, so continueOnBlock changes nothing. Of the bus's hooks [dialect.Dialect.Write]
// loses working directory, variables, priority, the provider of a model, and
// leaves out what is disabled.
//
// # How to bring hooks over
//
// Nothing need be done for the events of other agents: the files are read where
// they are. To have Claude Code's own events answered over the bus, too, move
// the handlers out of its settings.json into the file that grapnel is configured
// to read for this dialect, and leave `grapnel install claude-code`'s
// registration in settings.json; the text of "hooks" stays as it is.
// `grapnel hooks convert` writes the hooks of other dialects in this form.
package claudecode
