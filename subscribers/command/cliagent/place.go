package cliagent

import (
	"errors"
	"fmt"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// quoting is how the text around a template quotes it.
type quoting int

const (
	nowhere  quoting = iota
	comment          // nobody reads it
	unquoted         // the reference brings its own quotes
	single           // the quotes are closed and opened again
	double           // the quotes that are there do; so does a here-document
)

// reference is what a template becomes. The value is never in the text: the
// shell gets it from its environment, and reads the result of an expansion in
// double quotes no further.
func (q quoting) reference(variable string) (before, ref, after string) {
	switch q {
	case unquoted:
		return `"`, "${" + variable + "}", `"`
	case single:
		return `'"`, "${" + variable + "}", `"'`
	}
	return "", "${" + variable + "}", ""
}

// tree is a masked text as one variant of the shell language reads it.
type tree struct {
	masked
	file *syntax.File
	// places is the quoting of each template.
	places []quoting
	// hot are the nodes with a value of the event in them, directly or by way
	// of a variable.
	hot map[syntax.Node]bool
	// tainted are the shell's variables that hold such a value.
	tainted map[string]bool
	// functions are those that the text defines.
	functions map[string]bool
}

func parse(m masked, lang syntax.LangVariant) (*tree, error) {
	file, err := syntax.NewParser(syntax.Variant(lang), syntax.KeepComments(true)).Parse(strings.NewReader(m.text), "")
	if err != nil {
		var wrong syntax.ParseError
		if errors.As(err, &wrong) {
			return nil, fmt.Errorf("at line %d, column %d: %s", wrong.Pos.Line(), wrong.Pos.Col(), wrong.Text)
		}
		return nil, fmt.Errorf("it cannot be read: %w", err)
	}
	t := &tree{masked: m, file: file, places: make([]quoting, len(m.templates))}
	if err := t.locate(); err != nil {
		return nil, err
	}
	for i, p := range t.places {
		if p == nowhere {
			return nil, fmt.Errorf("%s stands where a value cannot be put; use an environment variable such as \"$%s\", or read standard input", m.templates[i], m.templates[i].variable())
		}
	}
	t.spread()
	return t, nil
}

// in lists the templates within a node's text.
func (t *tree) in(n syntax.Node) []int {
	from, to := int(n.Pos().Offset()), int(n.End().Offset())
	var list []int
	for i, m := range t.templates {
		if from <= m.start && m.end <= to {
			list = append(list, i)
		}
	}
	return list
}

// visit walks the tree; above are the nodes around n, the outermost first.
func (t *tree) visit(f func(n syntax.Node, above []syntax.Node)) {
	var above []syntax.Node
	syntax.Walk(t.file, func(n syntax.Node) bool {
		if n == nil {
			above = above[:len(above)-1]
			return true
		}
		f(n, above)
		above = append(above, n)
		return true
	})
}

// locate finds the place of each template: the one leaf of the tree that it is
// part of, and what is around that.
func (t *tree) locate() error {
	var wrong error
	t.visit(func(n syntax.Node, above []syntax.Node) {
		if len(above) > maxDepth {
			wrong = errors.New("it is nested too deeply to be looked at")
			return
		}
		var q quoting
		switch n := n.(type) {
		case *syntax.Comment:
			q = comment
		case *syntax.SglQuoted:
			q = single
			if n.Dollar {
				q = nowhere
			}
		case *syntax.Lit:
			q = unquoted
		default:
			return
		}
		for _, i := range t.in(n) {
			place, err := q, error(nil)
			if q != comment {
				place, err = t.surroundings(i, n, q, above)
			}
			if err != nil && wrong == nil {
				wrong = fmt.Errorf("%s: %w", t.templates[i], err)
			}
			if t.places[i] != nowhere && t.places[i] != place {
				place = nowhere
			}
			t.places[i] = place
		}
	})
	return wrong
}

// surroundings decides what the nodes around a leaf make of its quoting.
func (t *tree) surroundings(i int, leaf syntax.Node, q quoting, above []syntax.Node) (quoting, error) {
	variable := t.templates[i].variable()
	if q == nowhere {
		return q, fmt.Errorf("a value cannot be put into $'…'; write \"$%s\"", variable)
	}
	if q == unquoted && t.escaped(t.templates[i].start) {
		return q, errors.New("there is a backslash before it; take it away, the value is quoted as it is")
	}
	inner := leaf // the node below the one that is looked at
	enclosed := 0 // double quotes around the leaf within its own command
	settled := false
	for k := len(above) - 1; k >= 0; k-- {
		switch n := above[k].(type) {
		case *syntax.DblQuoted:
			if n.Dollar {
				return q, errors.New(`a value cannot be put into $"…"`)
			}
			if !settled {
				enclosed++
			}
		case *syntax.ParamExp:
			if inner != syntax.Node(n.Param) && n.Exp != nil && defaulting(n.Exp.Op) && n.Index == nil && n.Repl == nil && n.Slice == nil {
				break
			}
			return q, fmt.Errorf("a value cannot be put into the name or the pattern of ${…}; write \"$%s\" by itself", variable)
		case *syntax.Redirect:
			if n.Hdoc != nil && inner == syntax.Node(n.Hdoc) {
				if quoted(n.Word) {
					return q, fmt.Errorf("nothing is put into a here-document whose delimiter %s is quoted; take the quotes away, or use %s=… before the command", t.text[n.Word.Pos().Offset():n.Word.End().Offset()], variable)
				}
				if !settled {
					enclosed++
				}
				break
			}
			if n.Op == syntax.DplIn || n.Op == syntax.DplOut || (n.Hdoc != nil && inner == syntax.Node(n.Word)) {
				return q, errors.New("a file descriptor or the end of a here-document cannot come from an event")
			}
		case *syntax.CmdSubst:
			if n.Backquotes && (strings.Contains(t.text[n.Pos().Offset():n.End().Offset()], `\`) || within(above[:k])) {
				return q, errors.New("it stands in `…` with quotes or backslashes around; write $(…)")
			}
			settled = true
		case *syntax.ArithmExp, *syntax.ArithmCmd, *syntax.LetClause, *syntax.CStyleLoop:
			return q, errors.New("an arithmetic expression executes what stands in it; compare the value as text")
		case *syntax.ExtGlob, *syntax.ProcSubst, *syntax.CoprocClause, *syntax.TestDecl, *syntax.ArrayExpr, *syntax.BraceExp:
			return q, errors.New("a value cannot be put here; use plain sh")
		case *syntax.FuncDecl:
			if inner == syntax.Node(n.Name) {
				return q, errors.New("a function's name cannot come from an event")
			}
		case *syntax.WordIter:
			if inner == syntax.Node(n.Name) {
				return q, errors.New("a variable's name cannot come from an event")
			}
		case *syntax.Assign:
			if inner != syntax.Node(n.Value) || n.Index != nil {
				return q, errors.New("a variable's name cannot come from an event")
			}
		}
		inner = above[k]
	}
	switch {
	case enclosed == 0:
		return q, nil
	case enclosed > 1 || q == single:
		return q, errors.New("shells do not agree about these nested quotes; put the value into a variable of your own first")
	}
	return double, nil
}

// escaped reports whether a backslash takes the meaning of what follows it.
func (t *tree) escaped(at int) bool {
	n := 0
	for at-n > 0 && t.text[at-n-1] == '\\' {
		n++
	}
	return n%2 == 1
}

func within(above []syntax.Node) bool {
	for _, n := range above {
		switch n := n.(type) {
		case *syntax.DblQuoted:
			return true
		case *syntax.Redirect:
			if n.Hdoc != nil {
				return true
			}
		case *syntax.CmdSubst:
			if n.Backquotes {
				return true
			}
		}
	}
	return false
}

func defaulting(op syntax.ParExpOperator) bool {
	switch op {
	case syntax.AlternateUnset, syntax.AlternateUnsetOrNull, syntax.DefaultUnset, syntax.DefaultUnsetOrNull:
		return true
	}
	return false
}

// quoted reports whether a here-document's delimiter has any quotes.
func quoted(w *syntax.Word) bool {
	for _, p := range w.Parts {
		if l, ok := p.(*syntax.Lit); !ok || strings.Contains(l.Value, `\`) {
			return true
		}
	}
	return false
}
