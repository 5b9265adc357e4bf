package cliagent

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// hazard returns why a value of the event would be read as program text
// somewhere, whatever the quotes, or nil.
func (t *tree) hazard() error {
	var wrong error
	t.visit(func(n syntax.Node, above []syntax.Node) {
		if wrong != nil || !t.hot[n] {
			return
		}
		switch n := n.(type) {
		case *syntax.CallExpr:
			wrong = t.call(n.Args)
		case *syntax.Assign:
			if n.Name != nil && commands(n.Name.Value) {
				wrong = fmt.Errorf("the variable %s changes what programs do, so no value of an event may be in it", n.Name.Value)
			}
			if n.Index != nil {
				wrong = fmt.Errorf("the subscript of %s is an arithmetic expression, which executes what stands in it", n.Name.Value)
			}
		case *syntax.DeclClause:
			if slices.ContainsFunc(n.Args, func(a *syntax.Assign) bool { return t.hot[a] && (a.Naked || n.Variant.Value == "nameref") }) {
				wrong = fmt.Errorf("%s reads the value as the name of a variable or as options", n.Variant.Value)
			}
			if n.Variant.Value == "declare" || n.Variant.Value == "typeset" {
				wrong = fmt.Errorf("%s may evaluate the value as arithmetic; write NAME=value by itself", n.Variant.Value)
			}
		case *syntax.ArithmExp, *syntax.ArithmCmd, *syntax.LetClause, *syntax.CStyleLoop:
			wrong = fmt.Errorf("an arithmetic expression executes what stands in its variables; compare the value as text")
		case *syntax.ParamExp:
			if n.Excl || n.Index != nil && t.hot[n.Index] || n.Slice != nil {
				wrong = fmt.Errorf("${!…}, subscripts and ${…:…} evaluate what stands in the variable")
			}
		case *syntax.UnaryTest:
			if n.Op == syntax.TsVarSet || n.Op == syntax.TsRefVar {
				wrong = fmt.Errorf("[[ %s evaluates the value", n.Op)
			}
		case *syntax.BinaryTest:
			if numeric(n.Op.String()) {
				wrong = fmt.Errorf("[[ %s evaluates the value as arithmetic; compare it as text", n.Op)
			}
		case *syntax.BinaryCmd:
			if (n.Op == syntax.Pipe || n.Op == syntax.PipeAll) && t.hot[n.X] {
				wrong = t.fed(n.Y)
			}
		case *syntax.Stmt:
			for _, r := range n.Redirs {
				if t.hot[r] && inward(r.Op) {
					wrong = t.fed(n)
				}
			}
		}
	})
	return wrong
}

func inward(op syntax.RedirOperator) bool {
	switch op {
	case syntax.Hdoc, syntax.DashHdoc, syntax.WordHdoc, syntax.RdrIn, syntax.RdrInOut:
		return true
	}
	return false
}

func numeric(op string) bool {
	return slices.Contains([]string{"-eq", "-ne", "-lt", "-le", "-gt", "-ge"}, op)
}

// commands reports whether a variable's value decides what is executed, or is
// evaluated when it is set.
func commands(variable string) bool {
	for _, prefix := range []string{"LD_", "DYLD_", "BASH", "GIT_", "PYTHON", "PERL", "RUBY", "NODE_", "JAVA_", "JDK_", "npm_", "PS", "LESS", "GRAPNEL_", "_JAVA"} {
		if strings.HasPrefix(variable, prefix) {
			return true
		}
	}
	switch variable {
	case "PATH", "ENV", "IFS", "SHELLOPTS", "PROMPT_COMMAND", "GLOBIGNORE", "CDPATH", "FPATH", "SHELL", "EDITOR", "VISUAL", "PAGER",
		"MANPAGER", "BROWSER", "HOME", "TMPDIR", "TERMINFO", "LOCPATH", "NLSPATH", "MAKEFLAGS", "CC", "CXX", "CLASSPATH", "GCONV_PATH",
		"RANDOM", "SRANDOM", "SECONDS", "LINENO", "OPTIND", "HISTCMD", "HISTFILE", "HISTSIZE", "HISTFILESIZE", "TMOUT", "PPID", "UID", "EUID",
		"MAILCHECK", "MAIL", "MAILPATH", "COLUMNS", "LINES", "OPENSSL_CONF", "SSH_ASKPASS", "SUDO_ASKPASS", "XDG_CONFIG_HOME":
		return true
	}
	return false
}

// fed checks the commands that get a value on their standard input.
func (t *tree) fed(n syntax.Node) error {
	var wrong error
	syntax.Walk(n, func(n syntax.Node) bool {
		call, ok := n.(*syntax.CallExpr)
		if !ok || len(call.Args) == 0 || wrong != nil {
			return wrong == nil
		}
		words := make([]string, len(call.Args))
		for i, w := range call.Args {
			words[i], ok = static(w)
			if !ok {
				words[i] = "?"
			}
		}
		wrong = readsPrograms(words)
		return true
	})
	return wrong
}

// readsPrograms reports why a command would execute its standard input.
func readsPrograms(words []string) error {
	if rest, ok := unwrapped(words); ok && path.Base(words[0]) != "xargs" {
		words = rest
	}
	name := path.Base(words[0])
	bad := fmt.Errorf("%s executes what it reads, and the value would be in there", name)
	switch {
	case name == "?" || name == "." || name == "source" || name == "xargs" || name == "parallel" || name == "at" || name == "batch" || name == "crontab":
		return bad
	case !isShell(name) && !isInterpreter(name):
		return nil
	}
	for i, w := range words[1:] {
		switch {
		case w == "-" || w == "/dev/stdin" || w == "/proc/self/fd/0" || w == "?":
			return bad
		case w == "-c" || w == "-e" || w == "-m" || w == "--eval":
			return nil
		case strings.HasPrefix(w, "-"):
			continue
		case i == 0 || isShell(name):
			return nil // a program of its own
		}
	}
	return bad
}

// call checks one command that has a value in its words.
func (t *tree) call(args []*syntax.Word) error {
	if !slices.ContainsFunc(args, func(w *syntax.Word) bool { return t.hot[w] }) {
		return nil
	}
	if t.hot[args[0]] {
		return fmt.Errorf("the value would be the command itself")
	}
	words, hot := make([]string, len(args)), make([]bool, len(args))
	for i, w := range args {
		text, ok := static(w)
		hot[i] = t.hot[w]
		if !ok && !hot[i] {
			text = "?"
		}
		if hot[i] {
			text = t.fixedPrefix(w)
		}
		words[i] = text
	}
	if words[0] == "?" {
		return fmt.Errorf("the command %s is not known before it runs, and might execute the value", t.text[args[0].Pos().Offset():args[0].End().Offset()])
	}
	if t.functions[words[0]] {
		return nil // its body is looked at with its parameters in mind
	}
	return executes(words, hot)
}

// fixedPrefix is the text of a word before the first value in it.
func (t *tree) fixedPrefix(w *syntax.Word) string {
	from := int(w.Pos().Offset())
	to := int(w.End().Offset())
	for _, i := range t.in(w) {
		to = min(to, t.templates[i].start)
	}
	if i := strings.IndexAny(t.text[from:to], "$`"); i >= 0 {
		to = from + i
	}
	return strings.NewReplacer(`'`, "", `"`, "", `\`, "").Replace(t.text[from:to])
}
