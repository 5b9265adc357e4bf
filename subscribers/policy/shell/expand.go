package shell

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/expand"
	"mvdan.cc/sh/v3/syntax"
)

// param adds a parameter expansion.
func (a *analyzer) param(sc *scope, strands []strand, p *syntax.ParamExp, quoted bool) []strand {
	name, val := a.lookup(sc, p)
	written := "$" + name
	if len(strands)*(len(val.texts)+1) > maxValues*4 {
		// Too many ways to come out: none is followed any further.
		val, strands = value{dynamic: true}, strands[:1]
	}
	out := strands[:0:0]
	for _, s := range strands {
		if name != "" && len(s.now.vars) < 32 && !slices.Contains(s.now.vars, name) {
			s.now.vars = append(s.now.vars[:len(s.now.vars):len(s.now.vars)], name)
		}
		for _, text := range val.texts {
			with := s
			with.done = s.done[:len(s.done):len(s.done)]
			if quoted {
				with.add(text)
			} else {
				with.split(text)
			}
			out = append(out, with)
		}
		if val.dynamic {
			s.done = s.done[:len(s.done):len(s.done)]
			s.unknown(written)
			out = append(out, s)
		}
	}
	return out
}

// lookup returns the name of a parameter and what the expansion gives.
func (a *analyzer) lookup(sc *scope, p *syntax.ParamExp) (string, value) {
	if p.Param == nil {
		return "", value{dynamic: true}
	}
	name := p.Param.Value
	val, known := sc.variable(name)
	if !known {
		val = value{dynamic: true}
	}
	simple := !p.Excl && !p.Length && !p.Width && !p.IsSet && p.Index == nil && p.Slice == nil && p.Repl == nil &&
		p.Names == 0 && p.Flags == nil && len(p.Modifiers) == 0
	switch {
	case !simple:
		return name, value{dynamic: true}
	case p.Exp == nil:
		return name, val
	}
	switch p.Exp.Op {
	case syntax.DefaultUnset, syntax.DefaultUnsetOrNull, syntax.AssignUnset, syntax.AssignUnsetOrNull,
		syntax.AlternateUnset, syntax.AlternateUnsetOrNull:
		// Both the variable's value and the other word are possible.
		if p.Exp.Word != nil {
			a.depth++
			if a.depth > MaxDepth {
				a.opaque(ReasonTooDeep, "parameter expansion")
			} else {
				for _, f := range a.wordParts(sc, p.Exp.Word.Parts) {
					if f.dynamic {
						val.dynamic = true
					} else {
						val.texts = append(val.texts[:len(val.texts):len(val.texts)], f.text)
					}
				}
			}
			a.depth--
		}
		return name, val
	case syntax.ErrorUnset, syntax.ErrorUnsetOrNull:
		return name, val
	}
	return name, value{dynamic: true}
}

// substituted adds the output of $(…), where that can be known.
func (a *analyzer) substituted(sc *scope, strands []strand, p *syntax.CmdSubst, quoted bool) []strand {
	text, known := a.output(sc, p)
	from := names(p.Stmts)
	for i := range strands {
		s := &strands[i]
		if len(s.now.from) < 64 {
			s.now.from = append(s.now.from[:len(s.now.from):len(s.now.from)], from...)
		}
		switch {
		case !known:
			s.unknown("$(" + strings.Join(from, " ") + ")")
		case quoted:
			s.add(text)
		default:
			s.split(text)
		}
	}
	return strands
}

// output knows what a few commands print.
func (a *analyzer) output(sc *scope, p *syntax.CmdSubst) (string, bool) {
	if len(p.Stmts) != 1 || len(p.Stmts[0].Redirs) > 0 {
		return "", false
	}
	call, ok := p.Stmts[0].Cmd.(*syntax.CallExpr)
	if !ok || len(call.Args) == 0 || len(call.Assigns) > 0 {
		return "", false
	}
	if a.depth++; a.depth > MaxDepth {
		a.depth--
		a.opaque(ReasonTooDeep, "substitution")
		return "", false
	}
	defer func() { a.depth-- }()
	fields := a.words(sc, call.Args)
	return a.printed(sc, fields)
}

// printed returns what a simple command prints, if it is one whose output
// follows from its words.
func (a *analyzer) printed(sc *scope, fields []field) (string, bool) {
	var words []string
	for _, f := range fields {
		if f.dynamic || f.glob {
			return "", false
		}
		words = append(words, f.text)
	}
	if len(words) == 0 {
		return "", false
	}
	switch base(words[0]) {
	case "echo":
		args := words[1:]
		escapes := false
		for len(args) > 0 && len(args[0]) > 1 && args[0][0] == '-' && strings.Trim(args[0][1:], "neE") == "" {
			escapes = escapes || strings.Contains(args[0], "e")
			args = args[1:]
		}
		text := strings.Join(args, " ")
		if escapes {
			text = ansiC(text)
		}
		return text, true
	case "printf":
		if len(words) < 2 {
			return "", true
		}
		format := words[1]
		if format == "--" && len(words) > 2 {
			format, words = words[2], words[1:]
		}
		if plain := strings.NewReplacer("%s", "", "%d", "", "%%", "").Replace(format); strings.Contains(plain, "%") || strings.HasPrefix(format, "-") {
			return "", false
		}
		var b strings.Builder
		args := words[2:]
		for range maxFields {
			text, used, err := expand.Format(new(expand.Config), format, args) // nil is one for all, see ansiC
			if err != nil {
				return "", false
			}
			b.WriteString(text)
			if args = args[min(used, len(args)):]; used == 0 || len(args) == 0 {
				break
			}
		}
		return strings.TrimRight(b.String(), "\n"), true
	case "pwd":
		return sc.dir, sc.dir != "" && len(words) == 1
	case "mktemp":
		if len(words) == 1 || len(words) == 2 && (words[1] == "-d" || words[1] == "--directory") {
			return a.temp() + "/tmp.mktemp", true
		}
	case "git":
		if len(words) == 3 && words[1] == "rev-parse" && words[2] == "--show-toplevel" && a.places.Workspace != "" && sc.inWorkspace(a) {
			return a.places.Workspace, true
		}
	}
	return "", false
}

// tilde expands a leading tilde of an unquoted literal.
func (a *analyzer) tilde(sc *scope, written, text string) string {
	if !strings.HasPrefix(written, "~") {
		return text
	}
	user, rest := text[1:], ""
	if i := strings.IndexByte(text, '/'); i >= 0 {
		user, rest = text[1:i], text[i:]
	}
	switch user {
	case "":
		if home, ok := sc.variable("HOME"); ok && !home.dynamic && len(home.texts) == 1 {
			return home.texts[0] + rest
		}
		return text
	case "+":
		if sc.dir != "" {
			return sc.dir + rest
		}
		return text
	case "root":
		return "/root" + rest
	}
	if strings.ContainsAny(user, "+-*?[$") {
		return text
	}
	home := a.places.Home
	if i := strings.LastIndexByte(home, '/'); i > 0 {
		return home[:i] + "/" + user + rest
	}
	return "/home/" + user + rest
}
