// Package codex is the protocol of OpenAI's Codex: its hook events to ours, and
// verdicts to the answers that it obeys.
//
// It follows Codex 0.169.0 as it was watched on 2026-11-20, the JSON Schemas in
// that version, and learn.chatgpt.com/docs/hooks where nobody watched.
//
// What makes Codex different:
//
//   - One key that it does not expect, an ask, an allow without a changed
//     input, or a deny without a reason, and it drops the whole answer and lets
//     the tool run. So answers are built key by key for each event, and no
//     opinion is said by saying nothing.
//   - It cannot ask: an ask is a deny.
//   - A changed input is taken only with an allow. Whether that skips its own
//     question is not known, so it is said only where the verdict grants, and is
//     a deny elsewhere.
//   - It never stops an agent that is kept from stopping; the bus does.
//   - Hooks run in a login shell, and only once the person has trusted them, by
//     a hash over the command line.
package codex
