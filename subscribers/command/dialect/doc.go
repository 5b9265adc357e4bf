// Package dialect runs the hooks of any hook dialect: what the dialects share,
// written once.
//
// A hook dialect is how hook commands are configured, fed and read. Each one is
// a package below subscribers/command that fills in a [Dialect]: the files it
// is configured in, the names it has for events and tools, how a hook is given
// an event, how its answer is read, and how several answers become one. This
// package does the rest. A further dialect is one such package, and one line in
// the table of whoever hosts it.
//
// # From an event to a decision
//
// A [Set] is the hooks of one dialect on one machine; it is a [hook.Decider]
// and a [hook.Handler]. For each event it
//
//  1. translates the event into the dialect's words ([Vocabulary], [Call]); an
//     event for which the dialect has no name is none of its business;
//  2. takes the hooks that its files hold now, for the event's workspace, and
//     those that were registered ([Set.Register]);
//  3. leaves out what may not run, does not match, or whose condition does not
//     hold, and says why ([Set.Plan]);
//  4. runs the others, one after another or all at once, as the dialect says,
//     with each one's time-out;
//  5. merges the answers by the dialect's rules into one decision.
//
// # What a failure counts as
//
// Most dialects go on when a hook fails: that is their documents' word, and the
// decision then is an abstention whose reason says what failed. Where the
// configuration says on_failure: deny or ask, for the dialect or for one hook,
// that counts instead. Some failures never count as going on, because somebody
// could bring them about to get past a hook: a hook that cannot be given the
// event in full ([ErrFeed]), whose bytes are not those that were approved
// ([ErrChanged]), whose sandbox cannot be had, or that would run because of
// itself ([command.ErrCircular]). They are errors of [Set.Decide], for which the
// gateway denies on gates.
//
// # Sources and trust
//
// What a hook may do goes by where its definition comes from, see
// [trust.Source]. Hooks of a workspace, a download or an extension run only
// once they are approved, and what they answer can only tighten: their allow is
// no allow.
//
// # What every dialect gets
//
// These keys may stand beside a hook's own in every dialect:
//
//	name        what to call it
//	when        a CEL expression over the event; the hook runs where it holds
//	after       names of hooks that must have run, and not failed, before it
//	async       true: it is started and not waited for; it decides nothing
//	cache       a duration: the hook is pure, and its answer to the same input
//	            is used again for that long
//	files       files that belong to it and that its approval covers
//	sandbox     see [process.Sandbox]
//	on_failure  deny, ask or abstain
//	version     for people
//
// # Loops
//
// What a hook causes carries the hook's mark ([hook.AncestryExtension]) and a hop count. A
// hook does not run for an event that it caused itself, nor for one that more
// than [hook.MaxHops] hooks led to, nor more often than its budget ([Options.Budget])
// in a minute of one session.
//
// # Concurrency
//
// All methods of a [Set] may be called concurrently.
package dialect
