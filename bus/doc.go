// Package bus puts the hooks of coding agents on NATS: agents request and
// publish, deciders respond, handlers consume, people watch, and the
// [Gateway] in the middle gathers decisions into one verdict and sees to it
// that the verdict is on record before it leaves.
//
// # Usage
//
// Everything starts with a [Conn], made by [Connect]. What it may do depends
// on the account it is in:
//
//	AGENTS    Request, Publish                on hooks.<event>.<tool>
//	CONTROL   Respond, Consume, Watch, and the Gateway itself
//
// An agent in Go makes its events with a [hook.Origin]; the examples show its
// loop, its sub-agents, and what it does without a verdict.
//
// An agent needs no code of this package: a request from any NATS client in
// AGENTS on hooks.pre_tool_use.bash, with a CloudEvent as body (structured
// JSON) or as headers and body (binary mode), is answered with the verdict as
// JSON; on the subject of a notification event, with a receipt. Its inbox
// prefix is _INBOX_<user>.
//
// # Who is heard
//
// The [Roster] is desired state in a KV bucket: who must be heard is what is
// written there, never who happens to listen. The gateway asks each decider
// whose entry matches on its own subject, decide.<name>.<event>.<tool>, with a
// fresh unguessable reply token, so that none can answer for another. Absence
// is instant to notice, asked for once more after a moment, and then counts as
// that decider's failure policy says.
//
// Deciders that may rewrite are asked first, one after another by priority,
// each seeing the input as the one before left it; then all others at the same
// time, on the final input. A deny ends the gather; whoever had not answered by
// then is recorded as late.
//
// # Order, delivery, deadlines
//
// Requests are handled concurrently and in no order. A verdict is delivered at
// most once and never without its audit record (see [GatewayOptions.Journal]).
// A notification is accepted once JetStream has it. Deadlines are absolute and
// travel with the event; the gateway answers before they pass.
//
// # Failure
//
// Whatever goes wrong with a gate event ends in deny, with the reason in the
// verdict; with a lifecycle event, in letting the agent go on. A malformed
// answer, an answer from somebody who may not give it, two different answers
// from one decider, silence, and a journal that cannot write are all such.
//
// # Slow subscribers
//
// A decider works on a bounded number of events at a time (see
// [RespondOptions]); more wait, and those whose deadline passes are not
// answered. While it works longer than a few seconds, Respond tells the
// gateway so; three missed beats count as a failure.
//
// # Testing
//
// Package bustest starts a real bus in a temporary directory. There is no
// in-memory bus and no mock of NATS.
package bus
