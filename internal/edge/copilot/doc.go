// Package copilot is the protocol of GitHub's Copilot CLI and its cloud agent:
// their hook events to ours, and verdicts to the answers that they obey.
//
// It follows Copilot CLI 1.0.102 as it was watched on 2026-11-20, and
// docs.github.com/en/copilot/reference/hooks-reference as of 2026-08 where
// nobody watched, which goes for the cloud agent as a whole.
//
// What makes Copilot different:
//
//   - The case of the name that a hook is registered under picks the dialect.
//     Under preToolUse the payload is in camelCase and does not name its event;
//     under PreToolUse it is in snake_case, with Claude Code's names for tools.
//     They are rows of their own here. We register the first, and answer both in
//     the flat shape, which works under both: Claude Code's nested one is passed
//     over in camelCase, and the tool runs (seen).
//   - PermissionRequest is in camelCase under either name, and names itself in
//     hookName (seen).
//   - toolArgs may be an object or a text that holds one. Payloads have no call
//     id. The time in them, in milliseconds, tells one call from the next.
//   - Hooks of one event run one after the other. A time-out lets the tool run,
//     always; anything else that goes wrong before a tool denies it.
//   - Exit code 2 denies a tool, and stops neither a prompt nor an agent from
//     stopping: those are blocked by the JSON, with exit code 0 (seen).
//   - permissionRequest cannot ask, and fires where nothing would be asked. All
//     that it could say, preToolUse has said before, so it is not registered.
//   - A changed input was only ever seen to be taken together with an allow.
//     Without one the original might run, so it takes a grant, and is a deny
//     where nobody has one.
//   - After eight blocks in a row it lets an agent stop.
package copilot
