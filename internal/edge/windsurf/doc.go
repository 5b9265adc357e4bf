// Package windsurf is the protocol of Windsurf's Cascade hooks, which Devin
// Desktop has as well: its hook events to ours, and verdicts to the answers that
// it obeys.
//
// It follows docs.windsurf.com/windsurf/cascade/hooks as it stood in August
// 2026; nobody watched the agent.
//
// What makes Windsurf different:
//
//   - It reads no JSON. Exit code 2 blocks the events whose names begin with
//     pre_, with the reason on stderr, and any other code goes on; so nothing is
//     ever said on stdout. It cannot ask, change an input, take context or skip
//     a question.
//   - Instead of tool names there are events for reading, writing, commands and
//     MCP tools. Tools are called read_code, write_code and run_command here,
//     after the events, and mcp__SERVER__TOOL, as other agents call them.
//   - What an event is about stands in tool_info, whose fields differ by event.
//     It is the tool's input as it stands, but for MCP tools, whose arguments
//     are.
//   - There is no id for a call. execution_id is one turn, trajectory_id the
//     conversation; a call is told from another by its time and input.
//   - A hook has no time-out.
package windsurf
