package protocol

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/grapnel-dev/grapnel/bus/hook"
	"github.com/grapnel-dev/grapnel/internal/edge/hookwire"
	"github.com/grapnel-dev/grapnel/internal/strictjson"
)

// Reply is a verdict that the agent can express on the event.
type Reply struct {
	// Event is what is answered.
	Event Event
	// Effect is Abstain (no opinion), Allow (skip the person's question), Ask,
	// Deny (block, carry on, or feedback, whichever the event has) or Halt.
	Effect hook.Effect
	// Reason is never empty with Ask, Deny and Halt.
	Reason string
	// Context is for the model; empty where the event takes none, and with Deny
	// and Halt, where it is part of the reason.
	Context string
	// Input is the tool's whole new input, a JSON object; only with Abstain and
	// Allow, where the event has Rewrite.
	Input json.RawMessage

	title   string
	granted bool // the verdict is an allow that grants
	notes   []string
}

// Note adds to what is said of the answer on record.
func (r *Reply) Note(format string, args ...any) {
	r.notes = append(r.notes, fmt.Sprintf(format, args...))
}

// Blocked reports whether it is to be kept from happening.
func (r *Reply) Blocked() bool { return r.Effect >= hook.Deny }

// Answer says a verdict in the words that the agent obeys on the event, the
// agent's own name or the canonical one.
func (a *Agent) Answer(event string, v hook.Verdict) Answer {
	row, known := a.Lookup(event)
	r := &Reply{Event: row, Effect: v.Effect, Reason: v.Reason, Context: v.Context, Input: v.Input, title: a.Title,
		granted: v.Effect == hook.Allow && v.Grant}
	if v.Effect < hook.Abstain || v.Effect > hook.Halt {
		r.stricter("the verdict's effect is unknown")
	}
	if r.Effect == hook.Allow && (!v.Grant || !row.Grant) {
		r.Effect = hook.Abstain
	}
	if !known {
		if r.Effect < hook.Ask {
			return Answer{Response: hookwire.Silent(a.Name, event)}
		}
		return Answer{
			Response: hookwire.Alone(a.Name, event, r.why()),
			Note:     "the event is not known, so the answer is the one that blocks in every agent tried",
		}
	}
	r.fitInput()
	r.fitEffect()
	r.fitContext()
	if row.SilenceAsks && r.Effect == hook.Abstain {
		r.Note("%s may take anything else on %s for a grant or a block, so the person is asked", a.Title, row.Name)
	}
	limit := a.MaxText
	if limit == 0 {
		limit = DefaultMaxText
	}
	r.Reason, r.Context = ClipText(r.Reason, limit), ClipText(r.Context, limit)
	return Answer{Response: a.Say(r), Note: strings.Join(r.notes, "; ")}
}

// AnswerTo says a verdict on an event that was read, as [Agent.Answer] does,
// and denies where the event's own input would show through a changed one.
func (a *Agent) AnswerTo(e hook.Event, v hook.Verdict) Answer {
	row, _ := a.Lookup(e.Data.Native.Event)
	if row.RewriteMerges && e.Data.Tool != nil && len(v.Input) > 0 && v.Effect < hook.Deny {
		if key, kept := keptKey(e.Data.Tool.Input, v.Input); kept {
			why := a.Title + " cannot take " + Quote(key) + " out of the input"
			answer := a.Answer(row.Name, hook.Verdict{Effect: hook.Deny, Reason: join(v.Reason, "grapnel denied this because "+why)})
			answer.Note = why + "; answered deny instead of " + v.Effect.String()
			return answer
		}
	}
	return a.Answer(e.Data.Native.Event, v)
}

// keptKey returns the first key of was that is not in now. What is no object
// has none.
func keptKey(was, now json.RawMessage) (string, bool) {
	var before, after map[string]json.RawMessage
	if strictjson.UnmarshalOpen(was, &before, 0) != nil || strictjson.UnmarshalOpen(now, &after, 0) != nil {
		return "", false
	}
	for _, key := range slices.Sorted(maps.Keys(before)) {
		if after[key] == nil {
			return key, true
		}
	}
	return "", false
}

// why is the reason, which is never empty.
func (r *Reply) why() string {
	if r.Reason == "" {
		return "grapnel was told to " + r.Effect.String() + " this and was given no reason"
	}
	return r.Reason
}

