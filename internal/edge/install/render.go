package install

import (
	"encoding/json"
	"strings"
)

// value is JSON to be written in the style of its surroundings: an object
// (members), an array (elements) or a literal.
type value struct {
	members  []member
	elements []value
	literal  string
}

type member struct {
	name  string
	value value
}

// text is a JSON string literal. Nothing is escaped but what must be.
func text(s string) value { return value{literal: quoted(s)} }

func quoted(s string) string {
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(s); err != nil {
		return `""` // a string always encodes
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// style is how a value is laid out.
type style struct {
	compact bool   // on one line
	indent  string // of the line that the value begins on
	unit    string // one more level
	newline string
}

func (v value) render(s style) string {
	var open, closing string
	var parts []string
	inner := s
	inner.indent += s.unit
	switch {
	case v.members != nil:
		open, closing = "{", "}"
		for _, m := range v.members {
			parts = append(parts, quoted(m.name)+": "+m.value.render(inner))
		}
	case v.elements != nil:
		open, closing = "[", "]"
		for _, e := range v.elements {
			parts = append(parts, e.render(inner))
		}
	default:
		return v.literal
	}
	if s.compact || len(parts) == 0 {
		return open + strings.Join(parts, ", ") + closing
	}
	line := s.newline + inner.indent
	return open + line + strings.Join(parts, ","+line) + s.newline + s.indent + closing
}
