// Package kirocli is the protocol of Kiro CLI, which was Amazon Q CLI before: its
// hook events to ours, and verdicts to the answers that it obeys.
//
// It follows docs/hooks.md of github.com/aws/amazon-q-developer-cli for the
// hooks of 2.x, and kiro.dev/docs/cli/v3/hooks, as it stood in September 2026,
// for those of 3, which Kiro's IDE has as well. Nobody watched the agent.
//
// What makes Kiro CLI different:
//
//   - There are two tables. 2.x has five events in lower camel case, in an
//     agent's own configuration; 3 does not read that and has triggers in upper
//     camel case, in .kiro/hooks. What 3 sends still carries the name of 2.x
//     where there is one, so it is taken for the trigger's.
//   - It reads no JSON. With exit code 0 what stands on stdout is given to the
//     model as it stands: in 2.x where an agent or a prompt begins, in 3 on every
//     trigger. So no opinion is to print nothing, and a context is text.
//   - Exit code 2 blocks, with stderr as the reason: a tool call in both, in 3 a
//     prompt and the task of a specification as well. Elsewhere, and with other
//     codes, stderr is a warning. Nothing asks, grants, changes an input or
//     carries on.
//   - A page of August 2026 says that any code but 0 blocks; a deny has 2 and
//     all else 0, which is the same by both.
//   - Tool calls have no id and payloads no time, so each call is an event of its
//     own. 2.x has no session either.
package kirocli