// stricter turns the verdict into a deny and says why.
func (r *Reply) stricter(why string) {
	r.Note("%s; answered deny instead of %s", why, r.Effect)
	if r.Effect < hook.Ask || r.Reason == "" {
		r.Reason = strings.TrimSpace(r.Reason + "\ngrapnel denied this because " + why)
	}
	r.Effect = hook.Deny
}

// fitInput sees to it that a changed input can be handed over.
func (r *Reply) fitInput() {
	if len(r.Input) == 0 {
		return
	}
	input := bytes.TrimLeft(r.Input, " \t\r\n")
	switch {
	case r.Event.Canonical.Class() == hook.Notify:
		r.Note("the input cannot be changed on %s: it has happened already", r.Event.Name)
	case r.Effect >= hook.Deny:
	case len(input) == 0 || input[0] != '{' || strictjson.Check(input, 0) != nil:
		r.stricter("the changed input is not a JSON object")
	case !r.Event.Rewrite:
		r.stricter(r.title + " cannot change the input on " + r.Event.Name)
	case r.Event.RewriteGrants && !r.granted:
		r.stricter(r.title + " takes a changed input only together with an allow, which nobody has the right to here")
	case r.Effect == hook.Ask && !r.Event.Ask: // becomes a deny
	default:
		return
	}
	r.Input = nil
}

// fitEffect brings the effect down to what can be done on the event.
func (r *Reply) fitEffect() {
	e := r.Event
	if r.Effect == hook.Ask && !e.Ask {
		switch {
		case e.Block || e.Continue:
			r.stricter(r.title + " cannot ask on " + e.Name)
		default:
			r.Effect = hook.Deny // told below
		}
	}
	if r.Effect == hook.Halt && !e.Halt {
		if e.Block || e.Continue {
			r.Note("%s does not end the session on %s; the action itself is denied", r.title, e.Name)
		}
		if e.Continue && !e.Block {
			// Carrying on is the opposite of what was wanted.
			r.Note("to be halted, it is let stop")
			r.Effect, r.Reason = hook.Abstain, ""
			return
		}
		r.Effect = hook.Deny
	}
	if r.Effect >= hook.Ask {
		r.Reason = r.why()
	}
	if r.Effect != hook.Deny || e.Block || e.Continue {
		return
	}
	switch {
	case e.Feedback:
		r.Note("it has happened already; the model is told the reason")
	case e.Context:
		r.Note("%s cannot block %s; the model is told the reason", r.title, e.Name)
		r.Effect, r.Context, r.Reason = hook.Abstain, join(r.Reason, r.Context), ""
	default:
		r.Note("%s takes no answer to %s, so %s changes nothing", r.title, e.Name, r.Effect)
		r.Effect, r.Reason = hook.Abstain, ""
	}
}

// fitContext puts the context where it is read.
func (r *Reply) fitContext() {
	switch {
	case r.Context == "":
	case r.Effect >= hook.Deny:
		r.Reason, r.Context = join(r.Reason, r.Context), ""
	case !r.Event.Context:
		r.Note("%s takes no context on %s", r.title, r.Event.Name)
		r.Context = ""
	}
}

func join(a, b string) string {
	if a == "" || b == "" {
		return a + b
	}
	return a + "\n\n" + b
}

// Refuse answers a call of which no event could be made. A gate is denied, all
// else passes, with why in the note. When the payload names another event than
// the registration and either is a gate, it is denied as by a hook program that
// is alone, in the language of the one that is; of two gates that are not
// the same nobody knows which it is.
func (a *Agent) Refuse(c Call, why error) Answer {
	reason := "grapnel refused this: " + why.Error()
	names := []string{c.Event}
	if f, _, err := Parse(c.Stdin, MaxWhole); err == nil {
		if native := a.native(f); native != "" && native != c.Event {
			names = append(names, native)
		}
	}
	gate, gates, language := false, map[hook.Name]bool{}, c.Event
	for _, name := range names {
		row, known := a.Lookup(name)
		if known && row.Canonical.Class() == hook.Gate {
			language = name
			gates[row.Canonical] = true
		}
		gate = gate || !known || row.Canonical.Class() == hook.Gate
	}
	if !gate {
		return Answer{Response: a.Answer(language, hook.Verdict{}).Response, Note: reason}
	}
	p := a.Answer(language, hook.Verdict{Effect: hook.Deny, Reason: reason})
	if _, known := a.Lookup(c.Event); len(names) > 1 && known {
		if len(gates) > 1 {
			language = ""
		}
		p.Response = hookwire.Alone(a.Name, language, reason)
	}
	p.Note = reason
	return p
}
