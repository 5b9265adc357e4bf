// Package kimicode is the protocol of Kimi Code CLI: its hook events to ours,
// and verdicts to the answers that it obeys.
//
// It follows moonshotai.github.io/kimi-code/en/customization/hooks as it stood
// in August 2026, and what users of 0.32 to 0.38 wrote about payloads; nobody
// watched the agent.
//
// What makes Kimi Code different:
//
//   - Of its twenty events three can be blocked: UserPromptSubmit, PreToolUse and
//     Stop. All others are told, PermissionRequest as well. Everything fails
//     open.
//   - What a hook prints on UserPromptSubmit is given to the model as it stands,
//     unless it is a JSON object, of which message is; so a context is text
//     there. Nothing else takes context, and {} says nothing anywhere.
//   - Exit code 2 blocks all three events, with stderr as the reason, and so does
//     permissionDecision deny, at least on PreToolUse. A deny has both. There is
//     no allow and no ask that does anything.
//   - A prompt is a text, or a list of parts with texts and images among them.
//   - turn_id is a number. Tool hooks fire for sub-agents, with nothing in the
//     payload that says so.
//   - It asks the Stop hooks once in a turn.
package kimicode
