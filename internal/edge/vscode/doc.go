// Package vscode is the protocol of agent mode in Visual Studio Code: its hook
// events to ours, and verdicts to the answers that it obeys.
//
// Nobody has watched it. It follows
// code.visualstudio.com/docs/agents/reference/hooks-reference as approved on
// 2026-06-03, where hooks are a preview, and where that leaves something open
// the source of the extension (github.com/microsoft/vscode, extensions/copilot:
// chatHookService.ts, hookResultProcessor.ts, nodeHookExecutor.ts).
//
// What makes VS Code different:
//
//   - It has Claude Code's events and shapes, and neither its tools nor its
//     names for their inputs. Documentation and source differ in the payload's
//     own keys (hookEventName and hook_event_name, sessionId and session_id), so
//     both are read.
//   - With exit code 2 it takes stderr for the reason and reads no JSON; without
//     it reads the JSON alone. So a deny is said in both, and a halt, which only
//     JSON can say, with exit code 0.
//   - The block that keeps an agent from stopping stands in hookSpecificOutput,
//     and that of a sub-agent at the top level. Exit code 2 does the same to
//     both.
//   - A changed input that does not fit the tool's schema is dropped, and the
//     original runs. Nobody here can tell, so a changed input is a deny.
//   - Matchers are parsed and not applied: a hook fires for every tool.
//   - Nothing stops a session or a sub-agent from starting, nor a compaction.
//   - A time-out and any exit code but 0 and 2 let the tool run.
package vscode
