package shell

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/expand"
	"mvdan.cc/sh/v3/syntax"
)

// field is one word after expansion.
type field struct {
	text    string
	dynamic bool     // some part is not known; it stands as it was written
	prefix  int      // bytes of text before the first part that is not known
	glob    bool     // holds unquoted glob characters
	vars    []string // variables that stand in it
	from    []string // commands whose output stands in it
}

// value is what a variable is known to hold.
type value struct {
	texts   []string // alternatives
	dynamic bool     // it may hold something else as well
}

// strand is one way in which a word can come out: finished fields and the one
// that is being written.
type strand struct {
	done []field
	now  field
	open bool // now is a field even when it is empty
}

// add appends known text. A field that would grow beyond every script is not
// known any more: variables can double themselves.
func (s *strand) add(text string) {
	s.open = true
	if len(s.now.text)+len(text) > MaxText {
		s.unknown("…")
		return
	}
	s.now.text += text
}

func (s *strand) unknown(written string) {
	if !s.now.dynamic {
		s.now.dynamic, s.now.prefix = true, len(s.now.text)
	}
	if s.open = true; len(s.now.text)+len(written) <= MaxText+8 {
		s.now.text += written
	}
}

// split adds text as the shell adds an unquoted expansion: in fields.
func (s *strand) split(text string) {
	for i, piece := range strings.FieldsFunc(text, blank) {
		if i > 0 || blank(rune(text[0])) {
			s.cut()
		}
		s.add(piece)
		if strings.ContainsAny(piece, "*?[") {
			s.now.glob = true
		}
	}
	if text != "" && blank(rune(text[len(text)-1])) {
		s.cut()
	}
}

func (s *strand) cut() {
	if s.open {
		s.done = append(s.done, s.now)
	}
	s.now, s.open = field{}, false
}

func blank(r rune) bool { return r == ' ' || r == '\t' || r == '\n' }

// words expands words to fields.
func (a *analyzer) words(sc *scope, words []*syntax.Word) []field {
	var out []field
	for _, w := range words {
		out = append(out, a.word(sc, w)...)
	}
	return out
}

// word expands one word. Alternatives come out one after another.
func (a *analyzer) word(sc *scope, w *syntax.Word) []field {
	if text, plain := literal(w); plain {
		if a.count++; a.count > MaxWords {
			a.opaque(ReasonTooMany, "words")
			return nil
		}
		return []field{{text: text}}
	}
	// Words are expanded more than once, and split the first time.
	if syntax.SplitBraces(w); !braced(w) {
		return a.wordParts(sc, w.Parts)
	}
	var out []field
	n := 0
	if parts, braces := size(w.Parts); parts > 256 || braces > 16 {
		a.opaque(ReasonTooMany, "brace expansion")
		return []field{{text: "{…}", dynamic: true}}
	}
	for braced, err := range expand.BracesSeq(nil, w) {
		if n++; err != nil || n > maxFields {
			a.opaque(ReasonTooMany, "brace expansion")
			break
		}
		out = append(out, a.wordParts(sc, braced.Parts)...)
	}
	return out
}

// size counts the parts of a word and the braces among them, in whatever depth.
func size(parts []syntax.WordPart) (all, braces int) {
	for _, p := range parts {
		if all++; all > 256 {
			break
		}
		if b, ok := p.(*syntax.BraceExp); ok {
			braces++
			for _, elem := range b.Elems {
				inner, deeper := size(elem.Parts)
				all, braces = all+inner, braces+deeper
			}
		}
	}
	return all, braces
}

// literal is the short way for a word of one plain part.
func literal(w *syntax.Word) (string, bool) {
	if len(w.Parts) != 1 {
		return "", false
	}
	switch p := w.Parts[0].(type) {
	case *syntax.Lit:
		return p.Value, !strings.ContainsAny(p.Value, "\\*?[{") && !strings.HasPrefix(p.Value, "~")
	case *syntax.SglQuoted:
		return p.Value, !p.Dollar
	}
	return "", false
}

func (a *analyzer) wordParts(sc *scope, parts []syntax.WordPart) []field {
	var out []field
	for _, fields := range a.alternatives(sc, parts) {
		out = append(out, fields...)
	}
	return out
}

