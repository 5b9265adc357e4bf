package shell

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

func (a *analyzer) stmts(sc *scope, list []*syntax.Stmt, out around) {
	for _, s := range list {
		a.stmt(sc, s, out)
	}
}

func (a *analyzer) stmt(sc *scope, s *syntax.Stmt, out around) {
	if s == nil || len(a.script.Commands) >= MaxCommands {
		if s != nil {
			a.opaque(ReasonTooMany, "commands")
		}
		return
	}
	if !a.enter("commands") {
		return
	}
	defer a.leave()
	if s.Background || s.Coprocess || s.Disown {
		sc = sc.child()
	}
	redirs, in := a.redirects(sc, s)
	out.redirs = append(out.redirs[:len(out.redirs):len(out.redirs)], redirs...)
	if in != nil {
		in.from = append(in.from, out.input.from...)
		out.input = *in
	}
	a.cmd(sc, s.Cmd, out)
}

func (a *analyzer) cmd(sc *scope, cmd syntax.Command, out around) {
	switch c := cmd.(type) {
	case nil:
		a.bare(out)
	case *syntax.CallExpr:
		a.call(sc, c, out)
	case *syntax.BinaryCmd:
		a.binary(sc, c, out)
	case *syntax.Subshell:
		a.stmts(sc.child(), c.Stmts, out)
	case *syntax.Block:
		a.stmts(sc, c.Stmts, out)
	case *syntax.IfClause:
		a.stmts(sc, c.Cond, out)
		a.branch(sc, c.Then, out, false)
		if c.Else != nil {
			branch := sc.child()
			a.cmd(branch, c.Else, out)
			sc.merge(branch)
		}
	case *syntax.WhileClause:
		a.branch(sc, c.Cond, out, true)
		a.branch(sc, c.Do, out, true)
	case *syntax.ForClause:
		a.loop(sc, c, out)
	case *syntax.CaseClause:
		a.inner(sc, c.Word)
		for _, item := range c.Items {
			for _, p := range item.Patterns {
				a.inner(sc, p)
			}
			a.branch(sc, item.Stmts, out, false)
		}
	case *syntax.FuncDecl:
		a.function(sc, c, out)
	case *syntax.DeclClause:
		a.assign(sc, c.Args)
	case *syntax.TimeClause:
		if c.Stmt != nil {
			a.stmt(sc, c.Stmt, out)
		}
	case *syntax.CoprocClause:
		a.stmt(sc.child(), c.Stmt, out)
	case *syntax.TestDecl:
		a.stmt(sc.child(), c.Body, out)
	default: // arithmetic, tests, let
		a.inner(sc, c)
	}
}

// branch reads statements that may not run, or run more than once.
func (a *analyzer) branch(sc *scope, list []*syntax.Stmt, out around, loop bool) {
	branch := sc.child()
	branch.loops = branch.loops || loop
	if loop {
		a.unsettle(branch, list)
	}
	a.stmts(branch, list, out)
	sc.merge(branch)
}

// unsettle forgets what a loop's body changes: on the second round it holds
// what the first has left there.
func (a *analyzer) unsettle(sc *scope, list []*syntax.Stmt) {
	for _, s := range list {
		walk(s, func(n syntax.Node) bool {
			switch n := n.(type) {
			case *syntax.Assign:
				if n.Name != nil {
					if old, ok := sc.variable(n.Name.Value); ok {
						sc.set(n.Name.Value, value{texts: old.texts, dynamic: true})
					}
				}
			case *syntax.CallExpr:
				if len(n.Args) > 0 {
					if name, ok := literal(n.Args[0]); ok && (name == "cd" || name == "pushd" || name == "popd") {
						if len(n.Args) != 2 || !absoluteWord(n.Args[1]) {
							sc.dir, sc.before = "", ""
						}
					}
				}
			case *syntax.Subshell, *syntax.CmdSubst, *syntax.ForClause, *syntax.WhileClause:
				_, subshell := n.(*syntax.Subshell)
				_, subst := n.(*syntax.CmdSubst)
				return !subshell && !subst
			}
			return true
		})
	}
}

