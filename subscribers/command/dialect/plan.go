package dialect

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"

	"github.com/grapnel-dev/grapnel/bus/hook"
	"github.com/grapnel-dev/grapnel/runner/trust"
	"github.com/grapnel-dev/grapnel/subscribers/command"
)

// Plan says which hooks will run for an event, in which order, and which will
// not.
type Plan struct {
	// Call is the event in the dialect's words.
	Call *Call
	// Steps run.
	Steps []Step
	// Skipped do not.
	Skipped []Skip
}

// Step is one hook of a plan.
type Step struct {
	Hook Hook
	// Blocked says why the hook cannot run although it must: this is a failure
	// that is not gone on from.
	Blocked error

	measured *trust.Measurement // of hooks whose bytes were approved
}

func (s Step) close() {
	if s.measured != nil {
		_ = s.measured.Close()
	}
}

// Close gives up what the plan holds on to. [Set.Execute] does it.
func (p *Plan) Close() {
	for _, s := range p.Steps {
		s.close()
	}
}

// Skip is a hook that does not run, and why.
type Skip struct {
	Hook   Hook
	Reason string
}

// NotSelected is the Reason of hooks whose matcher does not select the call.
const NotSelected = "its matcher does not select it"

// Plan says what would be done about an event; false means that the dialect
// has no word for it. It reads configuration files that have changed, and
// compares hooks that need approval with what was approved. It runs nothing. The plan
// holds on to files until it is executed or closed.
func (s *Set) Plan(e hook.Event) (*Plan, bool) {
	c, ok := s.dialect.Call(e)
	if !ok {
		return nil, false
	}
	p := &Plan{Call: c}
	if c.Prompt = e.Data.Prompt; s.dialect.LastPrompt && c.Prompt == "" {
		c.Prompt = s.prompts.last(e.SessionID)
	}
	if c.Workspace != "" && !filepath.IsAbs(c.Workspace) {
		c.Workspace = ""
	}
	l := s.loader.load(c.Workspace)
	candidates := slices.Concat(l.events[c.Name], s.registry.forEvent(c.Name))
	for _, h := range candidates {
		reason, m, blocked := s.admit(h, c)
		switch {
		case reason != "":
			p.Skipped = append(p.Skipped, Skip{h, reason})
		default:
			p.Steps = append(p.Steps, Step{Hook: h, Blocked: blocked, measured: m})
		}
	}
	if s.dialect.Order != nil {
		slices.SortStableFunc(p.Steps, func(a, b Step) int { return s.dialect.Order(a.Hook, b.Hook) })
	}
	if s.dialect.Distinct {
		p.distinct()
	}
	p.arrange()
	return p, true
}

// admit decides whether a hook runs for a call. What costs least is asked
// first, and nothing that a workspace wrote is evaluated before it is trusted.
func (s *Set) admit(h Hook, c *Call) (reason string, m *trust.Measurement, blocked error) {
	agent := c.Event.Data.Native.Agent
	switch {
	case h.Disabled:
		return "it is disabled", nil, nil
	case h.Origin.Own && agent != "" && agent == s.dialect.Agent:
		return "it stands in " + agent + "'s own file, which runs it itself", nil, nil
	case h.Origin.Own && s.o.SkipOwn:
		return "another dialect that is switched on reads it too", nil, nil
	case s.dialect.SkipSubagents && !s.o.Subagents && c.Event.Data.Subagent != nil && c.Event.Name != hook.SubagentStart && c.Event.Name != hook.SubagentStop:
		return "the event is a sub-agent's", nil, nil
	}
	reason, m, blocked = s.approved(h, c)
	if reason != "" {
		return reason, nil, nil
	}
	defer func() {
		if reason != "" && m != nil {
			m = s.release(m)
		}
	}()
	if h.Matches != nil && !h.Matches(c) {
		return NotSelected, m, nil
	}
	if h.When != "" && blocked == nil {
		holds, err := s.conditions.holds(h.When, c.Event)
		switch {
		case err != nil:
			s.o.Log.Warn("dialect: a hook's condition cannot be evaluated, it runs", "hook", h.Label(), "error", err)
		case !holds:
			return "its condition does not hold: " + h.When, m, nil
		}
	}
	if blocked == nil {
		blocked = circular(h, c.Event)
	}
	if blocked == nil && !s.budget.take(h.ID(), c.Event.SessionID) {
		blocked = fmt.Errorf("%w: hook %s ran %d times for this session within a minute", command.ErrCircular, h.Label(), s.o.Budget)
	}
	if blocked == nil && h.Once && !s.once.first(h.ID()+"\x00"+c.Event.SessionID) {
		return "it ran once in this session", m, nil
	}
	return "", m, blocked
}

func (s *Set) trusted(workspace string) bool {
	return workspace != "" && s.o.TrustWorkspace != nil && s.o.TrustWorkspace(workspace)
}

// distinct leaves one of hooks that are configured the same: the person's own
// before somebody else's, which may say less.
func (p *Plan) distinct() {
	best := make(map[string]int)
	keys := make([]string, len(p.Steps))
	for i, step := range p.Steps {
		h := step.Hook
		// All that could make a difference, but for what it is called, where it
		// stands and when it matches.
		keys[i] = fmt.Sprintf("%q", []any{
			h.Type, h.Text(), h.Command, h.Timeout, h.Dir, h.Env, h.Headers, h.AllowedEnv, h.Model, h.Once, h.If, h.When, h.After,
			h.Async, h.Cache, h.Files, h.Sandbox, h.OnFailure, h.Origin.Base,
		})
		if had, ok := best[keys[i]]; !ok || h.Origin.Source.Loosens() && !p.Steps[had].Hook.Origin.Source.Loosens() {
			best[keys[i]] = i
		}
	}
	kept := p.Steps[:0:0]
	for i, step := range p.Steps {
		if best[keys[i]] == i {
			kept = append(kept, step)
			continue
		}
		p.Skipped = append(p.Skipped, Skip{step.Hook, "the same hook is configured twice and runs once"})
		step.close()
	}
	p.Steps = kept
}

// arrange puts hooks behind those that they come after, and leaves the order
// alone otherwise. Hooks that wait for each other are blocked.
func (p *Plan) arrange() {
	if !slices.ContainsFunc(p.Steps, func(s Step) bool { return len(s.Hook.After) > 0 }) {
		return
	}
	place := make(map[string]bool)
	present := make(map[string]bool)
	for _, s := range p.Steps {
		present[s.Hook.Name] = true
	}
	rest, ordered := p.Steps, make([]Step, 0, len(p.Steps))
	for len(rest) > 0 {
		i := slices.IndexFunc(rest, func(s Step) bool {
			return !slices.ContainsFunc(s.Hook.After, func(name string) bool { return present[name] && !place[name] })
		})
		if i < 0 {
			for _, s := range rest {
				s.Blocked = errors.Join(s.Blocked, fmt.Errorf("%w: hook %s waits for %v, which wait for it", ErrConfig, s.Hook.Label(), s.Hook.After))
				ordered = append(ordered, s)
			}
			break
		}
		place[rest[i].Hook.Name] = true
		ordered = append(ordered, rest[i])
		rest = slices.Delete(slices.Clone(rest), i, i+1)
	}
	p.Steps = ordered
}

// loosens reports whether a hook's allow may count.
func loosens(source trust.Source) bool { return source.Loosens() }
