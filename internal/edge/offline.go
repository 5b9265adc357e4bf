package edge

import (
	"context"

	"github.com/grapnel-dev/grapnel/bus/hook"
)

// Offline is a [Bus] without a bus, for when no daemon runs. With a decider,
// which is the last signed policy bundle, it decides blocking events from that
// alone: its allow never skips the agent's own prompt, since nobody else was
// heard and nothing is on record. Without one, every request fails with an
// [OfflineError], which the edge makes answers of by event class.
type Offline struct {
	decider hook.Decider
	reason  string
}

// NewOffline returns a bus that decides from decider, which may be nil. Reason
// says why there is no daemon.
func NewOffline(decider hook.Decider, reason string) *Offline {
	return &Offline{decider: decider, reason: reason}
}

// OfflineError says that there is no bus, and what to do.
type OfflineError struct {
	// Reason says why there is none.
	Reason string
}

// Error is the text for people.
func (e *OfflineError) Error() string {
	return "grapnel is not running (" + e.Reason + "), so this was not run. Start it with `grapnel up`, then try again; `grapnel doctor` finds out what is wrong."
}

// offlineDecider is the decider's name in outcomes.
const offlineDecider = "policy-bundle"

// Request decides from the policy bundle, or fails with an [OfflineError].
func (o *Offline) Request(ctx context.Context, e hook.Event) (hook.Verdict, error) {
	if o.decider == nil {
		return hook.Verdict{}, &OfflineError{Reason: o.reason}
	}
	answer := hook.Answer{Entry: hook.Entry{Name: offlineDecider, Rewrites: true}, Outcome: hook.Answered}
	decision, err := o.decider.Decide(ctx, e)
	if err != nil {
		answer.Outcome, answer.Err = hook.Crashed, err.Error()
		if ctx.Err() != nil {
			answer.Outcome = hook.TimedOut
		}
	}
	answer.Decision = decision
	v := hook.Merge(e.Name.Class(), []hook.Answer{answer}, hook.Abstain)
	v.EventID = e.ID
	v.Note = "decided from the last signed policy bundle alone: " + o.reason
	if err == nil && len(decision.Rewrite) > 0 {
		v.Input = decision.Rewrite
	}
	return v, nil
}

// Publish fails with an [OfflineError]: there is nobody to notify.
func (o *Offline) Publish(context.Context, hook.Event) (hook.Receipt, error) {
	return hook.Receipt{}, &OfflineError{Reason: o.reason}
}
