package policy

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"github.com/grapnel-dev/grapnel/bus/hook"
)

// errNoData says that an event's data did not travel with it.
var errNoData = errors.New("policy: the event's data is in an object store and was not fetched; a decision needs it")

// outcome is what became of one rule.
type outcome struct {
	matched bool
	effect  hook.Effect // what it counts as
	err     error
	note    string // why a rule that holds does not count
}

func (p *Policy) decide(ctx context.Context, ev hook.Event) (d hook.Decision, err error) {
	defer func() {
		if r := recover(); r != nil {
			p.options.Log.ErrorContext(ctx, "policy: internal error", slog.Any("panic", r), slog.String("event_id", ev.ID))
			d, err = hook.Decision{}, fmt.Errorf("policy: internal error: %v", r)
		}
	}()
	d, err = p.pass(ctx, ev)
	if err != nil || d.Rewrite == nil || ev.Data.Tool == nil {
		return d, err
	}
	// What runs in the end has to pass too.
	tool := *ev.Data.Tool
	tool.Input = d.Rewrite
	ev.Data.Tool, ev.Raw = &tool, nil
	again, err := p.pass(ctx, ev)
	switch {
	case err != nil:
		return hook.Decision{}, err
	case again.Effect > hook.Allow:
		again.Rewrite = nil
		again.Reason = "after a rewrite by " + strings.Join(d.Rules, ", ") + ": " + again.Reason
		return again, nil
	case again.Rewrite != nil && !sameJSON(again.Rewrite, d.Rewrite):
		return hook.Decision{Effect: hook.Deny, Rules: again.Rules,
			Reason: "the rewrite by " + strings.Join(again.Rules, ", ") + " changes its own result again; make it a rewrite that can run twice"}, nil
	}
	return d, nil
}

// pass evaluates the rules on one form of the event. A machine that does other
// things can stand still for longer than the time limit, so what ran out of time
// gets one more try with four times as much.
func (p *Policy) pass(ctx context.Context, ev hook.Event) (hook.Decision, error) {
	f, err := p.facts(ev)
	if err != nil {
		return hook.Decision{}, err
	}
	m, late, err := p.evaluate(ctx, f, p.options.TimeLimit)
	if late && err == nil {
		m, _, err = p.evaluate(ctx, f, 4*p.options.TimeLimit)
	}
	if err != nil {
		return hook.Decision{}, err
	}
	return m.decision()
}

// evaluate runs the rules within a time limit, and reports whether it was over
// before they were done. The error is that of the caller's context.
func (p *Policy) evaluate(caller context.Context, f *facts, limit time.Duration) (m *merger, late bool, err error) {
	ctx, cancel := context.WithTimeoutCause(caller, limit, timeOver(limit))
	defer cancel()
	selected := p.selected(f.event)
	m = &merger{best: hook.Abstain}
	for _, r := range p.rules {
		// Rules come strictest first: a looser one cannot change the effect.
		if r.effect < m.best && m.best > hook.Allow {
			break
		}
		if !r.on(selected) {
			continue
		}
		o := p.try(ctx, r, f)
		if caller.Err() != nil {
			return nil, false, context.Cause(caller)
		}
		if o.err != nil && ctx.Err() != nil {
			late = true
		}
		m.add(ctx, p, r, o, f)
	}
	return m, late, nil
}

func (p *Policy) facts(ev hook.Event) (*facts, error) {
	if ev.DataRef != "" && ev.Data.Tool == nil && ev.Data.Prompt == "" {
		return nil, errNoData
	}
	f, err := newFacts(p.env, ev, p.options)
	if err == nil {
		f.long = p.long
	}
	return f, err
}

// selected says which patterns the event matches.
func (p *Policy) selected(ev hook.Event) []bool {
	subject := ev.Subject
	if subject == "" && ev.Data.Tool != nil {
		subject = ev.Data.Tool.Name
	}
	out := make([]bool, len(p.patterns))
	for i, pattern := range p.patterns {
		out[i] = pattern.Match(ev.Name, subject)
	}
	return out
}

