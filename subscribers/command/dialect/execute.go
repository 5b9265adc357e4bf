package dialect

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/grapnel-dev/grapnel/bus/hook"
	"github.com/grapnel-dev/grapnel/subscribers/command"
)

// Result is what became of one hook.
type Result struct {
	Hook Hook
	// Answer is what it said; meaningless where Err is set.
	Answer Answer
	// Err is its failure.
	Err error
	// Skipped says why it did not run after all: another one ended the chain,
	// or one that it comes after failed.
	Skipped string
	// Report is everything about the run.
	Report command.Report

	background bool // it runs on, and gives up what its step holds on to
}

// Summary is what became of an event.
type Summary struct {
	// Plan is what was to be done.
	Plan *Plan
	// Results are in the order of the plan. Hooks that run in the background
	// are among them without an answer.
	Results []Result
	// Decision is what all of them say together, and Err the failure that must
	// not be gone on from.
	Decision hook.Decision
	Err      error
}

// Execute runs the hooks of a plan.
func (s *Set) Execute(ctx context.Context, p *Plan) Summary {
	sum := Summary{Plan: p}
	defer func() {
		for i, step := range p.Steps {
			if i >= len(sum.Results) || !sum.Results[i].background {
				step.close()
			}
		}
	}()
	if len(p.Steps) == 0 {
		return sum
	}
	for attempt := 0; ; attempt++ {
		sum.Results = s.round(ctx, p, sum.Results)
		merged, err := s.conclude(p.Call, sum.Results)
		if merged.Retry && attempt < s.retries(sum.Results) && ctx.Err() == nil {
			continue
		}
		sum.Decision, sum.Err = s.decision(p.Call, merged, err)
		return sum
	}
}

// round runs each hook of a plan once, but for those that an earlier round
// has left running.
func (s *Set) round(ctx context.Context, p *Plan, before []Result) []Result {
	results := make([]Result, len(p.Steps))
	for i, r := range before {
		if r.background {
			results[i] = r
		}
	}
	if s.dialect.Parallel {
		s.together(ctx, p, results)
	} else {
		s.chain(ctx, p, results)
	}
	return results
}

// retries is how often hooks run again: as often as the most patient of those
// that ask for it.
func (s *Set) retries(results []Result) int {
	most := 0
	for _, r := range results {
		switch {
		case !r.Answer.Retry:
		case r.Hook.Retries != nil:
			most = max(most, min(*r.Hook.Retries, maxRetries))
		default:
			most = max(most, s.dialect.Retries)
		}
	}
	return most
}

// maxRetries bounds what a configuration may ask for.
const maxRetries = 100

// chain runs hooks one after another, neighbours that are parallel together.
func (s *Set) chain(ctx context.Context, p *Plan, results []Result) {
	call, ended := p.Call, ""
	for start, end := 0, 0; start < len(p.Steps); start = end {
		end = start + 1
		if p.Steps[start].Hook.Parallel {
			for end < len(p.Steps) && p.Steps[end].Hook.Parallel && !dependsOn(p.Steps[end].Hook, p.Steps[start:end]) {
				end++
			}
		}
		s.several(ctx, p, results, start, end, call, ended)
		for i := start; i < end; i++ {
			r := results[i]
			if r.Err != nil || r.Skipped != "" {
				continue
			}
			if r.Answer.End && !r.Hook.KeepGoing {
				ended = "hook " + r.Hook.Label() + " ended the chain"
			}
			if r.Answer.Data != nil {
				next := *call
				next.Data = joined(call.Data, r.Answer.Data)
				call = &next
			}
		}
	}
}

// together runs hooks at the same time, but for those that come after others.
func (s *Set) together(ctx context.Context, p *Plan, results []Result) {
	for start, end := 0, 0; start < len(p.Steps); start = end {
		end = start + 1
		for end < len(p.Steps) && !dependsOn(p.Steps[end].Hook, p.Steps[start:end]) {
			end++
		}
		s.several(ctx, p, results, start, end, p.Call, "")
	}
}

// several runs the steps from start to end at the same time; ended says why
// they do not run after all.
func (s *Set) several(ctx context.Context, p *Plan, results []Result, start, end int, call *Call, ended string) {
	var all sync.WaitGroup
	for i := start; i < end; i++ {
		step := p.Steps[i]
		if results[i].background {
			continue
		}
		results[i].Hook, results[i].Skipped = step.Hook, ended
		if ended == "" {
			results[i].Skipped = unmet(step, results[:start])
		}
		switch {
		case results[i].Skipped != "":
		case end == start+1:
			results[i] = s.hook(ctx, step, call)
		default:
			all.Go(func() { results[i] = s.hook(ctx, step, call) })
		}
	}
	all.Wait()
}

