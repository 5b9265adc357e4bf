// Package codeforge is the hook dialect "code-forge", after the requirements of
// Code-Forge's hooks system: shell commands that patterns of events select, that
// get the event in FORGE_ variables, and that block by their exit code.
//
// # Files
//
// Hooks run in the order in which they are registered: the person's file, the
// project's, and what a program registered for the session ([dialect.Set]).
//
//	~/.config/src/forge/hooks.json    the person's
//	.src/forge/hooks.json             the project's, once it is approved
//
//	{"hooks": [{"event": "tool:pre_execute:bash", "command": "…", "timeout": 10.0,
//	  "working_dir": "…", "env": {"NAME": "value"}, "enabled": true, "description": "…"}]}
//
// timeout is in seconds and defaults to 10. "stop_on_failure": false, in a hook or
// beside "hooks", lets the chain go on after a block. A hook may also have the keys
// that every dialect has, see package dialect. A hook that is wrong is a problem,
// and the others load. [SaveUser] and [SaveProject] write the files.
//
// # Events
//
//	tool:pre_execute    pre_tool_use, pre_shell, pre_mcp_call, pre_file_read; blocks
//	tool:post_execute   post_tool_use, post_shell, post_mcp, post_file_edit
//	tool:error          post_tool_use_failure
//	llm:pre_request     before_model; blocks
//	llm:post_response   after_model
//	llm:stream_start    model_stream_start
//	llm:stream_end      model_stream_end
//	session:start       session_start, session_resume
//	session:end         session_end
//	session:message     session_message, agent_message
//	permission:check    permission_check; blocks
//	permission:prompt   permission_request
//	permission:granted, permission:denied
//	user:prompt_submit  user_prompt_submit; blocks
//	user:interrupt      interrupt
//
// Other events (stop, notification, sub-agents, compaction) have no name here.
// permission:prompt is for telling somebody: what is to decide stands under
// tool:pre_execute or permission:check.
//
// # Patterns and tools
//
//	tool:pre_execute               that event
//	tool:*                         all tool events
//	tool:pre_execute:bash          for that tool, by this dialect's name or the agent's
//	tool:*:write                   all tool events of that tool
//	session:start,session:end      either
//	*                              every event
//
// "*" and "?" may stand in any part. Tools: bash, read, write, edit, glob, grep,
// list, web_fetch, web_search, task, mcp__server__tool.
//
// # What the process gets
//
// The command is text for /bin/sh, in the project's root or working_dir. Words of
// bash alone, such as source, work where /bin/sh is bash; that is noted as a
// problem when the file is read. What stands in single quotes stays as it is, so
// that the document's 'Running bash: $TOOL_ARGS' says just that.
//
//	FORGE_EVENT, EVENT_TYPE          the event
//	FORGE_SESSION_ID                 the session
//	FORGE_WORKING_DIR                the project's root
//	FORGE_TOOL_NAME, TOOL_NAME       the tool
//	FORGE_TOOL_ARGS, TOOL_ARGS       its arguments, JSON
//	FORGE_TOOL_RESULT                its result, JSON (tool:post_execute, tool:error)
//	FORGE_LLM_MODEL                  the model (llm events)
//	FORGE_LLM_TOKENS                 tokens, where the agent says how many
//	FORGE_PERM_LEVEL                 the permission mode (permission events)
//	FORGE_PERM_RULE                  the rule that matched, where the agent says which
//
// A variable that the event has nothing for is not set. One that is too large for
// a process is left out; a command that names it is not run then. On standard
// input stands the event: {"type", "timestamp" (seconds, a float), "data",
// "tool_name", "session_id"}. Every hook sees the original event; values are never
// part of the shell's text.
//
// # Answers
//
//	exit 0               go on; what it printed is kept for the trace
//	any other exit       of a hook that can block: block. Standard output and
//	                     standard error are the reason, and the chain ends
//	exit 127             the command was not found: logged, and gone on from
//	any other exit       of another hook, a time-out: logged, and gone on from
//
// on_failure says otherwise where going on is not wanted. There is no allow: a
// hook that exits with 0 has no opinion.
//
// # Templates
//
// [Templates] are hooks that are ready to be used: an audit log, a desktop
// notification, and a commit after every write.
//
// # What cannot be said
//
// Rewritten arguments, context for the model, questions to the person, allow,
// prompt and HTTP hooks, matchers that are regular expressions. [Write] lists what
// is lost.
//
// # How to bring hooks over
//
// The files are read where they stand. Write ". ./file" in place of "source file".
// Look at `grapnel hooks list` for what did not load.
package codeforge
