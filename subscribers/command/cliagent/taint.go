package cliagent

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// spread finds the nodes and the shell's variables that values of the event get
// to. It goes round until nothing new is found; a variable that ever holds such
// a value counts everywhere in the text.
func (t *tree) spread() {
	t.tainted, t.functions = make(map[string]bool), make(map[string]bool)
	t.visit(func(n syntax.Node, _ []syntax.Node) {
		if f, ok := n.(*syntax.FuncDecl); ok && f.Name != nil {
			t.functions[f.Name.Value] = true
		}
	})
	for range 16 {
		known := len(t.tainted)
		t.heat()
		t.visit(t.taint)
		if len(t.tainted) == known {
			return
		}
	}
	t.heat()
}

// heat marks the nodes that hold a value of the event.
func (t *tree) heat() {
	t.hot = make(map[syntax.Node]bool)
	t.visit(func(n syntax.Node, above []syntax.Node) {
		hot := false
		switch n := n.(type) {
		case *syntax.Lit:
			hot = len(t.in(n)) > 0
			if !hot && arithmetic(above) {
				hot = t.tainted[strings.TrimSpace(n.Value)]
			}
		case *syntax.SglQuoted:
			hot = len(t.in(n)) > 0
		case *syntax.ParamExp:
			hot = n.Param != nil && t.tainted[n.Param.Value]
		}
		if !hot {
			return
		}
		t.hot[n] = true
		for _, a := range above {
			t.hot[a] = true
		}
	})
}

func arithmetic(above []syntax.Node) bool {
	return slices.ContainsFunc(above, func(n syntax.Node) bool {
		switch n.(type) {
		case *syntax.ArithmExp, *syntax.ArithmCmd, *syntax.LetClause:
			return true
		}
		return false
	})
}

// taint marks the variables that a command gives such a value to.
func (t *tree) taint(n syntax.Node, _ []syntax.Node) {
	switch n := n.(type) {
	case *syntax.Assign:
		if n.Name != nil && n.Value != nil && t.hot[n.Value] {
			t.tainted[n.Name.Value] = true
		}
	case *syntax.WordIter:
		hot := slices.ContainsFunc(n.Items, func(w *syntax.Word) bool { return t.hot[w] })
		if hot || (!n.InPos.IsValid() && t.tainted["@"]) {
			t.tainted[n.Name.Value] = true
		}
	case *syntax.CallExpr:
		t.taintCall(n)
	}
}

func (t *tree) taintCall(n *syntax.CallExpr) {
	if len(n.Args) == 0 {
		return
	}
	name, _ := static(n.Args[0])
	hot := slices.ContainsFunc(n.Args[1:], func(w *syntax.Word) bool { return t.hot[w] })
	switch {
	case name == "read" || name == "mapfile" || name == "readarray" || name == "getopts":
		// What is read may well be what an event's value was written to.
		for _, w := range n.Args[1:] {
			if v, ok := static(w); ok {
				t.tainted[v] = true
			}
		}
		t.tainted["REPLY"], t.tainted["OPTARG"], t.tainted["MAPFILE"] = true, true, true
	case name == "set" && hot, t.functions[name] && hot:
		for _, p := range []string{"@", "*", "1", "2", "3", "4", "5", "6", "7", "8", "9"} {
			t.tainted[p] = true
		}
	case declares(name):
		for _, w := range n.Args[1:] {
			if v, _, ok := assignment(w); ok && t.hot[w] {
				t.tainted[v] = true
			}
		}
	}
}

func declares(name string) bool {
	switch name {
	case "export", "readonly", "local", "declare", "typeset":
		return true
	}
	return false
}

// assignment splits a word "NAME=value" whose name is plain text.
func assignment(w *syntax.Word) (name, value string, ok bool) {
	l, isLit := w.Parts[0].(*syntax.Lit)
	if !isLit {
		return "", "", false
	}
	name, value, ok = strings.Cut(l.Value, "=")
	return strings.TrimSuffix(name, "+"), value, ok && syntax.ValidName(strings.TrimSuffix(name, "+"))
}

// static returns the text of a word without any expansion in it.
func static(w *syntax.Word) (string, bool) {
	var b strings.Builder
	for _, p := range w.Parts {
		switch p := p.(type) {
		case *syntax.Lit:
			b.WriteString(strings.ReplaceAll(p.Value, `\`, ""))
		case *syntax.SglQuoted:
			if p.Dollar {
				return "", false
			}
			b.WriteString(p.Value)
		case *syntax.DblQuoted:
			for _, q := range p.Parts {
				l, ok := q.(*syntax.Lit)
				if !ok {
					return "", false
				}
				b.WriteString(strings.ReplaceAll(l.Value, `\`, ""))
			}
		default:
			return "", false
		}
	}
	return b.String(), true
}
