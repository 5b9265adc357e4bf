package policy

import (
	"encoding/json"
	"regexp"

	"github.com/goccy/go-yaml/ast"

	"github.com/grapnel-dev/grapnel/bus/hook"
)

// plainName is what rules and sets may be called.
var plainName = regexp.MustCompile(`^[a-z0-9][a-z0-9_.-]{0,63}$`)

func (w *written) readSets(n ast.Node) error {
	entries, err := mapping(w.source, n)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if !plainName.MatchString(e.key) {
			return fault(w.source, e.line, "set name %.80q: it is 1 to 64 of a-z, 0-9, '.', '_' and '-'", e.key)
		}
		set := writtenSet{mark: mark{e.key, e.line}}
		values, err := sequence(w.source, e.value)
		if err != nil {
			return err
		}
		for _, v := range values {
			var text string
			if err := decode(w.source, v, &text); err != nil {
				return err
			}
			set.patterns = append(set.patterns, text)
		}
		w.sets = append(w.sets, set)
	}
	return nil
}

func (w *written) readDisable(n ast.Node) error {
	values, err := sequence(w.source, n)
	if err != nil {
		return err
	}
	for _, v := range values {
		var name string
		if err := decode(w.source, v, &name); err != nil {
			return err
		}
		w.disable = append(w.disable, mark{name, lineOf(v)})
	}
	return nil
}

func (w *written) readRules(n ast.Node) error {
	values, err := sequence(w.source, n)
	if err != nil {
		return err
	}
	if len(values) > MaxRules {
		return fault(w.source, lineOf(n), "%d rules; at most %d are read", len(values), MaxRules)
	}
	for _, v := range values {
		rule, err := w.readRule(v)
		if err != nil {
			return err
		}
		w.rules = append(w.rules, rule)
	}
	return nil
}

func (w *written) readRule(n ast.Node) (writtenRule, error) {
	r := writtenRule{line: lineOf(n)}
	entries, err := mapping(w.source, n, "name", "on", "when", "effect", "reason", "context", "rewrite")
	if err != nil {
		return r, err
	}
	for _, e := range entries {
		switch e.key {
		case "name":
			err = decode(w.source, e.value, &r.name)
		case "on":
			r.on, err = w.readOn(e.value)
		case "when":
			r.when.line = lineOf(e.value)
			err = decode(w.source, e.value, &r.when.text)
		case "effect":
			var text string
			if err = decode(w.source, e.value, &text); err == nil {
				r.hasEffect = true
				if err = r.effect.UnmarshalText([]byte(text)); err != nil {
					err = fault(w.source, e.line, "%w", err)
				}
			}
		case "reason":
			err = decode(w.source, e.value, &r.reason)
		case "context":
			err = decode(w.source, e.value, &r.context)
		case "rewrite":
			r.hasRewrite = true
			err = w.readRewrite(&r, e.value)
		}
		if err != nil {
			return r, err
		}
	}
	return r, w.checkRule(r)
}

func (w *written) checkRule(r writtenRule) error {
	switch {
	case r.name == "":
		return fault(w.source, r.line, "a rule without a name; add name:")
	case !plainName.MatchString(r.name):
		return fault(w.source, r.line, "rule name %.80q: it is 1 to 64 of a-z, 0-9, '.', '_' and '-'", r.name)
	case !r.hasEffect:
		return fault(w.source, r.line, "rule %s has no effect; add effect: with one of abstain, allow, ask, deny, halt", r.name)
	case r.hasRewrite && r.effect > hook.Allow:
		return fault(w.source, r.line, "rule %s: a rewrite goes with effect allow or abstain, not %s", r.name, r.effect)
	case r.effect >= hook.Ask && r.reason == "":
		return fault(w.source, r.line, "rule %s has no reason; say what was wrong and what to do instead", r.name)
	case len(r.reason) > 2000 || len(r.context) > 8000:
		return fault(w.source, r.line, "rule %s: a reason has at most 2000 bytes, a context 8000", r.name)
	}
	return nil
}

func (w *written) readOn(n ast.Node) ([]hook.Pattern, error) {
	nodes := []ast.Node{n}
	if s, ok := n.(*ast.SequenceNode); ok {
		nodes = s.Values
	}
	var out []hook.Pattern
	for _, v := range nodes {
		var text string
		if err := decode(w.source, v, &text); err != nil {
			return nil, err
		}
		p, err := hook.ParsePattern(text)
		if err != nil {
			return nil, fault(w.source, lineOf(v), "%w", err)
		}
		out = append(out, p)
	}
	if len(out) == 0 {
		return nil, fault(w.source, lineOf(n), "an empty list of events matches nothing; leave on: out to match every event")
	}
	return out, nil
}

// readRewrite takes an expression, or a map that is the new input.
func (w *written) readRewrite(r *writtenRule, n ast.Node) error {
	r.rewrite.line = lineOf(n)
	switch n.(type) {
	case *ast.MappingNode, *ast.MappingValueNode:
		var input map[string]any
		if err := decode(w.source, n, &input); err != nil {
			return err
		}
		b, err := json.Marshal(input)
		if err != nil {
			return fault(w.source, lineOf(n), "the rewrite cannot be written as JSON: %w", err)
		}
		r.static = b
		return nil
	}
	return decode(w.source, n, &r.rewrite.text)
}
