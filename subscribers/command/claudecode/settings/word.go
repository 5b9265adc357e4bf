package settings

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// WordText is a word of a command line as a shell would pass it on: without its
// quotes and escapes. What is only known when the shell runs (variables,
// substitutions, braces that make several words of one) becomes the text
// unknown.
func WordText(w *syntax.Word, unknown string) string {
	var b strings.Builder
	for _, part := range w.Parts {
		switch part := part.(type) {
		case *syntax.Lit:
			if strings.ContainsRune(part.Value, '{') && (strings.ContainsRune(part.Value, ',') || strings.Contains(part.Value, "..")) {
				return unknown
			}
			b.WriteString(unescaped(part.Value, ""))
		case *syntax.SglQuoted:
			if part.Dollar && strings.ContainsRune(part.Value, '\\') {
				b.WriteString(unknown)
				continue
			}
			b.WriteString(part.Value)
		case *syntax.DblQuoted:
			for _, inner := range part.Parts {
				if lit, ok := inner.(*syntax.Lit); ok {
					b.WriteString(unescaped(lit.Value, "$`\"\\\n"))
				} else {
					b.WriteString(unknown)
				}
			}
		default:
			b.WriteString(unknown)
		}
	}
	return b.String()
}

// unescaped takes out the backslashes that escape something: anything, or only
// some characters.
func unescaped(s, only string) string {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] != '\\' || i+1 == len(s) || only != "" && strings.IndexByte(only, s[i+1]) < 0 {
			b.WriteByte(s[i])
			continue
		}
		if i++; s[i] != '\n' {
			b.WriteByte(s[i])
		}
	}
	return b.String()
}
