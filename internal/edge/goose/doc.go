// Package goose is the protocol of Goose: its hook events to ours, and verdicts
// to the answers that it obeys.
//
// It follows documentation/docs/guides/context-engineering/hooks.md of
// github.com/block/goose as it stood in August 2026, for Goose 1.48; nobody
// watched the agent.
//
// What makes Goose different:
//
//   - Only PreToolUse and Stop can block, and nothing takes context, asks,
//     grants or changes an input. A deny of a prompt changes nothing.
//   - Standard output is for the decision alone. No opinion is to print nothing:
//     {} is no decision, which a hook with on_failure "block" is denied for.
//   - Exit code 2 blocks with stderr as the reason, and {"decision":"block"}
//     blocks whatever the exit code is. A deny has both; a stop is kept up by
//     the JSON alone, because a crash has exit code 2 as well.
//   - Commands and file accesses have events of their own beside PreToolUse and
//     PostToolUse, for the same calls. Those that come before cannot block.
//   - It ends a turn itself that is kept up too often.
//   - Hooks live in plugins, and a matcher is a regular expression: "*" is none,
//     and its rule never runs.
package goose
