package redact

import (
	"bytes"
	"sort"
)

// view is the input as rules see it: each escape is the one byte that it
// stands for, and each marker of an earlier run is one byte that no secret
// consists of. It remembers where each of its bytes came from.
type view struct {
	b     []byte
	jumps []jump
	// parent is the view that this one was decoded from; nil means the input.
	parent *view
	// escapes says that there were escapes, and so perhaps more of them below.
	escapes bool
}

// jump says that from view offset to on, the source offset is from + (i-to).
type jump struct{ to, from int }

// unit stands for something that is no text: a marker, or a character outside
// ASCII that was written as an escape. It occurs in no valid UTF-8.
const unit = 0xFF

func onlyUnits(b []byte) bool {
	for _, c := range b {
		if c != unit {
			return false
		}
	}
	return true
}

// newView makes the view of b in which markers are units, and, when decode is
// set, escapes are decoded too.
func newView(b []byte, parent *view, decode bool) *view {
	v := &view{parent: parent}
	stops := "["
	if decode {
		stops = `[\`
	}
	if !bytes.ContainsAny(b, stops) {
		v.b = b
		return v
	}
	v.b = make([]byte, 0, len(b))
	for i := 0; i < len(b); {
		n := bytes.IndexAny(b[i:], stops)
		if n < 0 {
			v.b = append(v.b, b[i:]...)
			break
		}
		v.b = append(v.b, b[i:i+n]...)
		i += n
		if b[i] == '[' {
			if n := markerLen(b[i:]); n > 0 {
				v.put(unit, i, n)
				i += n
			} else {
				v.b = append(v.b, '[')
				i++
			}
			continue
		}
		c, n := unescape(b[i:])
		v.put(c, i, n)
		i += n
		v.escapes = v.escapes || n > 1
	}
	return v
}

// put appends c, which stands for n source bytes at from.
func (v *view) put(c byte, from, n int) {
	v.b = append(v.b, c)
	if n > 1 {
		v.jumps = append(v.jumps, jump{len(v.b), from + n})
	}
}

// source maps an offset in v to the input.
func (v *view) source(i int) int {
	if n := sort.Search(len(v.jumps), func(n int) bool { return v.jumps[n].to > i }); n > 0 {
		j := v.jumps[n-1]
		i = j.from + i - j.to
	}
	if v.parent != nil {
		return v.parent.source(i)
	}
	return i
}

// unescape reads the JSON escape at the start of b, a backslash, and returns
// the byte that it stands for and how long it is. What is no escape is a
// backslash.
func unescape(b []byte) (byte, int) {
	if len(b) < 2 {
		return '\\', 1
	}
	switch b[1] {
	case '"', '\\', '/':
		return b[1], 2
	case 'b', 'f', 'n', 'r', 't':
		return '\n', 2 // all of them end a word
	case 'u':
		if len(b) < 6 {
			return '\\', 1
		}
		v := 0
		for _, c := range b[2:6] {
			d := hexDigit(c)
			if d < 0 {
				return '\\', 1
			}
			v = v<<4 | d
		}
		switch {
		case v < 0x20 || v == 0x7f:
			return '\n', 6
		case v < 0x7f:
			return byte(v), 6
		}
		return unit, 6
	}
	return '\\', 1
}

func hexDigit(c byte) int {
	switch {
	case c >= '0' && c <= '9':
		return int(c - '0')
	case c|0x20 >= 'a' && c|0x20 <= 'f':
		return int(c|0x20-'a') + 10
	}
	return -1
}

const (
	markerOpen = "[redacted:"
	tagLen     = 8
)

// markerLen is the length of the marker at the start of b, 0 if there is none.
func markerLen(b []byte) int {
	if len(b) < len(markerOpen) || string(b[:len(markerOpen)]) != markerOpen {
		return 0
	}
	i := len(markerOpen)
	for i < len(b) && b[i] != ':' && i-len(markerOpen) <= maxID {
		i++
	}
	end := i + 1 + tagLen
	if end >= len(b) || b[i] != ':' || b[end] != ']' || !validID(string(b[len(markerOpen):i])) {
		return 0
	}
	for _, c := range b[i+1 : end] {
		if hexDigit(c) < 0 || c >= 'A' && c <= 'F' {
			return 0
		}
	}
	return end + 1
}
