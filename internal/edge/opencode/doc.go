// Package opencode is the protocol of OpenCode: its plugin hooks and events to
// ours, and verdicts to the answers that our plugin obeys.
//
// OpenCode runs no hook commands. It loads plugins, which are called for each
// hook with its input and its output, and may change the output or throw. Our
// own, plugin.js, is such a plugin; [Plugin] gives it the command line and the
// installer puts it where OpenCode looks. It was tried against what OpenCode
// 1.18.33 was watched giving its plugins on 2026-11-20, and follows
// opencode.ai/docs/plugins where nobody watched.
//
// # Payload
//
// The plugin starts the hook program without a shell, with the event's name as
// its last argument, and writes one JSON object to its stdin:
//
//	hook_event_name  the plugin hook's name, or the type of the bus event
//	id               of the call, the message or the event, where there is one
//	session_id       the session's
//	cwd              the directory that OpenCode works in
//	input, output    what OpenCode handed the plugin; {event} for bus events
//
// Only attachments of a prompt are cut: of a data: URL the type stays.
//
// # Answer
//
// On stdout stands one JSON object: {} for no opinion, {"output":{"args":…}} for
// a tool's new input, {"decision":"block","reason":…} for a deny, which has exit
// code 2 and the reason on stderr as well. The plugin throws on a deny and on
// everything that it cannot read, where a tool, a prompt or a command is decided
// on: another exit code, no answer in time, other text, other keys. OpenCode
// then does not go on. For all other events nobody waits.
//
// What makes OpenCode different:
//
//   - It cannot be made to ask or to grant. Its plugin hook for that,
//     permission.ask, is never called.
//   - A turn's end and a session's start are told and not asked about.
//   - A plugin that does not load is left out, and everything runs.
//   - Hooks hand over the environment, the configuration and the model's
//     headers; those hold secrets and the plugin does not take part in them.
package opencode
