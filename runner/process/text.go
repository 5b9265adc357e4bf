package process

import (
	"strings"
	"unicode/utf8"
)

// Text makes b fit to be shown to people and models: invalid UTF-8 is
// replaced, and terminal escape sequences, control characters other than
// newline and tab, and the characters that reorder text are taken out. A
// lone carriage return becomes a newline, so that nothing can overwrite the
// start of a line. At most limit bytes are returned, with "…" at the end where
// something was cut; limit 0 means no limit. What a program reads must stay
// raw.
func Text(b []byte, limit int) string {
	if limit > 0 && len(b) > 4*limit+1<<16 {
		b = b[:4*limit+1<<16] // escapes are longer than what they leave behind
	}
	var out strings.Builder
	for i := 0; i < len(b); {
		r, size := utf8.DecodeRune(b[i:])
		switch {
		case r == 0x1b:
			i += escape(b[i:])
			continue
		case r == 0x9b: // the one-character form of ESC [
			i += size + control(b[i+size:])
			continue
		case r == '\r':
			if i+1 >= len(b) || b[i+1] != '\n' {
				out.WriteByte('\n')
			}
		case r == '\n' || r == '\t':
			out.WriteRune(r)
		case r < 0x20 || r >= 0x7f && r < 0xa0 || reorders(r):
		default:
			out.WriteRune(r) // invalid bytes come out as U+FFFD
		}
		i += size
	}
	return cut(strings.TrimSpace(out.String()), limit)
}

func cut(s string, limit int) string {
	const mark = "…"
	if limit <= 0 || len(s) <= limit {
		return s
	}
	n := max(limit-len(mark), 0)
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n] + mark
}

// escape returns the length of the escape sequence at the start of b.
func escape(b []byte) int {
	if len(b) < 2 {
		return 1
	}
	switch c := b[1]; {
	case c == '[':
		return 2 + control(b[2:])
	case c == ']' || c == 'P' || c == 'X' || c == '^' || c == '_':
		// A string ends with BEL or ESC \. One that does not end on its line
		// keeps its text: nothing that was written may vanish from view.
		for i := 2; i < len(b) && b[i] != '\n'; i++ {
			if b[i] == 0x07 {
				return i + 1
			}
			if b[i] == 0x1b && i+1 < len(b) && b[i+1] == '\\' {
				return i + 2
			}
		}
		return 2
	case c >= 0x20 && c <= 0x2f: // ESC, intermediates, final
		i := 1
		for i < len(b) && b[i] >= 0x20 && b[i] <= 0x2f {
			i++
		}
		return min(i+1, len(b))
	case c >= 0x30 && c <= 0x7e:
		return 2
	}
	return 1
}

// control returns the length of a control sequence's parameters, intermediates
// and final byte.
func control(b []byte) int {
	i := 0
	for i < len(b) && b[i] >= 0x20 && b[i] <= 0x3f {
		i++
	}
	if i < len(b) && b[i] >= 0x40 && b[i] <= 0x7e {
		i++
	}
	return i
}

func reorders(r rune) bool {
	return r >= 0x202a && r <= 0x202e || r >= 0x2066 && r <= 0x2069 || r == 0x200e || r == 0x200f || r == 0x061c
}
