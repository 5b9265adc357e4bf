// Package qwencode is the protocol of Qwen Code: its hook events to ours, and
// verdicts to the answers that it obeys.
//
// It follows Qwen Code 0.24.4 as it was watched on 2026-11-20, and its
// documentation and code of 2026-08 (docs/users/features/hooks.md) where nobody
// watched.
//
// What makes Qwen Code different:
//
//   - It looks like Claude Code and does less. A changed input is passed over
//     and the original runs, so it is a deny. Context before a tool, a block
//     after one and context for a sub-agent are passed over as well.
//   - continue:false never ends a session. On Stop it makes the agent carry on,
//     the opposite of what it says, so it is never said.
//   - Exit code 2 with an empty stderr is no answer. With a reason it blocks,
//     and stdout is not read.
//   - PermissionRequest comes before PreToolUse, and reads no exit code; only
//     there does an allow skip the question.
//   - UserPromptSubmit fires again for every round of tool results, with an
//     empty prompt. Those stay gates, with the reason "tool_result".
package qwencode
