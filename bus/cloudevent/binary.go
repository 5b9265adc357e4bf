package cloudevent

import (
	"strings"
	"unicode/utf8"

	"github.com/grapnel-dev/grapnel/bus/hook"
)

const prefix = "ce-"

// Encode returns the event in binary mode: headers and body. The header map
// has lower-case names; a NATS message takes it as it is.
func Encode(e hook.Event) (header map[string][]string, body []byte, err error) {
	list, err := attributes(e)
	if err != nil {
		return nil, nil, err
	}
	body, err = EncodeData(e)
	if err != nil {
		return nil, nil, err
	}
	// One backing array for all values: this runs on every tool call.
	values := make([]string, len(list))
	header = make(map[string][]string, len(list))
	for i, a := range list {
		values[i] = escape(a.value)
		header[headerName(a.name)] = values[i : i+1 : i+1]
	}
	return header, body, nil
}

// headerName avoids building the common names anew for each event.
func headerName(attr string) string {
	switch attr {
	case "specversion":
		return "ce-specversion"
	case "id":
		return "ce-id"
	case "source":
		return "ce-source"
	case "type":
		return "ce-type"
	case "datacontenttype":
		return "ce-datacontenttype"
	case "subject":
		return "ce-subject"
	case "time":
		return "ce-time"
	case "sessionid":
		return "ce-sessionid"
	case "correlationid":
		return "ce-correlationid"
	case "expirytime":
		return "ce-expirytime"
	}
	return prefix + attr
}

// IsBinary reports whether the headers hold a binary-mode event, in any case
// of letters.
func IsBinary(header map[string][]string) bool {
	for k := range header {
		if len(k) == len("ce-specversion") && strings.EqualFold(k, "ce-specversion") {
			return true
		}
	}
	return false
}

// Decode reads a binary-mode event. Headers that do not begin with "ce-" are
// passed over. The error wraps [ErrEvent].
func Decode(header map[string][]string, body []byte) (hook.Event, error) {
	e, err := DecodeAttributes(header)
	if err != nil {
		return e, err
	}
	return e, DecodeData(&e, body)
}

// DecodeAttributes is Decode without the data: Data and Raw stay empty.
func DecodeAttributes(header map[string][]string) (hook.Event, error) {
	var e hook.Event
	var version, mixed bool
	for k, values := range header {
		if len(k) <= len(prefix) || !strings.EqualFold(k[:len(prefix)], prefix) {
			continue
		}
		name := lower(k[len(prefix):])
		mixed = mixed || k[:len(prefix)] != prefix || k[len(prefix):] != name
		if len(values) != 1 {
			return e, bad("attribute %.40q is given more than once", name)
		}
		version = version || name == "specversion"
		value, err := unescape(values[0])
		if err != nil {
			return e, bad("attribute %.40q: %v", name, err)
		}
		if err := set(&e, attribute{name, value}); err != nil {
			return e, err
		}
	}
	// Names that are all lower case are different ones, since they are keys of
	// a map.
	if mixed {
		if name, twice := repeated(header); twice {
			return e, bad("attribute %.40q is given more than once", name)
		}
	}
	if !version {
		return e, bad("it has no specversion")
	}
	return e, check(e)
}

// lower folds A-Z alone: strings.ToLower makes an ASCII k of the Kelvin sign.
func lower(s string) string {
	return strings.Map(func(r rune) rune {
		if r >= 'A' && r <= 'Z' {
			return r + 'a' - 'A'
		}
		return r
	}, s)
}

// repeated finds an attribute that is there in two spellings.
func repeated(header map[string][]string) (string, bool) {
	seen := make(map[string]bool, len(header))
	for k := range header {
		name := lower(k)
		if strings.HasPrefix(name, prefix) {
			if seen[name] {
				return name[len(prefix):], true
			}
			seen[name] = true
		}
	}
	return "", false
}

const upperHex = "0123456789ABCDEF"

func mustEscape(c byte) bool { return c <= ' ' || c == '"' || c == '%' || c > '~' }

// escape percent-encodes space, '"', '%' and all bytes of characters outside
// U+0021 to U+007E (CloudEvents NATS binding 3.1.3.2).
func escape(s string) string {
	n := 0
	for i := 0; i < len(s); i++ {
		if mustEscape(s[i]) {
			n++
		}
	}
	if n == 0 {
		return s
	}
	var b strings.Builder
	b.Grow(len(s) + 2*n)
	for i := 0; i < len(s); i++ {
		if c := s[i]; mustEscape(c) {
			b.WriteByte('%')
			b.WriteByte(upperHex[c>>4])
			b.WriteByte(upperHex[c&15])
		} else {
			b.WriteByte(c)
		}
	}
	return b.String()
}

// unescape undoes a quoted string, if it is one, and then percent-decodes
// once, as the binding tells consumers to.
func unescape(s string) (string, error) {
	if len(s) > 3*MaxAttribute+2 {
		return "", bad("it has %d bytes", len(s))
	}
	if !strings.ContainsAny(s, `%"`) {
		return s, nil
	}
	if len(s) >= 2 && s[0] == '"' && s[len(s)-1] == '"' {
		s = unquote(s[1 : len(s)-1])
	}
	if !strings.Contains(s, "%") {
		return s, nil
	}
	b := make([]byte, 0, len(s))
	for i := 0; i < len(s); i++ {
		if s[i] != '%' {
			b = append(b, s[i])
			continue
		}
		if i+2 >= len(s) || unhex(s[i+1]) < 0 || unhex(s[i+2]) < 0 {
			return "", bad("a %% must be followed by two hex digits")
		}
		b = append(b, byte(unhex(s[i+1])<<4|unhex(s[i+2])))
		i += 2
	}
	if !utf8.Valid(b) {
		return "", bad("it is not valid UTF-8")
	}
	return string(b), nil
}

func unquote(s string) string {
	if !strings.Contains(s, `\`) {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] == '\\' && i+1 < len(s) {
			i++
		}
		b.WriteByte(s[i])
	}
	return b.String()
}

func unhex(c byte) int {
	switch {
	case c >= '0' && c <= '9':
		return int(c - '0')
	case c >= 'a' && c <= 'f':
		return int(c-'a') + 10
	case c >= 'A' && c <= 'F':
		return int(c-'A') + 10
	}
	return -1
}
