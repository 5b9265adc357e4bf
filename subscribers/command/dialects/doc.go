// Package dialects is the table of the hook dialects that there are. A further
// one is a package beside the others and one line in [All].
//
// # Any agent, any dialect
//
// An event of any agent can be answered by a hook of any dialect: events and
// tools have canonical names (package bus/hook), and each dialect has its own
// for them. A matcher is tried on the dialect's name of the tool and on the
// agent's; a hook is given the dialect's names, also for the members of a tool's
// input, and what it changes goes back to the agent in the agent's own.
//
// # Table
//
// Events; ! marks those that hooks can block there, - that the dialect has no name for it:
//
//	event                    grapnel                  claude-code           cli-agent     claude-agent        codemie            ollm                    code-forge
//	session_start            session_start!           SessionStart          -             SessionStart!       SessionStart!      session_start!          session:start
//	session_resume           session_resume!          SessionStart          -             SessionStart!       SessionStart!      session_start!          session:start
//	session_end              session_end              SessionEnd            -             SessionEnd          -                  session_end             session:end
//	session_delete           session_delete           -                     -             -                   -                  -                       -
//	session_message          session_message          -                     -             -                   -                  -                       session:message
//	setup                    setup!                   Setup                 -             -                   -                  -                       -
//	user_prompt_submit       user_prompt_submit!      UserPromptSubmit!     -             UserPromptSubmit!   UserPromptSubmit!  before_agent!           user:prompt_submit!
//	user_prompt_expand       user_prompt_expand!      UserPromptExpansion!  -             -                   UserPromptSubmit!  before_agent!           -
//	pre_tool_use             pre_tool_use!            PreToolUse!           PreToolUse!   PreToolUse!         PreToolUse!        before_tool!            tool:pre_execute!
//	pre_shell                pre_shell!               PreToolUse!           PreToolUse!   PreToolUse!         PreToolUse!        before_tool!            tool:pre_execute!
//	pre_mcp_call             pre_mcp_call!            PreToolUse!           PreToolUse!   PreToolUse!         PreToolUse!        before_tool!            tool:pre_execute!
//	pre_file_read            pre_file_read!           PreToolUse!           PreToolUse!   PreToolUse!         PreToolUse!        before_tool!            tool:pre_execute!
//	post_tool_use            post_tool_use            PostToolUse           PostToolUse   PostToolUse         PostToolUse        after_tool              tool:post_execute
//	post_tool_use_failure    post_tool_use_failure    PostToolUseFailure    PostToolUse   PostToolUseFailure  PostToolUse        after_tool              tool:error
//	post_tool_batch          post_tool_batch!         PostToolBatch!        -             -                   -                  -                       -
//	post_shell               post_shell               PostToolUse           PostToolUse   PostToolUse         PostToolUse        after_tool              tool:post_execute
//	post_mcp                 post_mcp                 PostToolUse           PostToolUse   PostToolUse         PostToolUse        after_tool              tool:post_execute
//	post_file_edit           post_file_edit           PostToolUse           PostToolUse   PostToolUse         PostToolUse        after_tool              tool:post_execute
//	permission_check         permission_check!        -                     -             -                   -                  -                       permission:check!
//	permission_request       permission_request!      PermissionRequest!    -             -                   -                  -                       permission:prompt
//	permission_granted       permission_granted       -                     -             -                   -                  -                       permission:granted
//	permission_denied        permission_denied        PermissionDenied      Notification  -                   -                  -                       permission:denied
//	stop                     stop!                    Stop!                 Stop          Stop                Stop!              after_agent             -
//	stop_failure             stop_failure             StopFailure           Notification  -                   -                  -                       -
//	interrupt                interrupt                -                     -             -                   -                  -                       user:interrupt
//	error                    error                    -                     Notification  -                   -                  -                       -
//	subagent_start           subagent_start!          SubagentStart         -             SubagentStart!      -                  -                       -
//	subagent_stop            subagent_stop!           SubagentStop!         -             SubagentStop        -                  -                       -
//	pre_compact              pre_compact!             PreCompact!           -             PreCompact          -                  pre_compress!           -
//	post_compact             post_compact             PostCompact           -             -                   -                  post_compress           -
//	notification             notification             Notification          Notification  -                   -                  notification            -
//	before_model             before_model!            -                     -             -                   -                  before_model!           llm:pre_request!
//	after_model              after_model              -                     -             -                   -                  after_model             llm:post_response
//	before_tool_selection    before_tool_selection!   -                     -             -                   -                  before_tool_selection!  -
//	model_stream_start       model_stream_start       -                     -             -                   -                  -                       llm:stream_start
//	model_stream_chunk       model_stream_chunk       MessageDisplay        -             -                   -                  -                       -
//	model_stream_end         model_stream_end         -                     -             -                   -                  -                       llm:stream_end
//	model_thought            model_thought            -                     -             -                   -                  -                       -
//	agent_message            agent_message            MessageDisplay        -             -                   -                  -                       session:message
//	pre_model_switch         pre_model_switch!        PreModelSwitch!       -             -                   -                  -                       -
//	post_model_switch        post_model_switch        PostModelSwitch       -             -                   -                  -                       -
//	task_created             task_created!            TaskCreated!          -             -                   -                  -                       -
//	task_completed           task_completed!          TaskCompleted!        -             -                   -                  -                       -
//	teammate_idle            teammate_idle!           TeammateIdle!         -             -                   -                  -                       -
//	instructions_loaded      instructions_loaded      InstructionsLoaded    -             -                   -                  -                       -
//	config_change            config_change!           ConfigChange!         -             -                   -                  -                       -
//	cwd_changed              cwd_changed              CwdChanged            -             -                   -                  -                       -
//	directory_added          directory_added          DirectoryAdded        -             -                   -                  -                       -
//	file_changed             file_changed             FileChanged           -             -                   -                  -                       -
//	worktree_create          worktree_create!         WorktreeCreate!       -             -                   -                  -                       -
//	worktree_remove          worktree_remove          WorktreeRemove        -             -                   -                  -                       -
//	elicitation              elicitation!             Elicitation!          -             -                   -                  -                       -
//	elicitation_result       elicitation_result!      ElicitationResult!    -             -                   -                  -                       -
//	heartbeat                heartbeat                -                     Notification  -                   -                  -                       -
//	hook_execution_start     hook_execution_start     -                     -             -                   -                  -                       -
//	hook_execution_complete  hook_execution_complete  -                     -             -                   -                  -                       -
//	hook_execution_error     hook_execution_error     -                     -             -                   -                  -                       -
//	other                    other                    -                     -             -                   -                  -                       -
//
// Tools, as hooks see those of other agents; * is the agent's own name:
//
//	tool        grapnel  claude-code        cli-agent          claude-agent       codemie            ollm        code-forge
//	shell       *        Bash               bash_execute       Bash               Bash               shell       bash
//	read        *        Read               read_file          Read               Read               read_file   read
//	write       *        Write              write_file         Write              Write              write_file  write
//	edit        *        Edit               replace_in_file    Edit               Edit               edit_file   edit
//	glob        *        Glob               find_files         Glob               Glob               glob        glob
//	grep        *        Grep               search_files       Grep               Grep               grep        grep
//	list        *        LS                 list_directory     LS                 LS                 ls          list
//	fetch       *        WebFetch           web_fetch          WebFetch           WebFetch           web_fetch   web_fetch
//	web_search  *        WebSearch          web_search         WebSearch          WebSearch          web_search  web_search
//	subagent    *        Agent              task               Task               Task               *           task
//	mcp         *        mcp__server__tool  mcp__server__tool  mcp__server__tool  mcp__server__tool  *           mcp__server__tool
//	other       *        *                  *                  *                  *                  *           *
//
// What there is:
//
//	                    grapnel   claude-code  cli-agent  claude-agent  codemie  ollm      code-forge
//	hooks run           in order  at once      in order   in order      at once  in order  in order
//	time-out            30s       10m0s        30s        1m0s          1m0s     30s       10s
//	rewrites input      yes       yes          yes        yes           yes      no        no
//	skips the question  no        yes          no         no            no       no        no
//	same hook once      no        yes          no         no            yes      no        no
//
// What it cannot express, of the events that block elsewhere:
//
//	                       grapnel  claude-code  cli-agent  claude-agent  codemie  ollm  code-forge
//	events without a name  0        3            21         15            17       14    16
//
// # End of the table
//
// # How to bring hooks over
//
// Name the dialect in the configuration file (grapnel.yaml), and its hooks run
// for every agent on the bus, from the very files where they stand:
//
//	dialects: [codemie, ollm, {name: claude-code, on_failure: deny}]
//
// `grapnel hooks list` then shows each hook, where it stands and whether it may
// run; `grapnel hooks test` runs those that match an event; `grapnel trust add`
// approves those of a workspace. Each dialect's package says what there is to
// know about it: cliagent, claudeagent, codemie, ollm, codeforge, claudecode,
// and native for our own. `grapnel hooks convert` writes one dialect's file as
// another's and says what is lost.
//
// Claude Code runs the hooks of its own settings by itself; its events do not
// run them a second time here. To move them to the bus, so that all agents get
// them and every decision is on record, take them out of the settings and name
// the new file:
//
//	dialects: [{name: claude-code, files: [~/.config/grapnel/claude-hooks.json]}]
package dialects