// alternatives expands the parts of one word in each of the ways in which it
// can come out.
func (a *analyzer) alternatives(sc *scope, parts []syntax.WordPart) [][]field {
	strands := []strand{{}}
	for i, p := range parts {
		strands = a.part(sc, strands, p, i == 0)
	}
	out := make([][]field, 0, len(strands))
	for i := range strands {
		strands[i].cut()
		out = append(out, strands[i].done)
		a.count += len(strands[i].done)
	}
	if a.count > MaxWords {
		a.opaque(ReasonTooMany, "words")
		return nil
	}
	return out
}

func (a *analyzer) part(sc *scope, strands []strand, part syntax.WordPart, first bool) []strand {
	each := func(f func(s *strand)) []strand {
		for i := range strands {
			f(&strands[i])
		}
		return strands
	}
	switch p := part.(type) {
	case *syntax.Lit:
		text, glob := unescape(p.Value)
		if first {
			text = a.tilde(sc, p.Value, text)
		}
		return each(func(s *strand) { s.add(text); s.now.glob = s.now.glob || glob })
	case *syntax.SglQuoted:
		text := p.Value
		if p.Dollar {
			text = ansiC(text)
		}
		return each(func(s *strand) { s.add(text) })
	case *syntax.DblQuoted:
		each(func(s *strand) { s.open = true })
		for _, inner := range p.Parts {
			strands = a.quoted(sc, strands, inner)
		}
		return strands
	case *syntax.ParamExp:
		return a.param(sc, strands, p, false)
	case *syntax.CmdSubst:
		return a.substituted(sc, strands, p, false)
	case *syntax.ProcSubst:
		names := names(p.Stmts)
		return each(func(s *strand) { s.unknown("/dev/fd/63"); s.now.from = append(s.now.from, names...) })
	case *syntax.ExtGlob:
		return each(func(s *strand) { s.add("*"); s.now.glob = true })
	}
	return each(func(s *strand) { s.unknown("$(())") })
}

func (a *analyzer) quoted(sc *scope, strands []strand, part syntax.WordPart) []strand {
	switch p := part.(type) {
	case *syntax.Lit:
		text := unescapeQuoted(p.Value)
		for i := range strands {
			strands[i].add(text)
		}
		return strands
	case *syntax.ParamExp:
		return a.param(sc, strands, p, true)
	case *syntax.CmdSubst:
		return a.substituted(sc, strands, p, true)
	}
	return a.part(sc, strands, part, false)
}

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
			text, used, err := expand.Format(nil, format, args)
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

// unescape removes backslashes from an unquoted literal, and reports whether it
// holds glob characters without one.
func unescape(s string) (string, bool) {
	if !strings.ContainsAny(s, "\\*?[") {
		return s, false
	}
	var b strings.Builder
	glob := false
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c == '\\' && i+1 < len(s):
			if i++; s[i] != '\n' {
				b.WriteByte(s[i])
			}
		case c == '*', c == '?', c == '[':
			glob = true
			b.WriteByte(c)
		default:
			b.WriteByte(c)
		}
	}
	text := b.String()
	return text, glob && text != "["
}

func unescapeQuoted(s string) string {
	if strings.IndexByte(s, '\\') < 0 {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] == '\\' && i+1 < len(s) && strings.IndexByte("$`\"\\\n", s[i+1]) >= 0 {
			if i++; s[i] != '\n' {
				b.WriteByte(s[i])
			}
			continue
		}
		b.WriteByte(s[i])
	}
	return b.String()
}

// ansiC decodes $'…'.
func ansiC(s string) string {
	text, _, err := expand.Format(nil, s, nil)
	if err != nil {
		return s
	}
	return text
}

// names lists the names of the simple commands directly in statements; it is
// what a substitution's text comes from.
func names(stmts []*syntax.Stmt) []string {
	var out []string
	for _, s := range stmts {
		syntax.Walk(s, func(n syntax.Node) bool {
			if len(out) >= 32 {
				return false
			}
			if call, ok := n.(*syntax.CallExpr); ok && len(call.Args) > 0 {
				if text, plain := literal(call.Args[0]); plain {
					out = append(out, base(text))
				} else {
					out = append(out, "?")
				}
			}
			_, inner := n.(*syntax.CmdSubst)
			return !inner
		})
	}
	return out
}

// base is the last component of a command's name.
func base(name string) string {
	if i := strings.LastIndexAny(name, "/\\"); i >= 0 {
		name = name[i+1:]
	}
	if len(name) > 4 && strings.EqualFold(name[len(name)-4:], ".exe") {
		name = name[:len(name)-4]
	}
	return name
}