func absoluteWord(w *syntax.Word) bool {
	text, ok := literal(w)
	return ok && strings.HasPrefix(text, "/")
}

func (a *analyzer) loop(sc *scope, c *syntax.ForClause, out around) {
	branch := sc.child()
	branch.loops = true
	a.unsettle(branch, c.Do)
	switch l := c.Loop.(type) {
	case *syntax.WordIter:
		var v value
		for _, w := range l.Items {
			a.inner(sc, w)
			for _, f := range a.word(sc, w) {
				switch {
				case f.dynamic:
					v.dynamic = true
				default:
					v.texts = append(v.texts, f.text)
				}
			}
		}
		if len(l.Items) == 0 {
			v.dynamic = true // over the arguments
		}
		branch.set(l.Name.Value, v)
	case *syntax.CStyleLoop:
		a.inner(sc, l)
	}
	a.stmts(branch, c.Do, out)
	sc.merge(branch)
}

// function reads a body where it is defined, as if it was called there.
func (a *analyzer) function(sc *scope, c *syntax.FuncDecl, out around) {
	body := sc.child()
	var defined []string
	if c.Name != nil {
		defined = append(defined, c.Name.Value)
	}
	for _, n := range c.Names {
		defined = append(defined, n.Value)
	}
	body.inside = append(body.inside[:len(body.inside):len(body.inside)], defined...)
	a.stmt(body, c.Body, out)
	if a.functions == nil {
		a.functions = map[string]*scope{}
	}
	for _, name := range defined {
		a.functions[name] = body
	}
}

func (a *analyzer) binary(sc *scope, c *syntax.BinaryCmd, out around) {
	switch c.Op {
	case syntax.Pipe, syntax.PipeAll:
		a.pipe(sc, c, out)
	case syntax.AndStmt:
		// The parts of a && b && c see what the ones before have done;
		// what comes after the list does not know how far it went.
		chain := flatten(c, syntax.AndStmt)
		a.stmt(sc, chain[0], out)
		branch := sc.child()
		a.stmts(branch, chain[1:], out)
		sc.merge(branch)
	default:
		a.stmt(sc, c.X, out)
		branch := sc.child()
		a.stmt(branch, c.Y, out)
		sc.merge(branch)
	}
}

// flatten lists the parts of a left-leaning chain of one operator.
func flatten(c *syntax.BinaryCmd, ops ...syntax.BinCmdOperator) []*syntax.Stmt {
	var out []*syntax.Stmt
	for {
		out = append(out, c.Y)
		x, ok := c.X.Cmd.(*syntax.BinaryCmd)
		if !ok || !slices.Contains(ops, x.Op) || len(c.X.Redirs) > 0 || c.X.Negated {
			out = append(out, c.X)
			slices.Reverse(out)
			return out
		}
		c = x
	}
}

// bare is a redirection without a command, which empties the file.
func (a *analyzer) bare(out around) {
	if len(out.redirs) == 0 {
		return
	}
	c := a.record(&Command{Name: ":", Argv: []string{":"}}, out)
	c.Directory = ""
}

// inner reads the substitutions in a node.
func (a *analyzer) inner(sc *scope, n syntax.Node) []string {
	var from []string
	walk(n, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.CmdSubst:
			from = append(from, a.nested(sc, n.Stmts)...)
			return false
		case *syntax.ProcSubst:
			from = append(from, a.nested(sc, n.Stmts)...)
			return false
		}
		return true
	})
	return from
}

func (a *analyzer) nested(sc *scope, list []*syntax.Stmt) []string {
	start := len(a.script.Commands)
	if !a.enter("substitution") {
		return nil
	}
	defer a.leave()
	a.stmts(sc.child(), list, around{})
	var out []string
	for _, c := range a.script.Commands[start:] {
		if len(out) >= 32 {
			break
		}
		if c.Name == "" {
			out = append(out, "?")
		} else {
			out = append(out, c.Name)
		}
	}
	return out
}
