// Package protocol is what the agents' protocols have in common, written once.
//
// A protocol is a package of its own under internal/edge, named after the
// agent. Most of it is data, an [Agent]: its events with what a hook can do on
// each ([Event]), the names of its payload's fields ([Keys]), and two
// functions, one that reads what is peculiar to it and one that says a [Reply]
// in its words. This package does the rest.
//
// # Reading
//
// [Agent.Event] makes a canonical event of a [Call]. Payloads are read
// strictly: one JSON object, no duplicate keys at any depth, bounded in size and
// depth. The event's name is what the hook is registered for, since not every
// payload names it; a payload that names another one is refused. The payload
// itself stays in the event byte for byte, so that nothing is lost.
//
// The event's id is a digest over agent, session, event, call and input. A call
// that reaches us twice, because the hook is registered twice, is two events of
// one id, on which the bus decides once. Where a payload says nothing that
// tells one call from another (no call id and no time), each is an event of its
// own.
//
// # Answering
//
// [Agent.Answer] brings a verdict down to what the agent can do on the event
// and hands it over as a Reply. What cannot be expressed is said more strictly,
// never more loosely, and [Answer.Note] tells what:
//
//   - an allow is said only where the verdict grants and the agent's allow skips
//     the person's question; everywhere else it is no opinion;
//   - no opinion is an ask where anything else may be taken for a grant;
//   - an ask where the agent cannot ask is a deny;
//   - a changed input where it cannot be changed is a deny;
//   - a halt where nothing ends the session is a deny;
//   - a deny of what has happened already is feedback to the model, where the
//     agent takes any;
//   - texts are cut where the agent would cut them.
//
// [Agent.Refuse] answers a call of which no event could be made: a gate is
// denied, all else passes.
//
// # Concurrency and retention
//
// An Agent does not change and may be used from many goroutines. An event
// aliases the call's stdin.
package protocol
