package policy

import (
	"context"

	"cel.dev/cel-go/common/types"

	"github.com/grapnel-dev/grapnel/bus/hook"
)

// WithoutShortcuts is the policy, evaluated by CEL alone.
func WithoutShortcuts(p *Policy) *Policy {
	q := *p
	q.long = true
	return &q
}

// Glance is what a shortcut and CEL say about one rule.
type Glance struct {
	Rule            string
	Answered        bool
	Holds, CELHolds bool
	Err             error // of CEL
	Spent, CELSpent uint64
}

// Glances asks the shortcuts and CEL about all conditions of a policy, each on
// facts of its own, selected or not.
func Glances(ctx context.Context, p *Policy, ev hook.Event) ([]Glance, error) {
	short, err := p.facts(ev)
	if err != nil {
		return nil, err
	}
	long, err := p.facts(ev)
	if err != nil {
		return nil, err
	}
	var out []Glance
	for _, r := range p.rules {
		if r.when == nil {
			continue
		}
		a := r.when.shortcut.answer(short, p.options.CostLimit)
		g := Glance{Rule: r.name, Answered: a != unsure, Holds: a == yes}
		g.Spent = uint64(max(0, int(min(p.options.CostLimit, mostGlance))-short.glance.left))
		if a == unsure {
			_, _, _ = r.when.program.ContextEval(ctx, short) // as Decide does
		}
		v, details, err := r.when.program.ContextEval(ctx, long)
		g.Err = err
		g.CELHolds = err == nil && v == types.True
		if cost := details.ActualCost(); cost != nil {
			g.CELSpent = *cost
		}
		out = append(out, g)
	}
	return out, nil
}
