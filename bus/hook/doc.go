// Package hook is the vocabulary of the bus: events, effects, decisions,
// verdicts and the rule that merges decisions into a verdict. Every other
// package speaks in its types; it imports the standard library alone and does
// no I/O.
//
// # Events
//
// An [Event] is one CloudEvents 1.0 event that a coding agent caused. Its
// [Name] is one of the canonical names ([Names]) or [Other], which carries
// whatever an agent invented since. A name's [Class] says whether the agent
// waits for an answer and what silence means: a gate (tool, prompt and
// permission events) fails towards deny, a lifecycle event (stop, session,
// compaction) fails towards letting the agent go on, a notification is never
// waited for.
//
// An agent makes its events with an [Origin], which has a method for each name
// and draws ids and the time itself. [Origin.Child] is a sub-agent's and
// [Origin.InSession] that of a session started from another; events say how
// these belong together.
//
// # Decisions and verdicts
//
// A [Decider] answers a blocking event with a [Decision]. The gateway gathers
// the decisions of everyone in the roster ([Entry]), and [Merge] makes one
// [Verdict] of them. The effects are a total order,
//
//	abstain < allow < ask < deny < halt
//
// and the strictest wins. Merge is a pure function of the set of answers: the
// order in which they came changes nothing, and adding an answer never makes
// the verdict looser. A decider that did not answer counts as what its
// [FailurePolicy] says; there is no path on which silence, an error or an
// answer that was not understood counts as allow.
//
// # Subjects
//
// [Token] turns any name into one NATS subject token, and [Pattern] matches
// event keys ("pre_tool_use.bash") with NATS wildcards. No input can leave its
// own prefix, add a token or a wildcard.
//
// # Concurrency and retention
//
// All types are plain values. Byte slices in events and decisions are shared,
// not copied: whoever receives one may keep it and must not write to it.
package hook
