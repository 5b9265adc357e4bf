// Package antigravity is the protocol of Antigravity's command line, agy, and
// its IDE: hook events to ours, and verdicts to the answers that it obeys.
//
// It follows what safe-chains and skillsaw wrote about runs of agy 1.1.2 to
// 1.2.3 (docs.rs/safe-chains, skillsaw's antigravity-hooks-valid rule, August
// 2026), and rulesync's table of events. We did not watch the agent ourselves.
//
// What makes Antigravity different:
//
//   - It fails closed. {} denies a tool call, and so do an empty decision, text
//     that is no JSON and exit code 1. Only to print nothing and end with 0 is no
//     opinion, so nothing is printed on any event unless there is something to
//     say.
//   - A payload does not name its event. The registration alone does; a tool call
//     that comes under another name than PreToolUse's is denied, but for
//     PostToolUse's, which may have it one day.
//   - What was called stands in toolCall, as name and args. Its number in the
//     conversation, stepIdx, is its id. PostToolUse has that number and an error,
//     and no tool.
//   - ask is answered by what the person once always allowed; force_ask is not.
//     So an ask is force_ask. allow skips the question since 1.2.3, and not in
//     1.1.2, so it is said only where the verdict grants.
//   - A deny is said in JSON with exit code 0: what else than 1 an exit code does
//     is not known, and if the JSON is not read the call is denied as well.
//   - A stop is kept up with decision continue. PreInvocation, before each
//     request to the model, takes steps to put in, and nothing denies it: a
//     context is one there.
//   - A prompt has no event.
package antigravity
