// Package ollm is the hook dialect of OLLM CLI, as the OLLM hooks documentation
// ("Hook System") has it. [New] returns it; package dialect runs it, and
// package trust decides what may run.
//
// # Files
//
//	~/.ollm/hooks/*.json               user
//	.ollm/hooks/*.json                 workspace
//	~/.ollm/extensions/*/hooks/*.json  extension
//
// OLLM CLI registers hooks from programs; these files hold what its
// registerHook takes, under the event's name:
//
//	{
//	  "hooks": {
//	    "before_tool": [
//	      {"id": "guard", "name": "Block dangerous commands", "command": "node",
//	       "args": ["/home/me/.ollm/hooks/block-dangerous.js"],
//	       "sourcePath": "/home/me/.ollm/hooks/block-dangerous.js"}
//	    ]
//	  },
//	  "enabled": true, "timeout": 30000, "trustWorkspace": false
//	}
//
// The last three are its HooksConfig: whether the hooks of this file run at all,
// how long they may take (milliseconds), and whether workspaces need no
// approval. The last counts in the person's own files alone, through
// [TrustsWorkspaces]; elsewhere it is a problem and counts for nothing.
//
// Beside a hook's own keys may stand "timeout" (milliseconds), "priority" (high
// first, among the hooks of one source) and the keys that every dialect has
// (see package dialect); "after" names ids. The documentation has no matchers: a
// hook runs for every event of its name. Here "matcher" may list tools
// ("shell|write_file") for before_tool and after_tool, so that hooks of other
// dialects can come over.
//
// # Sources and trust
//
// Hooks run in the order builtin, user, workspace, downloaded, extension; among
// these by priority and then as they stand. Where a file lies says what source
// its hooks have; "source" can make a hook less trusted than its file and never
// more. What needs approval, and what counts as changed, is in package trust;
// "sourcePath" is among the files that an approval covers.
//
// # Commands
//
// There is no shell: command is a program and args are its arguments. The
// command is an absolute path or one of node, python, python3, bash, sh, npx and
// uvx. Neither it nor its arguments may hold any of
//
//	; & | ` $ ( ) { } [ ] < >
//
// or a control character; such a hook does not load.
//
// # Events
//
//	session_start          session_start, session_resume                          blocks
//	session_end            session_end
//	before_agent           user_prompt_submit, user_prompt_expand                 blocks
//	after_agent            stop
//	before_model           before_model                                           blocks
//	after_model            after_model
//	before_tool_selection  before_tool_selection                                  blocks
//	before_tool            pre_tool_use, pre_shell, pre_mcp_call, pre_file_read   blocks
//	after_tool             post_tool_use, post_tool_use_failure, post_shell,
//	                       post_mcp, post_file_edit
//	pre_compress           pre_compact                                            blocks
//	post_compress          post_compact
//	notification           notification
//
// An agent that stops has nothing left to abort, so after_agent does not block:
// a block of stop would mean to carry on.
//
// # Tools
//
// shell (command), read_file (path), write_file (path, content), edit_file
// (path); glob (pattern, path), grep (pattern, path), ls (path), web_fetch (url)
// and web_search (query) are not in the documentation. All others keep the
// agent's name, and all members of the input keep theirs besides.
//
// # What the process gets
//
// Standard input is {"event": …, "data": {…}}:
//
//	session_start          session_id
//	session_end            session_id messages
//	before_agent           prompt
//	after_agent            response tool_calls
//	before_model           sessionId model messages
//	after_model            response tokens
//	before_tool_selection  available_tools
//	before_tool            tool_name args
//	after_tool             tool_name args result, and error where it failed
//	pre_compress           session_id trigger
//	post_compress          session_id trigger summary
//	notification           message type
//
// messages, tokens, tool_calls and available_tools are what the agent said, and
// empty where it said nothing. data also holds what the hooks before passed on
// in theirs; that adds members and never replaces one of these, so that no hook
// can hide from the next what will run. It runs in the workspace.
//
// # Answers
//
// Standard output is {"continue": true or false, "systemMessage", "data",
// "error"}, of which continue is required. false stops the operation and the
// hooks that would follow; systemMessage is the reason then, and else text for
// the conversation. error is a warning.
//
// An exit code other than 0, no output, an output over one MiB or that says
// nothing about continue is a failure, which is gone on from; false counts
// whatever the exit code. Lines of text around the object are passed over, as
// the documentation's first example prints one. Where several objects say
// continue, one false stops; else that is a failure.
//
// A hook may take 30 seconds. Each runs in a process of its own, one after
// another. Hooks cannot change a tool's input.
//
// # What it cannot express
//
// Matchers that are patterns, shell text beyond plain words, prompt and HTTP hooks, variables,
// working directories, hooks that run once or are disabled one by one, and
// Claude Code's "if". [dialect.Dialect.Write] names each.
//
// # How to bring hooks over
//
// Put a file as above beside the scripts in ~/.ollm/hooks or .ollm/hooks, with
// an entry for each registerHook call; the scripts stay as they are. Hooks of a
// workspace are approved once with `grapnel trust add`, and again when a script
// changes.
//
// # The API reference in our words
//
//	registerHook, unregisterHook, hasHook, getHook   Set.Register, Unregister, Lookup
//	getHooksForEvent, getAllHooks, getHookCount      Set.Registered, Count
//	clearEvent, clear                                Set.Clear
//	planExecution                                    Set.Plan
//	executeHook, executeHooks, …WithSummary,         Set.Execute, whose Summary has
//	…WithMetadata                                    each hook's Result and Report
//	setTimeout                                       Hook.Timeout
//	isTrusted, getApprovals, storeApproval,          Set.Candidates, trust.Store
//	removeApproval, clearApprovals
//	computeHash                                      trust.Gauge.Measure
package ollm
