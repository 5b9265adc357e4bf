package install

import (
	"bytes"
	"errors"
	"fmt"
	"strings"

	"github.com/tailscale/hujson"
)

// ErrSettings is wrapped by every error about a settings file that cannot be
// edited. The file is as it was.
var ErrSettings = errors.New("the settings file cannot be edited")

const (
	maxSettings = 4 << 20 // bytes
	maxDepth    = 100
)

// document is a settings file as text, edited by splicing. Each edit parses it
// anew, so that offsets are never stale.
type document struct {
	text    []byte
	bom     bool
	root    hujson.Value
	newline string
	unit    string

	format jsonFormat
	agent  string
	binary string // may be empty

	// argvs keeps what command lines were split into: an installation looks
	// at all of them once for each event.
	argvs map[string][]string
	// listed are the entries of the text as it is; nil when not yet looked for.
	listed []entry
}

// byteOrderMark is what some editors put in front.
const byteOrderMark = "\ufeff"

// parse reads an agent's settings; an empty file is an empty object.
func parse(b []byte, format jsonFormat, agent, binary string) (*document, error) {
	if len(b) > maxSettings {
		return nil, fmt.Errorf("%w: it has %d bytes, at most %d", ErrSettings, len(b), maxSettings)
	}
	d := &document{newline: "\n", unit: "  ", format: format, agent: agent, binary: binary, argvs: map[string][]string{}}
	d.text, d.bom = bytes.CutPrefix(b, []byte(byteOrderMark))
	if len(bytes.TrimSpace(d.text)) == 0 {
		d.text = []byte("{}\n")
	}
	if bytes.Contains(d.text, []byte("\r\n")) {
		d.newline = "\r\n"
	}
	if err := d.set(d.text); err != nil {
		return nil, err
	}
	if items := d.items(d.root); len(items.list) > 0 {
		if before := d.text[items.list[0].before:items.list[0].start]; bytes.Contains(before, []byte("\n")) {
			if indent := d.lineIndent(items.list[0].start); indent != "" {
				d.unit = indent
			}
		}
	}
	return d, nil
}

// set replaces the text.
func (d *document) set(text []byte) error {
	if tooDeep(text) {
		return fmt.Errorf("%w: it is nested more than %d levels deep", ErrSettings, maxDepth)
	}
	root, err := hujson.Parse(text)
	if err != nil {
		return fmt.Errorf("%w: it is not JSON (%w); correct it first", ErrSettings, err)
	}
	d.text, d.root, d.listed = text, root, nil
	return nil
}

// bytes is the file's new content.
func (d *document) bytes() []byte {
	if d.bom {
		return append([]byte(byteOrderMark), d.text...)
	}
	return d.text
}

// span is one member or element: its text from start to end, with the white
// space and comments around it from before to after.
type span struct{ before, start, end, after int }

// spans are the contents of the object or array between its two brackets.
type spans struct {
	open, closing int
	list          []span
	trailing      bool // a comma after the last one
}

func (d *document) items(v hujson.Value) spans {
	s := spans{open: v.StartOffset, closing: v.EndOffset - 1}
	add := func(first, last hujson.Value) {
		s.list = append(s.list, span{
			before: first.StartOffset - len(first.BeforeExtra), start: first.StartOffset,
			end: last.EndOffset, after: last.EndOffset + len(last.AfterExtra),
		})
	}
	switch c := v.Value.(type) {
	case *hujson.Object:
		for _, m := range c.Members {
			add(m.Name, m.Value)
		}
	case *hujson.Array:
		for _, e := range c.Elements {
			add(e, e)
		}
	}
	if n := len(s.list); n > 0 {
		s.trailing = d.text[s.list[n-1].after] == ','
	}
	return s
}

// add appends v to the object or array at c; name is empty for an array.
// compact is the style where c is empty and has none of its own.
func (d *document) add(c hujson.Value, name string, v value, compact bool) error {
	s := d.items(c)
	put := func(st style) string {
		if name != "" {
			return quoted(name) + ": " + v.render(st)
		}
		return v.render(st)
	}
	st := style{compact: compact, unit: d.unit, newline: d.newline}
	if len(s.list) == 0 {
		comments := trimRight(d.text[s.open+1 : s.closing])
		if len(comments) > 0 {
			st.compact = false // it may run to the end of its line
		}
		if st.compact {
			return d.set(join(d.text[:s.open+1], []byte(put(st)), d.text[s.closing:]))
		}
		outer := d.newline + d.lineIndent(s.open)
		st.indent = d.lineIndent(s.open) + d.unit
		return d.set(join(d.text[:s.open+1], comments, []byte(d.newline+st.indent+put(st)+outer), d.text[s.closing:]))
	}
	last := s.list[len(s.list)-1]
	from, comma, tail := last.end, ",", ""
	if s.trailing {
		from, comma, tail = last.after+1, "", ","
	}
	comments := trimRight(d.text[from:s.closing])
	space := d.text[from+len(comments) : s.closing]
	separator := " "
	st.compact = len(comments) == 0 && !bytes.Contains(d.text[last.before:last.start], []byte("\n"))
	if !st.compact {
		st.indent = d.lineIndent(last.start)
		separator = d.newline + st.indent
	}
	return d.set(join(d.text[:from], []byte(comma), comments, []byte(separator+put(st)+tail), space, d.text[s.closing:]))
}