func (r *rule) on(selected []bool) bool {
	if len(r.patterns) == 0 {
		return true
	}
	for _, i := range r.patterns {
		if selected[i] {
			return true
		}
	}
	return false
}

// try evaluates one rule. A rule that cannot be evaluated counts on the side of
// care: deny for deny and halt, ask for ask, no match for the rest.
func (p *Policy) try(ctx context.Context, r *rule, f *facts) outcome {
	o := outcome{effect: r.effect}
	if r.when != nil {
		holds, err := r.when.holds(ctx, f)
		if err != nil {
			o.err = err
			switch r.effect {
			case hook.Deny, hook.Halt:
				o.matched, o.effect = true, hook.Deny
			case hook.Ask:
				o.matched = true
			default:
				o.note = "it could not be evaluated, so it does not count"
			}
			return o
		}
		if !holds {
			return o
		}
	}
	if r.effect == hook.Allow && f.opaque() {
		o.note = "it holds, but the event is not understood whole, and what is not understood is never allowed"
		return o
	}
	o.matched = true
	return o
}

// merger collects the rules that count.
type merger struct {
	best     hook.Effect
	rules    []string
	reasons  []string
	contexts []string
	rewrite  json.RawMessage
	by       []string // rules that rewrote
	clash    bool
}

func (m *merger) add(ctx context.Context, p *Policy, r *rule, o outcome, f *facts) {
	if !o.matched {
		return
	}
	if o.effect > m.best {
		m.best, m.rules, m.reasons = o.effect, nil, nil
	}
	if r.context != "" && o.err == nil {
		m.contexts = append(m.contexts, r.context)
	}
	if o.err == nil && (r.rewrite != nil || r.static != nil) {
		input, err := r.input(ctx, f)
		if err != nil {
			p.options.Log.WarnContext(ctx, "policy: a rewrite failed", slog.String("rule", r.name), slog.Any("error", err))
			o.err = fmt.Errorf("its rewrite failed: %w", err)
			m.best, m.rules, m.reasons = max(m.best, hook.Deny), nil, nil
			o.effect = hook.Deny
		} else {
			m.clash = m.clash || m.rewrite != nil && !sameJSON(m.rewrite, input)
			m.rewrite = input
			m.by = append(m.by, r.name)
		}
	}
	if o.effect < m.best {
		return
	}
	m.rules = append(m.rules, r.name)
	reason := r.reason
	if o.err != nil {
		reason = fmt.Sprintf("rule %s could not be evaluated (%s), which counts as %s", r.name, firstLine(o.err.Error()), o.effect)
		p.options.Log.WarnContext(ctx, "policy: a rule could not be evaluated", slog.String("rule", r.name), slog.Any("error", o.err))
	}
	if reason != "" && len(m.reasons) < 5 {
		m.reasons = append(m.reasons, reason)
	}
}

func (m *merger) decision() (hook.Decision, error) {
	d := hook.Decision{Effect: m.best, Rules: m.rules, Reason: joined(m.reasons, " "), Context: joined(m.contexts, "\n")}
	if m.best > hook.Allow {
		return d, nil
	}
	if m.clash {
		return hook.Decision{Effect: hook.Deny, Rules: m.by,
			Reason: "the rules " + strings.Join(m.by, " and ") + " rewrite the same input in different ways; make one of them not match"}, nil
	}
	d.Rewrite = m.rewrite
	if m.rewrite != nil && len(d.Rules) == 0 {
		d.Rules = m.by
	}
	return d, nil
}

// joined joins texts, each once.
func joined(texts []string, by string) string {
	var out []string
	seen := map[string]bool{}
	for _, t := range texts {
		if t = strings.TrimSpace(t); !seen[t] {
			seen[t] = true
			out = append(out, t)
		}
	}
	return strings.Join(out, by)
}

func sameJSON(a, b json.RawMessage) bool {
	if bytes.Equal(a, b) {
		return true
	}
	var x, y bytes.Buffer
	return json.Compact(&x, a) == nil && json.Compact(&y, b) == nil && bytes.Equal(x.Bytes(), y.Bytes())
}
