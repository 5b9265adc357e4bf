package shell

import (
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
