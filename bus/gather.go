package bus

import (
	"context"
	"time"

	"github.com/grapnel-dev/grapnel/bus/hook"
)

// missedBeats is how many beats in a row a working decider may miss.
const missedBeats = 3

// retryAfter is how long the gateway waits before it asks once more somebody
// whom nobody answered for: a decider that is just joining is not absent.
const retryAfter = 30 * time.Millisecond

// question is one decider's place in a gather.
type question struct {
	entry hook.Entry
	// ask sends the question, again when called again.
	ask func() error
}

// reply is what came back on one question's token.
type reply struct {
	question int
	kind     replyKind
	decision hook.Decision
	err      string
	body     string // the bytes of an answer, to tell a repeat from a change of mind
}

type replyKind int

const (
	replyDecision replyKind = iota
	replyAbsent
	replyWorking
	replyCrashed
	replyMalformed
	replyForbidden
)

// waiting is the state of one question.
type waiting struct {
	done     bool
	retried  bool
	silentAt time.Time // when its silence becomes a failure
	retryAt  time.Time // when to ask again, zero if not
	body     string
}

// gather asks all questions and waits for every answer, for the failure of
// every decider that gave none, or for a deny that makes waiting pointless. It
// is a pure function of its channels and of time.
//
// ctx carries the deadline of the whole; its end by another cause, or down
// being closed or sent to, means that the bus went away. The answers come in
// the order of the questions.
func gather(ctx context.Context, class hook.Class, questions []question, replies <-chan reply, down <-chan error) []hook.Answer {
	start := time.Now()
	answers := make([]hook.Answer, len(questions))
	states := make([]waiting, len(questions))
	pending := 0
	deadline, _ := ctx.Deadline()
	finish := func(i int, outcome hook.Outcome, why string) {
		if states[i].done {
			return
		}
		states[i].done = true
		pending--
		answers[i].Outcome, answers[i].Err, answers[i].Elapsed = outcome, why, time.Since(start)
	}
	for i, q := range questions {
		answers[i].Entry = q.entry
		pending++
		states[i].silentAt = deadline
		if q.entry.Timeout > 0 {
			states[i].silentAt = earlier(deadline, start.Add(time.Duration(q.entry.Timeout)))
		}
		if err := q.ask(); err != nil {
			finish(i, hook.Disconnected, err.Error())
		}
	}

	timer := time.NewTimer(0)
	defer timer.Stop()
	for pending > 0 {
		if denied(class, answers, states) {
			for i := range questions {
				finish(i, hook.Late, "")
			}
			break
		}
		timer.Reset(time.Until(nextWake(states)))
		select {
		case r := <-replies:
			receive(&answers[r.question], &states[r.question], r, deadline, finish)
		case <-timer.C:
			now := time.Now()
			for i := range states {
				switch s := &states[i]; {
				case s.done:
				case !s.silentAt.IsZero() && !now.Before(s.silentAt):
					finish(i, hook.TimedOut, "no answer within "+now.Sub(start).Round(time.Millisecond).String())
				case !s.retryAt.IsZero() && !now.Before(s.retryAt):
					s.retryAt = time.Time{}
					if err := questions[i].ask(); err != nil {
						finish(i, hook.Disconnected, err.Error())
					}
				}
			}
		case err := <-down:
			why := ErrDisconnected.Error()
			if err != nil {
				why = err.Error()
			}
			for i := range states {
				finish(i, hook.Disconnected, why)
			}
		case <-ctx.Done():
			outcome, why := hook.TimedOut, "no answer before the event's deadline"
			if ctx.Err() != context.DeadlineExceeded {
				outcome, why = hook.Disconnected, "the gateway is stopping"
			}
			for i := range states {
				finish(i, outcome, why)
			}
		}
	}
	return answers
}

func receive(a *hook.Answer, s *waiting, r reply, deadline time.Time, finish func(int, hook.Outcome, string)) {
	if s.done {
		// Two answers that differ: whoever sent the second may be anybody
		// who got hold of the token, so neither counts.
		if a.Outcome == hook.Answered && r.kind == replyDecision && r.body != s.body {
			a.Decision = hook.Decision{Effect: hook.Deny, Reason: "decider " + a.Entry.Name + " gave two different answers to one question"}
		}
		return
	}
	switch r.kind {
	case replyDecision:
		s.body = r.body
		if !a.Entry.Rewrites && r.decision.Rewrite != nil {
			finish(r.question, hook.Forbidden, "it may not rewrite the input")
			return
		}
		a.Decision = r.decision
		finish(r.question, hook.Answered, "")
	case replyAbsent:
		if !s.retried {
			s.retried = true
			s.retryAt = time.Now().Add(retryAfter)
			return
		}
		finish(r.question, hook.Absent, "nobody listens on its subject")
	case replyWorking:
		s.silentAt = earlier(deadline, time.Now().Add(missedBeats*BeatInterval))
	case replyCrashed:
		finish(r.question, hook.Crashed, r.err)
	case replyForbidden:
		finish(r.question, hook.Forbidden, r.err)
	default:
		finish(r.question, hook.Malformed, r.err)
	}
}

// denied reports whether the verdict can only be a deny whatever else comes.
// A halt may still follow a deny; the strictest that is known by then counts.
func denied(class hook.Class, answers []hook.Answer, states []waiting) bool {
	blocked := false
	for i, s := range states {
		if !s.done && answers[i].Entry.WaitAll {
			return false
		}
		if s.done && !answers[i].Entry.Shadow && counts(class, answers[i]).Blocks() {
			blocked = true
		}
	}
	return blocked
}

func counts(class hook.Class, a hook.Answer) hook.Effect {
	if a.Outcome == hook.Answered {
		return a.Decision.Effect
	}
	return a.Entry.OnFailure.Effect(class)
}

func earlier(a, b time.Time) time.Time {
	if a.IsZero() || b.Before(a) {
		return b
	}
	return a
}

// nextWake is the next moment at which something changes without a reply.
func nextWake(states []waiting) time.Time {
	next := time.Now().Add(time.Hour)
	for _, s := range states {
		if s.done {
			continue
		}
		if !s.silentAt.IsZero() && s.silentAt.Before(next) {
			next = s.silentAt
		}
		if !s.retryAt.IsZero() && s.retryAt.Before(next) {
			next = s.retryAt
		}
	}
	return next
}
