package install

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// statement is a line of TOML that says something: the header of a table, or a
// key with its value, which may go on over more lines.
type statement struct {
	start, end int // without white space and comments around it
	header     bool
	array      bool // a header in double brackets
	key        []string
	value      string // as it is written
}

// scanner takes TOML apart as far as statements. It checks what it has to
// know to find their ends, and takes nothing that it does not understand.
type scanner struct {
	text string
	at   int
}

type tomlError struct {
	at   int
	what string
}

func scanTOML(text string) (list []statement, err error) {
	s := &scanner{text: text}
	for {
		s.space(true)
		if s.at == len(text) {
			return list, nil
		}
		st, bad := s.statement()
		if bad == nil {
			bad = s.lineEnd()
		}
		if bad != nil {
			return nil, fmt.Errorf("%w: line %d: %s; correct it first", ErrSettings, lineOf(text, bad.at), bad.what)
		}
		list = append(list, st)
	}
}

func lineOf(text string, at int) int { return 1 + strings.Count(text[:min(at, len(text))], "\n") }

func (s *scanner) bad(what string) *tomlError { return &tomlError{s.at, what} }

func (s *scanner) rest() string { return s.text[s.at:] }

// peek is the next byte, 0 at the end.
func (s *scanner) peek() byte {
	if s.at < len(s.text) {
		return s.text[s.at]
	}
	return 0
}

func (s *scanner) take(word string) bool {
	if strings.HasPrefix(s.rest(), word) {
		s.at += len(word)
		return true
	}
	return false
}

// space goes over white space and, where lines are asked for, newlines and
// comments.
func (s *scanner) space(lines bool) {
	for {
		switch c := s.peek(); {
		case c == ' ' || c == '\t' || lines && (c == '\n' || strings.HasPrefix(s.rest(), "\r\n")):
			s.at++
		case lines && c == '#':
			s.comment()
		default:
			return
		}
	}
}

func (s *scanner) comment() {
	if n := strings.IndexByte(s.rest(), '\n'); n >= 0 {
		s.at += n
	} else {
		s.at = len(s.text)
	}
}

// lineEnd is what may follow a statement on its line.
func (s *scanner) lineEnd() *tomlError {
	s.space(false)
	if s.peek() == '#' {
		s.comment()
	}
	if s.at < len(s.text) && s.peek() != '\n' && !strings.HasPrefix(s.rest(), "\r\n") {
		return s.bad("something stands behind the end of a value or header")
	}
	return nil
}

func (s *scanner) statement() (st statement, bad *tomlError) {
	st.start = s.at
	if s.take("[") {
		st.header, st.array = true, s.take("[")
		if st.key, bad = s.key(); bad != nil {
			return st, bad
		}
		end := "]"
		if st.array {
			end = "]]"
		}
		if !s.take(end) {
			return st, s.bad("a header does not end with " + end)
		}
		st.end = s.at
		return st, nil
	}
	if st.key, bad = s.key(); bad != nil {
		return st, bad
	}
	if !s.take("=") {
		return st, s.bad("a key is not followed by =")
	}
	s.space(false)
	from := s.at
	if bad = s.value(0); bad != nil {
		return st, bad
	}
	st.end, st.value = s.at, s.text[from:s.at]
	return st, nil
}

var bareKey = regexp.MustCompile(`\A[A-Za-z0-9_-]+`)

// key reads names with dots between them, and the white space around.
func (s *scanner) key() (key []string, bad *tomlError) {
	for {
		s.space(false)
		from := s.at
		switch c := s.peek(); {
		case c == '"' || c == '\'':
			if bad = s.line(c); bad != nil {
				return nil, bad
			}
			name, ok := unquoteTOML(s.text[from:s.at])
			if !ok {
				return nil, &tomlError{from, "a key has an escape that is not understood"}
			}
			key = append(key, name)
		default:
			name := bareKey.FindString(s.rest())
			if name == "" {
				return nil, s.bad("there is no key where one should be")
			}
			s.at += len(name)
			key = append(key, name)
		}
		s.space(false)
		if !s.take(".") {
			return key, nil
		}
	}
}

// line reads a string that ends on its line.
func (s *scanner) line(quote byte) *tomlError {
	from := s.at
	for s.at++; s.at < len(s.text); s.at++ {
		switch c := s.text[s.at]; {
		case c == quote:
			s.at++
			return nil
		case c == '\n' || c == '\r':
			return &tomlError{from, "a string does not end on its line"}
		case c == '\\' && quote == '"':
			s.at++
		}
	}
	s.at = len(s.text)
	return &tomlError{from, "a string does not end"}
}

// long reads a string in three quotation marks; two more may stand at its end.
func (s *scanner) long(marks string) *tomlError {
	from := s.at
	for s.at += len(marks); s.at < len(s.text); s.at++ {
		switch {
		case strings.HasPrefix(s.rest(), marks):
			s.at += len(marks)
			for i := 0; i < 2 && s.peek() == marks[0]; i++ {
				s.at++
			}
			return nil
		case s.text[s.at] == '\\' && marks[0] == '"':
			s.at++
		}
	}
	s.at = len(s.text)
	return &tomlError{from, "a string does not end"}
}

var (
	bareValue = regexp.MustCompile(`\A[A-Za-z0-9_+.:-]+`)
	dateFirst = regexp.MustCompile(`\A\d{4}-\d\d-\d\d \d\d:\d\d[0-9:.Z+-]*`)
)

func (s *scanner) value(depth int) *tomlError {
	if depth > maxDepth {
		return s.bad("it is nested too deep")
	}
	switch c := s.peek(); {
	case strings.HasPrefix(s.rest(), `"""`), strings.HasPrefix(s.rest(), `'''`):
		return s.long(s.rest()[:3])
	case c == '"' || c == '\'':
		return s.line(c)
	case c == '[':
		return s.list("]", func() *tomlError { return s.value(depth + 1) })
	case c == '{':
		return s.list("}", func() *tomlError {
			if _, bad := s.key(); bad != nil {
				return bad
			}
			if !s.take("=") {
				return s.bad("a key is not followed by =")
			}
			s.space(false)
			return s.value(depth + 1)
		})
	}
	word := dateFirst.FindString(s.rest())
	if word == "" {
		word = bareValue.FindString(s.rest())
	}
	if word == "" {
		return s.bad("there is no value where one should be")
	}
	s.at += len(word)
	return nil
}

// list reads an array or an inline table.
func (s *scanner) list(end string, one func() *tomlError) *tomlError {
	from := s.at
	s.at++
	for {
		s.space(true)
		switch {
		case s.take(end):
			return nil
		case s.at == len(s.text):
			return &tomlError{from, "there is no " + end + " for it"}
		}
		if bad := one(); bad != nil {
			return bad
		}
		if s.space(true); !s.take(",") && s.peek() != end[0] && s.at < len(s.text) {
			return s.bad("neither a comma nor " + end + " follows")
		}
	}
}

// tomlString is the text of a string as it is written on one line; empty for
// what is none.
func tomlString(raw string) string {
	if strings.HasPrefix(raw, `"""`) || strings.HasPrefix(raw, `'''`) {
		return ""
	}
	s, _ := unquoteTOML(raw)
	return s
}

func unquoteTOML(raw string) (string, bool) {
	if len(raw) < 2 {
		return "", false
	}
	switch raw[0] {
	case '\'':
		return raw[1 : len(raw)-1], true
	case '"':
		s, err := strconv.Unquote(raw) // its escapes are TOML's, and some more
		return s, err == nil
	}
	return "", false
}