func dependsOn(h Hook, others []Step) bool {
	return slices.ContainsFunc(others, func(o Step) bool { return o.Hook.Name != "" && slices.Contains(h.After, o.Hook.Name) })
}

// unmet names a hook that had to succeed before and did not, or is not there.
func unmet(s Step, before []Result) string {
	if s.Blocked != nil {
		return "" // a failure of its own
	}
	for _, name := range s.Hook.After {
		i := slices.IndexFunc(before, func(r Result) bool { return r.Hook.Name == name })
		switch {
		case i < 0:
			return fmt.Sprintf("it comes after %q, which does not run for this event", name)
		case before[i].Err != nil || before[i].Skipped != "":
			return fmt.Sprintf("it comes after %q, which did not succeed", name)
		}
	}
	return ""
}

// conclude merges what hooks said. A failure counts as its policy says.
func (s *Set) conclude(c *Call, results []Result) (Answer, error) {
	var answers []Answer
	var fatal error
	for _, r := range results {
		switch {
		case r.Skipped != "" || r.Hook.Async:
			continue
		case r.Err == nil:
			a := r.Answer
			if a.Effect == hook.Allow && !loosens(r.Hook.Origin.Source) {
				a.Effect = hook.Abstain // it can only tighten
			}
			if !loosens(r.Hook.Origin.Source) && (a.Rewrite != nil || a.Patch != nil) && !s.trusted(r.Hook.Origin.Workspace) {
				a.Rewrite, a.Patch = nil, nil
				a.Warning = Lines(a.Warning, "hook "+r.Hook.Label()+" changes the tool's input, which hooks from "+string(r.Hook.Origin.Source)+" may not")
			}
			answers = append(answers, a)
		case !goesOn(r.Err), s.dialect.Strict && c.Event.Name.Blocking() && s.onFailure(r.Hook) == hook.FailDefault:
			fatal = errors.Join(fatal, r.Err)
		default:
			policy := s.onFailure(r.Hook)
			a := Answer{Warning: r.Err.Error()}
			if policy != hook.FailDefault {
				a.Effect, a.Reason = policy.Effect(c.Event.Name.Class()), r.Err.Error()
			}
			answers = append(answers, a)
		}
	}
	merge := s.dialect.Merge
	if merge == nil {
		merge = Strictest
	}
	return merge(c, answers), fatal
}

// decision says the merged answer in the bus's words.
func (s *Set) decision(c *Call, a Answer, fatal error) (hook.Decision, error) {
	if !c.Blocks && a.Effect > hook.Allow {
		a.Warning = Lines(a.Warning, "hooks cannot block "+c.Name+" in this dialect; one wanted to: "+a.Reason)
		a.Effect, a.Reason = hook.Abstain, ""
	}
	if fatal != nil && a.Effect < hook.Deny {
		return hook.Decision{}, fatal
	}
	d := hook.Decision{Effect: a.Effect, Reason: a.Reason, Context: Lines(a.Message, a.Context)}
	if d.Effect == hook.Abstain || d.Effect == hook.Allow {
		d.Reason = Lines(d.Reason, a.Warning)
	} else if d.Reason == "" {
		d.Reason = "a " + s.dialect.Name + " hook says " + d.Effect.String() + " and gave no reason"
	}
	if d.Effect >= hook.Deny || c.Event.Data.Tool == nil {
		return d, nil
	}
	rewrite := a.Rewrite
	if a.Patch != nil {
		base := rewrite
		if base == nil {
			base = c.Input
		}
		var err error
		if rewrite, err = patched(base, a.Patch); err != nil {
			return hook.Decision{}, err
		}
	}
	if rewrite == nil || bytes.Equal(bytes.TrimSpace(rewrite), []byte("null")) {
		return d, nil
	}
	if !s.rewrites {
		return hook.Decision{}, fmt.Errorf("%w: hooks of %s may not", ErrRewrite, s.dialect.Name)
	}
	var err error
	if d.Rewrite, err = c.view.back(rewrite); err != nil {
		return hook.Decision{}, err
	}
	if bytes.Equal(d.Rewrite, c.Event.Data.Tool.Input) {
		d.Rewrite = nil // nothing was changed
	}
	return d, nil
}

// joined merges the data that hooks pass on; the later ones win.
func joined(before, more json.RawMessage) json.RawMessage {
	if before == nil {
		return more
	}
	if b, err := patched(before, more); err == nil {
		return b
	}
	return more
}
