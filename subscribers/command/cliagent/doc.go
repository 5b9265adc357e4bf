// Package cliagent is the hook dialect "cli-agent", after the CLI-Agent Hooks
// System Specification: shell commands with template variables, exit codes and
// JSON answers, for four events.
//
// # Files
//
// Highest precedence first; all are merged, and hooks run in this order, one
// after another:
//
//	.config/agent/settings.local.json    the workspace's, not shared
//	.config/agent/settings.json          the workspace's
//	~/.config/agent/settings.json        the person's
//	~/.config/cli-agent/settings.json    the person's, for this agent
//
// Hooks of a workspace run once they are approved. A file looks like this; keys
// besides "hooks" are not ours and are passed over:
//
//	{"hooks": {"PreToolUse": [{"matcher": "bash_execute", "hooks": [
//	  {"type": "command", "command": "…", "timeout": 30, "working_directory": "…", "env": {"NAME": "value"}}
//	]}]}}
//
// timeout is in seconds and defaults to 30, or to HOOKS_TIMEOUT of whoever hosts
// the hooks, see [Options]. A hook may also be {"type": "http", "url", "headers",
// "allowed_env"}, which is sent what a command finds on standard input, and
// whose answer is read as a command's output; and it may have the keys that
// every dialect has, see package dialect.
//
// # Events
//
//	PreToolUse     pre_tool_use, pre_shell, pre_mcp_call, pre_file_read; can be blocked
//	PostToolUse    post_tool_use, post_tool_use_failure, post_shell, post_mcp, post_file_edit
//	Notification   notification, permission_denied (event_type "system_message"),
//	               error, stop_failure ("error"), heartbeat ("status")
//	Stop           stop
//
// Other events have no name here. Nothing waits for the hooks of Notification.
// Events of sub-agents run no hooks unless the host says otherwise.
//
// # Matchers and tools
//
// "*" or nothing matches all; a name matches that tool, by this dialect's name
// or by the agent's own; "builtin:*" all tools that are not MCP tools; "mcp__*"
// all that are; "a|b" either. "*" may stand anywhere in a name. Anything else is
// a regular expression (RE2) for the whole name. For events without a tool, the
// matcher is about the event_type or the event's name.
//
//	bash_execute, read_file, write_file, replace_in_file, list_directory,
//	find_files, search_files, web_fetch, web_search, task, mcp__server__tool
//
// # What the process gets
//
// The command is text for /bin/sh, in the workspace or working_directory. On
// standard input stands the document's context as one JSON object: hook_type,
// tool_name, tool_args, result, error, execution_time, message, event_type,
// timestamp, session_id, user_input, as far as the event has them. The template
// variables are also in the environment, as CLI_AGENT_TOOL_NAME,
// CLI_AGENT_TOOL_ARGS and so on, and CLI_AGENT_HOOK_TYPE.
//
// # Template variables
//
//	{{tool_name}}       the tool
//	{{tool_args}}       its arguments, JSON
//	{{tool_args.a.b}}   a member, {{tool_args.list[0]}} an element: a string as
//	                    its text, anything else as JSON
//	{{result}}          PostToolUse: the result; {{error}} the error when it failed
//	{{message}}         Notification: the message
//	{{timestamp}}       when it happened, ISO 8601
//	{{session_id}}      the session, or "unknown"
//	{{user_input}}      what the person last wrote in the session, kept in memory
//	                    for the last 256 sessions
//
// What the event does not have is empty. Anything else in double braces, such as
// "{{.Names}}", is not ours and stays; a name that is not known, and has the form
// of one, is an error.
//
// No value becomes part of the shell's program. The text is read once, when the
// configuration is, by a parser of the shell's language; each template becomes a
// reference to an environment variable, quoted for the place where it stands
// ("${V}" unquoted, ${V} in double quotes and here-documents, '"${V}"' in single
// quotes), and the rest of the text stays byte for byte the same. A comment is
// left alone. A value is one word, also an empty one.
//
// Where a value would be read as a program whatever the quotes, the hook does
// not load, and the problem says why: as the command itself; as an argument of
// eval, trap, alias, source and their like, of sh -c and other shells, of awk,
// perl, osascript and other interpreters' program text, of ssh, docker, npm and
// others that pass it to a shell; behind sudo, env, timeout, xargs, find -exec as
// behind nothing; in a pipe or here-document to such a program; in arithmetic, in
// [ -eq ] and test -v, as the format of printf, as the name of a variable or a
// file descriptor; in an assignment to PATH, IFS, LD_… and others that change
// what programs do; and through a variable of the text's own that any of these
// gets. So do places about which shells do not agree, and here-documents whose
// delimiter is quoted. That list is a help and no wall: any program may do with
// an argument what it likes. Write a script that reads standard input, or use
// "$CLI_AGENT_…" in program text of its own kind.
//
// A word that begins with a value which begins with '-' could be taken for an
// option: the hook is not run then, which is [dialect.ErrFeed], unless "--" stands
// before it. printf's values are exempt, and echo's unless echo would take them
// for options. (echo of some shells expands backslashes in what it is given:
// write printf '%s\n'.) Values with a NUL byte or over the limit of a variable
// are ErrFeed as well. What a text puts into a variable of its own first is not
// looked at in this way: write -- before "$x". A redirection to a file that a value names is permitted.
//
// # Answers
//
//	exit 0       go on; a JSON object on standard output is the answer, other
//	             text is nobody's
//	exit 2       block; standard error is the reason
//	other exit   a failure: it is warned about and gone on from, unless
//	             on_failure says otherwise
//
//	{"continue": true, "decision": "approve" | "block" | "modify", "reason": "…",
//	 "metadata": {…}, "modified_args": {…}}
//
// continue false is a block, whatever the decision. approve is to go on, and no
// permission: the document has no question that it would answer, so the agent's
// own is asked. modified_args are merged into the tool's arguments, member by
// member, in PreToolUse, with any decision but block. An object that is not JSON, has a member twice, a wrong type or a
// decision that is not known is a failure.
//
// # Merging
//
// All hooks of an event run, also after one has blocked. Any block blocks, and
// the reasons are joined; modified_args are merged in the order of the hooks,
// each of which has seen the original arguments.
//
// # What cannot be said
//
// Questions to the person (ask), context for the model, prompt hooks, priorities,
// hooks that run once, hooks for session, prompt, model and compaction events.
// [Write] lists what is lost.
//
// # How to bring hooks over
//
// Hooks that cli-agent runs today work as they are: the files are read where
// they stand. Look at `grapnel hooks list` for what did not load. What changes: a
// value can no longer be more than one word, so a hook that relied on a value
// being split, such as one that runs {{tool_args.command}}, must read it from
// standard input.
package cliagent
