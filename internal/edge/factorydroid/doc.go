// Package factorydroid is the protocol of Factory's Droid: its hook events to
// ours, and verdicts to the answers that it obeys.
//
// It follows docs.factory.ai/reference/hooks-reference as it stood in August
// 2026; nobody watched the agent.
//
// What makes Droid different:
//
//   - Its answers are those of Claude Code's first versions, and so is the
//     table: nine events, no permission event, no context on tool calls.
//   - Payloads mix two ways of writing names, sessionId beside tool_name, and the
//     documentation has stopHookActive where examples of others have
//     stop_hook_active. Both are read, for every name.
//   - A changed input is laid over the called one, so that no key can be taken
//     out of it. Whether it is taken without an allow is not said, so it goes
//     with one, which skips the person's question, and takes a grant.
//   - Exit code 2 blocks, with stderr as the reason, and is not said to read
//     stdout. A deny has both. A halt is in the JSON alone, because it ends more
//     than exit code 2 does, and a stop is kept up by the JSON alone, because a
//     crash has exit code 2 as well.
//   - A tool call has no id and a payload no time, so each call is an event of
//     its own, also when the hook is registered twice.
package factorydroid
