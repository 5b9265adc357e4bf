package shell

import (
	"strings"

	"mvdan.cc/sh/v3/expand"
	"mvdan.cc/sh/v3/syntax"
)

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
	// Without a configuration of its own the library takes one that all
	// callers share, and writes to it.
	text, _, err := expand.Format(new(expand.Config), s, nil)
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
		walk(s, func(n syntax.Node) bool {
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
