package prompt

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// visible writes every character that people do not see as a \u escape of
// JSON, so that hidden text shows and a JSON document stays what it was.
// Invalid bytes become U+FFFD. With lines set, line breaks and tabs stay.
func visible(s string, lines bool) string {
	clean := true
	for _, r := range s {
		if r == utf8.RuneError || unseen(r, lines) {
			clean = false
			break
		}
	}
	if clean {
		return s
	}
	var out strings.Builder
	for _, r := range s {
		switch {
		case !unseen(r, lines):
			out.WriteRune(r)
		case r > 0xffff:
			high, low := utf16.EncodeRune(r)
			fmt.Fprintf(&out, `\u%04x\u%04x`, high, low)
		default:
			fmt.Fprintf(&out, `\u%04x`, r)
		}
	}
	return out.String()
}

// unseen reports whether r is anything but a letter, mark, digit, sign or plain
// space that shows: control and format characters (bidirectional, zero-width,
// tags), other spaces and line separators, private use and unassigned ones,
// variation selectors, and letters that are made to be invisible.
func unseen(r rune, lines bool) bool {
	if r < utf8.RuneSelf {
		return (r < ' ' || r == 0x7f) && !(lines && (r == '\n' || r == '\t'))
	}
	return !unicode.IsPrint(r) || r == 0x2800 ||
		unicode.In(r, unicode.Variation_Selector, unicode.Other_Default_Ignorable_Code_Point)
}
