package shell

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"github.com/grapnel-dev/grapnel/subscribers/policy/shell/place"
)

// redirects reads the redirections of a statement; in is nil when standard
// input is left alone.
func (a *analyzer) redirects(sc *scope, s *syntax.Stmt) (redirs []*Redirect, in *input) {
	for _, r := range s.Redirs {
		var from []string
		if r.Word != nil {
			from = a.inner(sc, r.Word)
		}
		switch r.Op {
		case syntax.Hdoc, syntax.DashHdoc:
			in = &input{here: true, from: from}
			if r.Hdoc != nil {
				in.from = append(in.from, a.inner(sc, r.Hdoc)...)
				in.text, in.known = a.document(sc, r)
			} else {
				in.known = true
			}
			continue
		case syntax.WordHdoc:
			in = &input{here: true, from: from}
			fields := a.word(sc, &syntax.Word{Parts: []syntax.WordPart{&syntax.DblQuoted{Parts: unquote(r.Word)}}})
			if len(fields) == 1 && !fields[0].dynamic {
				in.text, in.known = fields[0].text, true
			}
			continue
		}
		op, appends := place.Write, false
		switch r.Op {
		case syntax.RdrIn:
			op = place.Read
		case syntax.AppOut, syntax.RdrInOut:
			appends = true
		case syntax.DplIn, syntax.DplOut:
			if text, plain := literal(r.Word); plain && strings.Trim(text, "0123456789-") == "" {
				continue
			}
			if r.Op == syntax.DplIn {
				continue
			}
		}
		if r.Op.String() == "&>>" {
			appends = true
		}
		for _, f := range a.word(sc, r.Word) {
			if quiet(f.text) && !f.dynamic {
				continue
			}
			p := a.path(sc, f, op)
			redirs = append(redirs, &Redirect{Op: op, Append: appends, Target: p})
			if op == place.Read {
				in = &input{file: p.Abs, from: f.from}
			}
		}
	}
	a.script.Redirects = append(a.script.Redirects, redirs...)
	return redirs, in
}

// document is the text of a here-document, if it is known.
func (a *analyzer) document(sc *scope, r *syntax.Redirect) (string, bool) {
	if len(r.Hdoc.Parts) == 1 {
		if lit, ok := r.Hdoc.Parts[0].(*syntax.Lit); ok {
			return lit.Value, true
		}
	}
	strands := []strand{{}}
	for _, p := range r.Hdoc.Parts {
		strands = a.quoted(sc, strands, p)
	}
	if len(strands) != 1 || strands[0].now.dynamic {
		return "", false
	}
	return strands[0].now.text, true
}

// unquote makes the parts of a word fit into double quotes: a here-string is
// not split.
func unquote(w *syntax.Word) []syntax.WordPart {
	var out []syntax.WordPart
	for _, p := range w.Parts {
		switch p := p.(type) {
		case *syntax.DblQuoted:
			out = append(out, p.Parts...)
		default:
			out = append(out, p)
		}
	}
	return out
}

// quiet knows the files that hold nothing.
func quiet(p string) bool {
	switch p {
	case "/dev/null", "/dev/stdin", "/dev/stdout", "/dev/stderr", "/dev/tty", "/dev/zero", "/dev/random", "/dev/urandom", "-", "NUL":
		return true
	}
	return strings.HasPrefix(p, "/dev/fd/") || strings.HasPrefix(p, "/dev/pts/")
}

// linked replaces the beginning of a path that is a link which the script
// itself has made: it is not on the file system yet.
func (a *analyzer) linked(sc *scope, text string) string {
	if len(a.links) == 0 {
		return text
	}
	at := sc.abs(text)
	for range 8 {
		found := false
		for link, target := range a.links {
			if rest, ok := strings.CutPrefix(at, link); ok && (strings.HasPrefix(rest, "/") || rest == "" && strings.HasSuffix(text, "/")) {
				at, text, found = target+rest, target+rest, true
				break
			}
		}
		if !found {
			break
		}
	}
	return text
}

// path makes a path of a word.
func (a *analyzer) path(sc *scope, f field, op place.Op) *place.Path {
	if text := a.linked(sc, f.text); text != f.text {
		f.prefix += len(text) - len(f.text)
		if f.text = text; f.prefix < 0 || f.prefix > len(text) {
			f.prefix = 0
		}
	} else if op != place.Delete && len(a.links) > 0 && !f.dynamic {
		if target, ok := a.links[sc.abs(f.text)]; ok {
			f.text = target + "/"
		}
	}
	switch {
	case f.dynamic:
		known := f.text[:f.prefix]
		i := strings.LastIndexByte(known, '/')
		if i < 0 || strings.Trim(known[:i+1], "./") == "" && !strings.HasPrefix(known, "/") {
			p := a.resolver.Path(f.text, "", op)
			p.Unknown, p.Abs = true, ""
			return p
		}
		p := a.resolver.GlobPath(known[:i+1]+"*", sc.dir, op)
		p.Raw, p.Partial = f.text, true
		return p
	case f.glob:
		return a.resolver.GlobPath(f.text, sc.dir, op)
	}
	return a.resolver.Path(f.text, sc.dir, op)
}
