package policy

import (
	"context"
	"fmt"
	"strings"

	"github.com/grapnel-dev/grapnel/bus/hook"
	"github.com/grapnel-dev/grapnel/subscribers/policy/shell"
	"github.com/grapnel-dev/grapnel/subscribers/policy/shell/place"
)

// Explanation says what a policy made of an event, and why. Its JSON form is
// for people and tools that look, not for deciding.
type Explanation struct {
	// Decision is what Decide returns.
	Decision hook.Decision `json:"decision"`
	// Error is the text of the error that Decide returns instead.
	Error string `json:"error,omitempty"`
	// Rules are all rules, in the order in which they were written.
	Rules []ExplainedRule `json:"rules"`
	// Workspace is the directory that was taken for the project's root.
	Workspace string `json:"workspace,omitempty"`
	// Opaque says that the event may do more than the facts say.
	Opaque bool `json:"opaque"`
	// Reasons says why a shell command is opaque.
	Reasons []string `json:"opaque_reasons,omitempty"`
	// Commands are the commands of a shell event, Paths the paths of any.
	Commands []ExplainedCommand `json:"commands,omitempty"`
	Paths    []ExplainedPath    `json:"paths,omitempty"`
}

// ExplainedRule is what became of one rule.
type ExplainedRule struct {
	Name   string      `json:"name"`
	Where  string      `json:"where"` // file:line
	Effect hook.Effect `json:"effect"`
	// Selected says that the rule's "on" matches the event.
	Selected bool `json:"selected"`
	// Matched says that it counts.
	Matched bool `json:"matched"`
	// Decided says that the decision names it.
	Decided bool `json:"decided"`
	// When is the condition, Note what there is to say about it.
	When  string `json:"when,omitempty"`
	Note  string `json:"note,omitempty"`
	Error string `json:"error,omitempty"`
}

// ExplainedCommand is one command of a shell event.
type ExplainedCommand struct {
	Name     string   `json:"name"`
	Argv     []string `json:"argv"`
	Wrappers []string `json:"wrappers,omitempty"`
	FedBy    []string `json:"fed_by,omitempty"`
	Reasons  []string `json:"reasons,omitempty"`
}

// ExplainedPath is one path of an event.
type ExplainedPath struct {
	Op   string `json:"op"`
	Raw  string `json:"raw"`
	Path string `json:"path,omitempty"`
	Real string `json:"real,omitempty"`
	// Where are the places that it leads to: workspace, home, temp, system,
	// device, protected, and the names of path sets.
	Where []string `json:"where,omitempty"`
}

// Explain says for each rule whether it matches and why. Unlike Decide it
// evaluates all rules.
func (p *Policy) Explain(ctx context.Context, ev hook.Event) (*Explanation, error) {
	x := &Explanation{}
	d, err := p.Decide(ctx, ev)
	if err != nil {
		x.Error = err.Error()
	}
	x.Decision = d
	f, err := p.facts(ev)
	if err != nil {
		return x, nil
	}
	x.Workspace = f.roots.Workspace
	x.Opaque = f.opaque()
	x.Reasons = f.opaqueReasons()
	for _, c := range f.script().Commands {
		x.Commands = append(x.Commands, explainCommand(c))
	}
	for _, path := range f.pathList() {
		x.Paths = append(x.Paths, p.explainPath(path))
	}
	ctx, cancel := context.WithTimeoutCause(ctx, p.options.TimeLimit, timeOver(p.options.TimeLimit))
	defer cancel()
	selected := p.selected(ev)
	rules := map[string]ExplainedRule{}
	for _, r := range p.rules {
		e := ExplainedRule{Name: r.name, Where: fmt.Sprintf("%s:%d", r.source, r.line), Effect: r.effect, When: strings.TrimSpace(r.text)}
		if e.Selected = r.on(selected); e.Selected {
			o := p.try(ctx, r, f)
			e.Matched, e.Note = o.matched, o.note
			if o.err != nil {
				e.Error = o.err.Error()
			}
		}
		for _, name := range d.Rules {
			e.Decided = e.Decided || name == r.name
		}
		rules[r.name] = e
	}
	for _, name := range p.order {
		if e, ok := rules[name]; ok {
			x.Rules = append(x.Rules, e)
		}
	}
	return x, ctxError(ctx)
}

// ctxError is the end of the caller's context; the policy's own time limit is
// told by the rules.
func ctxError(ctx context.Context) error {
	if context.Cause(ctx) == context.Canceled {
		return context.Canceled
	}
	return nil
}

func explainCommand(c *shell.Command) ExplainedCommand {
	e := ExplainedCommand{Name: c.Name, Argv: c.Argv, Wrappers: c.Wrappers, FedBy: c.FedBy}
	for _, r := range c.Reasons {
		e.Reasons = append(e.Reasons, r.String())
	}
	return e
}

func (p *Policy) explainPath(path *place.Path) ExplainedPath {
	e := ExplainedPath{Op: string(path.Op), Raw: path.Raw, Path: path.Abs, Real: path.Real()}
	if path.Unknown {
		e.Where = []string{"unknown"}
		return e
	}
	for _, w := range []struct {
		name string
		is   bool
	}{{"workspace", path.InWorkspace()}, {"home", path.InHome()}, {"temp", path.InTemp()}, {"system", path.System()},
		{"device", path.Device()}, {"protected", path.Protected()}} {
		if w.is {
			e.Where = append(e.Where, w.name)
		}
	}
	for _, name := range p.env.setNames() {
		if set := p.env.sets[name]; set != nil && set.Has(path) {
			e.Where = append(e.Where, name)
		}
	}
	return e
}
