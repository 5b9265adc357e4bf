package hook

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"
	"time"
)

// Answer is one decider's part in a gather, as [Merge] takes it.
type Answer struct {
	Entry   Entry
	Outcome Outcome
	// Decision is the decider's own when Outcome is Answered, else ignored.
	Decision Decision
	// Err says what went wrong when Outcome is not Answered.
	Err string
	// Rewrote says that its rewrite was taken.
	Rewrote bool
	Elapsed time.Duration
}

// Merge makes one verdict of the answers to an event of class c. Only the
// strictest effect counts; fallback is the effect when all abstain. A fallback
// looser than Ask counts as Abstain, and one that does not exist as Deny.
//
// Merge is a pure function of the set: the order of answers does not matter,
// reasons and contexts come in roster order, each text once, and adding an answer never makes
// the effect of the others looser (the fallback is nobody's answer: it gives
// way to the first). A shadow answer is listed and never counts. A decider
// that did not answer counts as its failure policy says, and so does an allow
// from a decider that does not grant count as abstain.
func Merge(c Class, answers []Answer, fallback Effect) Verdict {
	ordered := append([]Answer(nil), answers...)
	slices.SortStableFunc(ordered, Answer.compare)

	var v Verdict
	effects := make([]Effect, len(ordered))
	for i, a := range ordered {
		effects[i] = a.effect(c)
		if !a.Entry.Shadow && effects[i] > v.Effect {
			v.Effect = effects[i]
		}
	}
	fellBack := v.Effect == Abstain && fallback >= Ask
	if fellBack {
		if fallback > Halt {
			fallback = Deny
		}
		v.Effect = fallback
	}
	var reasons, contexts []string
	for i, a := range ordered {
		reason := a.reason()
		v.Outcomes = append(v.Outcomes, DeciderOutcome{
			Decider: a.Entry.Name, Outcome: a.Outcome, Effect: effects[i], Reason: reason,
			Rules: a.rules(), Shadow: a.Entry.Shadow, Rewrote: a.Rewrote, ElapsedUS: a.Elapsed.Microseconds(),
		})
		if a.Entry.Shadow {
			continue
		}
		if effects[i] == v.Effect && effects[i] != Abstain && reason != "" && !slices.Contains(reasons, reason) {
			reasons = append(reasons, reason)
		}
		if a.Outcome == Answered && a.Decision.Context != "" && !slices.Contains(contexts, a.Decision.Context) {
			contexts = append(contexts, a.Decision.Context)
		}
	}
	if fellBack {
		reasons = append(reasons, "nobody had an opinion, and the default for this event is "+fallback.String())
	}
	if v.Effect >= Ask && len(reasons) == 0 {
		reasons = append(reasons, "no reason given")
	}
	v.Reason = strings.Join(reasons, "\n")
	v.Context = strings.Join(contexts, "\n")
	v.Grant = v.Effect == Allow
	return v
}

// effect is what the answer counts as; for a shadow entry, what it would have.
func (a Answer) effect(c Class) Effect {
	switch a.Outcome {
	case Answered:
		if a.Decision.Effect == Allow && !a.Entry.Grants {
			return Abstain
		}
		if a.Decision.Effect < Abstain || a.Decision.Effect > Halt {
			return Deny
		}
		return a.Decision.Effect
	case Late:
		return Abstain
	}
	return a.Entry.OnFailure.Effect(c)
}

func (a Answer) reason() string {
	switch a.Outcome {
	case Answered:
		return a.Decision.Reason
	case Late:
		return ""
	}
	s := "decider " + a.Entry.Name + " gave no usable answer (" + string(a.Outcome) + ")"
	if a.Err != "" {
		s += ": " + a.Err
	}
	return s
}

func (a Answer) rules() []string {
	if a.Outcome != Answered {
		return nil
	}
	return a.Decision.Rules
}

// compare orders answers by roster order, and then by all that can be seen in a
// verdict, so that the result does not depend on the order of arrival.
func (a Answer) compare(b Answer) int {
	return cmp.Or(
		cmp.Compare(b.Entry.Priority, a.Entry.Priority),
		cmp.Compare(a.Entry.Name, b.Entry.Name),
		cmp.Compare(a.Outcome, b.Outcome),
		cmp.Compare(a.Decision.Effect, b.Decision.Effect),
		cmp.Compare(a.Decision.Reason, b.Decision.Reason),
		cmp.Compare(a.Decision.Context, b.Decision.Context),
		slices.Compare(a.Decision.Rules, b.Decision.Rules),
		cmp.Compare(a.Err, b.Err),
		cmp.Compare(a.Entry.OnFailure, b.Entry.OnFailure),
		cmp.Compare(a.Elapsed, b.Elapsed),
		falseFirst(a.Entry.Shadow, b.Entry.Shadow),
		falseFirst(a.Entry.Grants, b.Entry.Grants),
		falseFirst(a.Rewrote, b.Rewrote),
	)
}

func falseFirst(a, b bool) int {
	switch {
	case a == b:
		return 0
	case b:
		return -1
	}
	return 1
}

// Digest is the SHA-256 of b in lower-case hex, as verdicts carry it.
func Digest(b []byte) string {
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}
