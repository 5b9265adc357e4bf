package answer

import (
	"strconv"
	"strings"
	"unicode"
)

// maxLevels is how many layers of JSON strings are looked through: JSON inside
// a string inside a string.
const maxLevels = 4

// echo knows what was sent, as it stands there and with one layer of escapes
// after the other taken off, without white space.
type echo struct{ levels []string }

func newEcho(sent []string) echo {
	return echo{levels(strings.Join(sent, "\n"))}
}

// holds reports whether the object stands in what was sent.
func (e echo) holds(object string) bool {
	for _, want := range levels(object)[:2] {
		for _, have := range e.levels {
			if strings.Contains(have, want) {
				return true
			}
		}
	}
	return false
}

func levels(text string) []string {
	list := make([]string, 0, maxLevels)
	for range maxLevels {
		list = append(list, squeeze(text))
		text = unescape(text)
	}
	return list
}

// squeeze drops white space.
func squeeze(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsSpace(r) {
			return -1
		}
		return r
	}, s)
}

// unescape takes one layer of JSON escapes off; what is no escape stays.
func unescape(s string) string {
	if strings.IndexByte(s, '\\') < 0 {
		return s
	}
	var out strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] != '\\' || i+1 == len(s) {
			out.WriteByte(s[i])
			continue
		}
		i++
		switch s[i] {
		case 'n', 'r', 't', 'b', 'f':
			out.WriteByte(' ')
		case 'u':
			if i+4 < len(s) {
				if v, err := strconv.ParseUint(s[i+1:i+5], 16, 16); err == nil {
					out.WriteRune(rune(v))
					i += 4
					continue
				}
			}
			out.WriteString(`\u`)
		default:
			out.WriteByte(s[i])
		}
	}
	return out.String()
}
