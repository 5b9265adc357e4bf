// Package claudecode is the hook protocol of Claude Code: what it writes to a
// hook's stdin becomes an event ([Event]), and a verdict becomes what it obeys
// ([Answer]). It knows 33 events ([Capabilities]) and does no I/O.
//
// # Reading
//
// The payload must be one JSON object with no duplicate keys, not larger than
// [MaxPayload] or [MaxWhole] and not nested too deeply, and hook_event_name in it must
// be the event that the hook was registered for. Everything else is an error,
// which the edge answers with [Refuse]. Keys that are new are passed over: the
// payload travels inside the event, byte for byte but for white space around
// it. An event with a new name becomes hook.Other, unless it carries a tool
// call: nobody could answer that in words that Claude Code obeys, so it is
// refused.
//
// # Answering
//
// An answer is one JSON object on stdout and nothing else, because one line of
// text before the object loses the decision and the tool runs. Deny on an
// event that exit code 2 blocks is said twice, in the JSON and by exit code 2
// with the reason on stderr: Claude Code was seen to take the JSON's reason
// then, and to block on the exit code alone when it did not understand the
// JSON. PermissionRequest ignores the exit code and has a decision object of
// its own; on Stop and SubagentStop deny means "carry on" and is said in JSON
// alone, so that a crash, which also exits with 2, cannot hold a session.
//
// Abstain is {} and never a grant; allow is said only when the verdict grants.
// Texts are cut at [MaxText] characters, where Claude Code would cut them.
//
// # What Claude Code cannot express
//
// The answer is then stricter and never looser: ask on a prompt is deny, a
// rewrite that cannot be shown is deny. Where nothing blocks (SessionStart),
// the deny is told to the person and the model. Answer.Note says so each time.
//
// # WorktreeCreate
//
// A hook on WorktreeCreate replaces git's own worktree: whatever it prints is
// taken for the path. There is no answer with which one can merely listen, so
// it is never registered, and if somebody does, the answer fails with a reason
// that says what to remove.
package claudecode
