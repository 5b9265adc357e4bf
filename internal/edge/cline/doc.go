// Package cline is the protocol of Cline: its hook events to ours, and verdicts
// to the answers that it obeys.
//
// It follows Cline's hook reference (docs/features/hooks/hook-reference.mdx) and
// docs.cline.bot/customization/hooks as they stood in August 2026, for Cline
// 3.60; nobody watched the agent.
//
// What makes Cline different:
//
//   - It fails closed: an exit code other than 0 without an answer, an answer
//     that is no JSON, and a time-out all block. Only an empty answer goes on.
//   - An answer that can be read counts whatever the exit code is, so a deny is
//     said by both and an answer that lets something pass has exit code 0.
//   - There is one answer to all events, cancel with an errorMessage. Nothing
//     asks, grants, changes an input or carries on, and there is no stop event:
//     a task ends with TaskComplete, which is told and not asked.
//   - A context is read with the model's next request, not with this action.
//   - Each event's data stands in an object named after it, preToolUse for
//     PreToolUse. Tool parameters are all texts. There is no id for a call; it is
//     told from another by its time and input.
//   - A hook is a file that is named after its event, so the installer writes
//     files and no settings.
package cline
