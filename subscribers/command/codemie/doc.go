// Package codemie is the hook dialect of CodeMie Code, as the CodeMie hooks
// documentation ("Hooks System") has it. [New] returns it; package dialect runs
// it.
//
// # Files
//
// There is one, ~/.codemie/codemie-cli.config.json, and it is the person's own:
//
//	{
//	  "version": 2,
//	  "activeProfile": "default",
//	  "profiles": {
//	    "default": {
//	      "provider": "openai", "baseUrl": "…", "apiKey": "…", "model": "gpt-4",
//	      "maxHookRetries": 5,
//	      "hooks": {
//	        "PreToolUse": [{"matcher": "Bash|Write", "hooks": [
//	          {"type": "command", "command": "/path/to/hook.sh", "timeout": 60000},
//	          {"type": "prompt", "prompt": "Is $TOOL_INPUT safe?", "timeout": 30000}
//	        ]}]
//	      }
//	    }
//	  }
//	}
//
// Hooks of the active profile load, those of others do not. A version other
// than 2 is a problem, and what has the shape of version 2 loads all the same:
// a check must not go away because a number changed. timeout is in
// milliseconds, 60000 where it is missing. The keys that every dialect has (see
// package dialect) may stand beside a hook's own.
//
// The profile's apiKey is a secret. It is in [dialect.Model.Key] of prompt hooks
// and nowhere else: no definition, no problem, no JSON and no file that is
// written has it, and command hooks do not get it.
//
// # Matchers
//
// "*" and a missing or empty matcher are all tools; anything else is a regular
// expression (RE2) for the whole name, so that a literal is exactly that name.
// Names are the dialect's and the agent's own. UserPromptSubmit, SessionStart
// and Stop have no tool: their hooks always run, and a matcher there that is
// not "*" is a problem.
//
// # Events
//
//	PreToolUse        pre_tool_use, pre_shell, pre_mcp_call, pre_file_read   blocks
//	PostToolUse       post_tool_use, post_tool_use_failure, post_shell,
//	                  post_mcp, post_file_edit
//	UserPromptSubmit  user_prompt_submit, user_prompt_expand                 blocks
//	SessionStart      session_start, session_resume                          blocks
//	Stop              stop                                                   blocks
//
// A block of Stop means: carry on working. A block of SessionStart keeps the
// session from starting where the agent can do that.
//
// # Tools
//
// Bash, Read, Write and Edit are the documentation's own names. Tools that it
// does not name are called as Claude Code calls them (Glob, Grep, LS, WebFetch,
// WebSearch, Task), and MCP tools mcp__server__tool. Inputs have the members
// command, file_path, content, old_string, new_string, pattern, path, url,
// query and prompt beside whatever the agent calls them.
//
// # What the process gets
//
// The command is text for /bin/sh, run in the workspace. The event is JSON in
// CODEMIE_HOOK_INPUT and, the same bytes, on standard input:
//
//	PreToolUse        hook_event_name tool_name tool_input tool_use_id session_id cwd permission_mode
//	PostToolUse       hook_event_name tool_name tool_input tool_output tool_metadata session_id cwd
//	UserPromptSubmit  hook_event_name prompt session_id cwd
//	SessionStart      hook_event_name session_id cwd agent_name profile_name permission_mode
//	Stop              hook_event_name session_id cwd
//
// tool_output is text: a result that is no string is its JSON. tool_metadata is
// the result where that is an object. permission_mode is "auto" where the agent
// runs tools without asking, else "manual". agent_name is the agent that the
// event comes from.
//
// Besides there are CODEMIE_PROJECT_DIR, CODEMIE_SESSION_ID, CODEMIE_HOOK_EVENT,
// CODEMIE_TOOL_NAME, CODEMIE_AGENT_NAME, CODEMIE_PROFILE_NAME,
// CODEMIE_TRANSCRIPT_PATH and CODEMIE_PERMISSION_MODE; those that do not apply
// are empty.
//
// An event over [command.MaxVariable] bytes does not fit into a variable. A hook
// of an event that can be blocked is a failure then ([dialect.ErrFeed]): a
// script that looks into a variable that is not there would see nothing wrong.
// A hook that reads standard input says so by having GRAPNEL_OMITTED in its
// command's text, and runs. Hooks of PostToolUse run in any case.
//
// A prompt hook's placeholders ($ARGUMENTS, $TOOL_NAME, $TOOL_INPUT, $PROMPT,
// $SESSION_ID, $CWD) stay in its text; whoever asks the model fills them in.
//
// # Answers
//
//	exit code 0, nothing on stdout   it goes on
//	exit code 0, a JSON object       decision allow, approve, deny or block; reason;
//	                                 updatedInput; additionalContext
//	exit code 2                      block; stderr is the reason
//	anything else                    a failure, which is gone on from
//
// updatedInput (PreToolUse) is merged into the tool's input, member by member.
// Text that is no JSON, a decision of another name and members of a wrong type
// are failures. Neither allow nor approve skips the agent's own question.
//
// SessionStart: exit code 2 with a text on stderr runs the hooks again, up to
// maxHookRetries times (of the profile or the file; 5); then the block stands.
//
// # Merge
//
// The hooks of an event run at the same time, those that are configured the
// same once. The decision is the highest of block, deny, approve, allow, with
// the reasons of all that said that. Contexts are joined by newlines in the
// order of the file, that of SessionStart under the heading "[SessionStart Hook
// Output]:". Of several updatedInput the later member wins.
//
// # What it cannot express
//
// HTTP hooks, working directories, variables, priorities, disabled hooks, hooks
// that run once, Claude Code's "if", events besides the five, and matchers on
// events without a tool. [dialect.Dialect.Write] names each.
//
// # How to bring hooks over
//
// Leave the file where it is: its hooks run for every agent's events. To have
// them as another dialect's, convert them; to keep CodeMie Code itself from
// asking as well, take "hooks" out of the profile afterwards. Scripts stay
// unchanged: those that know tool names see the documentation's (Bash, Write)
// whatever agent the event is from.
package codemie
