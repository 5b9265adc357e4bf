package prompt

import "strings"

// placeholder names one part of a question.
type placeholder string

const (
	arguments placeholder = "ARGUMENTS"
	toolName  placeholder = "TOOL_NAME"
	toolInput placeholder = "TOOL_INPUT"
	userText  placeholder = "PROMPT"
	sessionID placeholder = "SESSION_ID"
	directory placeholder = "CWD"
)

// placeholders are those of the syntax, longer names before their beginnings.
func (s Syntax) placeholders() []placeholder {
	if s == ClaudeCode {
		return []placeholder{arguments}
	}
	return []placeholder{arguments, toolName, toolInput, userText, sessionID, directory}
}

// template is a hook's text with references in the place of placeholders.
type template struct {
	text string
	// parts are what it refers to, each once, in the order of the first use.
	parts []placeholder
}

// parse reads a hook's text. A placeholder ends where the word ends: $PROMPTED
// is text.
func parse(text string, s Syntax) template {
	var t template
	var out strings.Builder
	seen := map[placeholder]bool{}
	refer := func(p placeholder) {
		if !seen[p] {
			seen[p], t.parts = true, append(t.parts, p)
		}
		out.WriteString("[data " + string(p) + "]")
	}
	for {
		before, rest, found := strings.Cut(text, "$")
		out.WriteString(before)
		if !found {
			break
		}
		text = rest
		word := rest[:wordLen(rest)]
		known := false
		for _, p := range s.placeholders() {
			if word == string(p) {
				refer(p)
				text, known = rest[len(word):], true
				break
			}
		}
		if !known {
			out.WriteByte('$')
		}
	}
	if len(t.parts) == 0 {
		out.WriteString("\n\n")
		refer(arguments)
	}
	t.text = visible(out.String(), true)
	return t
}

func wordLen(s string) int {
	for i := range len(s) {
		c := s[i]
		if c != '_' && (c < '0' || c > '9') && (c|0x20 < 'a' || c|0x20 > 'z') {
			return i
		}
	}
	return len(s)
}
