package trust

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// script is shell text, and the places in it that name measured files.
type script struct {
	text  string
	edits []textEdit // in the order of the text, not overlapping
}

// textEdit replaces text[start:end] by words.
type textEdit struct {
	start, end int
	pieces     []piece
}

// render puts the text together, with each piece as the function writes it.
func (s *script) render(write func(piece) (string, error)) (string, error) {
	var b strings.Builder
	at := 0
	for _, e := range s.edits {
		b.WriteString(s.text[at:e.start])
		for i, p := range e.pieces {
			w, err := write(p)
			if err != nil {
				return "", err
			}
			if i > 0 {
				b.WriteByte(' ')
			}
			b.WriteString(quote(w))
		}
		at = e.end
	}
	b.WriteString(s.text[at:])
	return b.String(), nil
}

// plain is what a shell takes literally without quotes.
var plain = regexp.MustCompile(`^[A-Za-z0-9_/.,:@%+-]+$`)

// quote makes one word of s for any POSIX shell.
func quote(s string) string {
	if plain.MatchString(s) {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

// parseShell reads text as /bin/sh may: as POSIX has it, or else as bash, which
// is /bin/sh in places. Text that is neither could do anything.
func parseShell(text string) (*syntax.File, error) {
	var first error
	for _, v := range []syntax.LangVariant{syntax.LangPOSIX, syntax.LangBash} {
		f, err := syntax.NewParser(syntax.Variant(v)).Parse(strings.NewReader(text), "")
		if err == nil {
			return f, nil
		}
		if first == nil {
			first = err
		}
	}
	return nil, fmt.Errorf("%w: the shell text cannot be read: %w", ErrDefinition, first)
}

// scope is what a shell text says about its own names.
type scope struct {
	functions map[string]bool
	assigned  map[string]bool
	// moves: it changes its directory, so that relative names cannot be told.
	moves bool
	// reads: it reads other text, which may define functions.
	reads bool
	// highest descriptor that it names
	highest int
	notes   []string
}

// scopeOf looks through a text once.
func scopeOf(f *syntax.File) scope {
	s := scope{functions: map[string]bool{}, assigned: map[string]bool{}}
	syntax.Walk(f, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.FuncDecl:
			if n.Name != nil { // the parser takes some that no shell does
				s.functions[n.Name.Value] = true
			}
		case *syntax.Assign:
			if n.Name == nil {
				break
			}
			s.assigned[n.Name.Value] = true
			if redirectsCode(n.Name.Value) {
				s.notes = append(s.notes, "it sets "+n.Name.Value+", which changes what programs run")
			}
		case *syntax.WordIter:
			s.assigned[n.Name.Value] = true
		case *syntax.Redirect:
			if n.N != nil {
				if fd, err := strconv.Atoi(n.N.Value); err == nil {
					s.highest = max(s.highest, fd)
				}
			}
		case *syntax.CallExpr:
			if len(n.Args) == 0 {
				break
			}
			switch n.Args[0].Lit() {
			case "cd", "pushd", "popd":
				s.moves = true
			case ".", "source", "eval", "alias":
				s.reads = true
			case "read", "unset", "getopts", "mapfile", "readarray", "printf", "export", "readonly", "local", "declare", "typeset":
				for _, w := range n.Args[1:] {
					name, _, _ := strings.Cut(w.Lit(), "=")
					s.assigned[name] = true
				}
			}
		}
		return true
	})
	return s
}

// redirectsCode says whether a variable makes programs run other code.
func redirectsCode(name string) bool {
	switch name {
	case "PATH", "IFS", "ENV", "BASH_ENV", "NODE_OPTIONS", "NODE_PATH", "PERL5OPT", "PERL5LIB", "RUBYOPT", "RUBYLIB":
		return true
	}
	return strings.HasPrefix(name, "LD_") || strings.HasPrefix(name, "DYLD_") || strings.HasPrefix(name, "PYTHON") || strings.HasPrefix(name, "GIT_")
}

// static is what a word of the text will be, as far as that is known.
func (s scope) static(w *syntax.Word, source string, vars map[string]string) word {
	written := word{text: source[w.Pos().Offset():w.End().Offset()]}
	if w.Lit() == "[" {
		return word{"[", true}
	}
	var b strings.Builder
	for i, part := range w.Parts {
		if !s.part(&b, part, vars, false, i == 0) {
			return written
		}
	}
	return word{b.String(), true}
}

func (s scope) part(b *strings.Builder, part syntax.WordPart, vars map[string]string, quoted, first bool) bool {
	switch p := part.(type) {
	case *syntax.Lit:
		return literal(b, p.Value, quoted, first)
	case *syntax.SglQuoted:
		b.WriteString(p.Value)
		return !p.Dollar
	case *syntax.DblQuoted:
		for _, inner := range p.Parts {
			if !s.part(b, inner, vars, true, false) {
				return false
			}
		}
		return !p.Dollar
	case *syntax.ParamExp:
		if p.Param == nil || p.Excl || p.Length || p.Width || p.IsSet || p.Index != nil || p.Slice != nil || p.Repl != nil || p.Names != 0 || p.Exp != nil || len(p.Modifiers) > 0 || p.Flags != nil {
			return false
		}
		v, ok := vars[p.Param.Value]
		if !ok || s.assigned[p.Param.Value] || !quoted && strings.ContainsAny(v, " \t\n*?[\\") {
			return false
		}
		b.WriteString(v)
		return true
	}
	return false
}

// literal takes the quoting off the text between other parts of a word.
func literal(b *strings.Builder, v string, quoted, first bool) bool {
	for i := 0; i < len(v); i++ {
		c := v[i]
		switch {
		case c == '\\' && i+1 < len(v):
			i++
			if v[i] == '\n' {
				continue
			}
			if quoted && !strings.ContainsRune("$`\"\\", rune(v[i])) {
				b.WriteByte('\\')
			}
			b.WriteByte(v[i])
			continue
		case !quoted && strings.IndexByte("*?[]{}", c) >= 0, !quoted && c == '~' && (i == 0 && first || i > 0 && v[i-1] == ':'):
			return false // the shell may make other words of it
		}
		b.WriteByte(c)
	}
	return true
}