// remove takes the i-th member or element out of c. Comments around it stay.
func (d *document) remove(c hujson.Value, i int) error {
	s := d.items(c)
	it, n := s.list[i], len(s.list)
	comments := trimRight(d.text[it.before:it.start])
	switch {
	case n == 1:
		rest := d.text[it.end:s.closing]
		if s.trailing {
			rest = join(d.text[it.end:it.after], d.text[it.after+1:s.closing])
		}
		if len(comments) == 0 && len(bytes.TrimSpace(rest)) == 0 {
			rest = nil
		}
		return d.set(join(d.text[:it.before], d.upTo(comments, rest), rest, d.text[s.closing:]))
	case i == n-1 && !s.trailing:
		rest := d.text[it.end:]
		return d.set(join(d.text[:s.list[i-1].after], d.upTo(comments, rest), rest))
	}
	rest := d.text[it.after+1:]
	behind := d.text[it.end:it.after]
	if i == n-1 {
		rest = join(behind, rest)
		return d.set(join(d.text[:it.before], d.upTo(comments, rest), rest))
	}
	next := s.list[i+1]
	if i == 0 && len(comments) == 0 && len(bytes.TrimSpace(behind)) == 0 && len(bytes.TrimSpace(d.text[next.before:next.start])) == 0 {
		return d.set(join(d.text[:it.start], d.text[next.start:])) // the first keeps its place
	}
	if behind = bytes.TrimSpace(behind); len(behind) > 0 {
		rest = join(d.upTo(behind, rest), rest)
	}
	return d.set(join(d.text[:it.before], d.upTo(comments, rest), rest))
}

// replace writes v where old stands.
func (d *document) replace(old hujson.Value, v value) error {
	st := style{
		compact: !bytes.Contains(d.text[old.StartOffset:old.EndOffset], []byte("\n")),
		indent:  d.lineIndent(old.StartOffset), unit: d.unit, newline: d.newline,
	}
	return d.set(join(d.text[:old.StartOffset], []byte(v.render(st)), d.text[old.EndOffset:]))
}

// upTo returns comments so that rest can follow: a comment that runs to the
// end of its line must not swallow it.
func (d *document) upTo(comments, rest []byte) []byte {
	if len(comments) == 0 {
		return nil
	}
	if next := bytes.TrimLeft(rest, " \t"); len(next) > 0 && (next[0] == '\n' || next[0] == '\r') {
		return comments
	}
	return join(comments, []byte(d.newline))
}

// lineIndent is the white space at the beginning of the line with offset at.
func (d *document) lineIndent(at int) string {
	line := d.text[bytes.LastIndexByte(d.text[:at], '\n')+1 : at]
	return string(line[:len(line)-len(bytes.TrimLeft(line, " \t"))])
}

func trimRight(b []byte) []byte { return bytes.TrimRight(b, " \t\r\n") }

func join(parts ...[]byte) []byte { return bytes.Join(parts, nil) }

// find returns the index of the member with that name, or -1; twice the same
// name is an error, since programs differ in which one they take.
func find(o *hujson.Object, name string) (int, error) {
	found := -1
	for i, m := range o.Members {
		if literal, ok := m.Name.Value.(hujson.Literal); ok && literal.String() == name {
			if found >= 0 {
				return -1, fmt.Errorf("%w: it has the key %q twice", ErrSettings, name)
			}
			found = i
		}
	}
	return found, nil
}

// tooDeep counts brackets outside strings and comments, before a parser that
// recurses sees them.
func tooDeep(b []byte) bool {
	depth := 0
	for i := 0; i < len(b); i++ {
		switch b[i] {
		case '{', '[':
			if depth++; depth > maxDepth {
				return true
			}
		case '}', ']':
			depth--
		case '"':
			for i++; i < len(b) && b[i] != '"'; i++ {
				if b[i] == '\\' {
					i++
				}
			}
		case '/':
			end := "\n"
			if strings.HasPrefix(string(b[i:min(i+2, len(b))]), "/*") {
				end = "*/"
			}
			if n := bytes.Index(b[i:], []byte(end)); n >= 0 {
				i += n + len(end) - 1
			} else {
				return false
			}
		}
	}
	return false
}
