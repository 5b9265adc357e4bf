package hook

import "fmt"

// FailurePolicy is what counts when a decider does not answer as it should.
// The zero value means "by the event's class" (see [FailurePolicy.Effect]).
type FailurePolicy string

// The failure policies. There is none that allows.
const (
	FailDefault FailurePolicy = ""
	FailDeny    FailurePolicy = "deny"
	FailAsk     FailurePolicy = "ask"
	FailAbstain FailurePolicy = "abstain"
)

// Effect returns what the failure of a decider counts as for an event of
// class c: deny for gates and abstain for the rest, unless the policy says
// otherwise. A value that is none of the constants counts as deny.
func (p FailurePolicy) Effect(c Class) Effect {
	switch p {
	case FailDefault:
		if c == Gate {
			return Deny
		}
		return Abstain
	case FailAsk:
		return Ask
	case FailAbstain:
		return Abstain
	}
	return Deny
}

// UnmarshalText accepts the constants alone.
func (p *FailurePolicy) UnmarshalText(text []byte) error {
	switch v := FailurePolicy(text); v {
	case FailDefault, FailDeny, FailAsk, FailAbstain:
		*p = v
		return nil
	}
	return fmt.Errorf("hook: unknown failure policy %q; it is one of deny, ask, abstain", clip(string(text), 40))
}

// Outcome says how one decider's part in a gather ended.
type Outcome string

// The outcomes. Only Answered carries a decision of the decider's own; for all
// others its failure policy counts, but for Late: the verdict was already
// final when the answer came, or would have come.
const (
	Answered     Outcome = "answered"
	Absent       Outcome = "absent"       // nobody listens on its subject
	TimedOut     Outcome = "timeout"      // listened, did not answer in time
	Malformed    Outcome = "malformed"    // answered something that is no decision
	Late         Outcome = "late"         // not needed any more: a deny had ended the gather
	Disconnected Outcome = "disconnected" // the bus went away while waiting
	Crashed      Outcome = "crashed"      // reported its own failure
	Forbidden    Outcome = "forbidden"    // answered what its roster entry does not permit
)
