// Package strictjson decodes JSON that came from somebody else. It refuses
// what a lenient decoder would silently choose between: duplicate keys, keys
// that match a field only by case or Unicode folding, unknown keys where the
// shape is ours, invalid UTF-8, a second document after the first, and
// documents that are too large or too deep. (encoding/json takes
// {"deciſion":"allow"} for decision.)
package strictjson

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// MaxDepth is how deep arrays and objects may nest.
const MaxDepth = 64

// Errors that callers tell apart. All other errors are syntax or type errors.
var (
	ErrTooLarge = errors.New("JSON is too large")
	ErrTooDeep  = errors.New("JSON is nested too deeply")
	ErrEmpty    = errors.New("JSON is empty")
)

// Unmarshal decodes one document of at most limit bytes into v and refuses
// unknown keys. Limit 0 means no limit. Fields of type [encoding/json.RawMessage]
// keep their bytes as they stand; they alias no memory of b.
func Unmarshal(b []byte, v any, limit int) error {
	return unmarshal(b, v, limit, true)
}

// UnmarshalOpen is [Unmarshal] for documents whose shape somebody else owns:
// unknown keys are passed over.
func UnmarshalOpen(b []byte, v any, limit int) error {
	return unmarshal(b, v, limit, false)
}

// unmarshal reads b once: the decoder itself refuses duplicate keys, also in
// what a raw message holds, invalid UTF-8, and anything after the document.
func unmarshal(b []byte, v any, limit int, closed bool) error {
	if err := bounds(b, limit); err != nil {
		return err
	}
	if err := json.Unmarshal(b, v, json.RejectUnknownMembers(closed)); err != nil {
		return clean(err)
	}
	return nil
}

// Check reports whether b is one well-formed document within the limits,
// without duplicate keys at any level, and nothing after it.
func Check(b []byte, limit int) error {
	if err := bounds(b, limit); err != nil {
		return err
	}
	dec := jsontext.NewDecoder(bytes.NewReader(b))
	if err := dec.SkipValue(); err != nil {
		return clean(err)
	}
	if _, err := dec.ReadToken(); err != io.EOF {
		return errors.New("there is something after the JSON document")
	}
	return nil
}

// bounds looks at what can be told without parsing.
func bounds(b []byte, limit int) error {
	if limit > 0 && len(b) > limit {
		return fmt.Errorf("%w: %d bytes, at most %d", ErrTooLarge, len(b), limit)
	}
	if len(bytes.TrimLeft(b, " \t\r\n")) == 0 {
		return ErrEmpty
	}
	if DeeperThan(b, MaxDepth) {
		return fmt.Errorf("%w: more than %d levels", ErrTooDeep, MaxDepth)
	}
	return nil
}

// DeeperThan reports whether arrays and objects nest more than limit levels. It
// counts brackets outside strings, before any parser, so that depth costs no
// memory; b need not be well formed.
func DeeperThan(b []byte, limit int) bool {
	depth, inString := 0, false
	for i := 0; i < len(b); i++ {
		switch c := b[i]; {
		case inString && c == '\\':
			i++
		case c == '"':
			inString = !inString
		case inString:
		case c == '{' || c == '[':
			if depth++; depth > limit {
				return true
			}
		case c == '}' || c == ']':
			depth--
		}
	}
	return false
}

// clean shortens the decoder's messages to what a person can use; a message
// never holds more than a short piece of the document.
func clean(err error) error {
	var syntax *jsontext.SyntacticError
	if errors.As(err, &syntax) {
		where := ""
		if syntax.JSONPointer != "" {
			where = fmt.Sprintf(" at %.100q", string(syntax.JSONPointer))
		}
		return fmt.Errorf("bad JSON%s, byte %d: %w", where, syntax.ByteOffset, syntax.Err)
	}
	var semantic *json.SemanticError
	if errors.As(err, &semantic) {
		where := ""
		if semantic.JSONPointer != "" {
			where = fmt.Sprintf(" at %.100q", string(semantic.JSONPointer))
		}
		if errors.Is(err, json.ErrUnknownName) {
			return fmt.Errorf("unknown key%s", where)
		}
		if semantic.Err != nil {
			return fmt.Errorf("unexpected JSON%s: %w", where, semantic.Err)
		}
		return fmt.Errorf("unexpected JSON%s: a %s cannot be a %v", where, semantic.JSONKind, semantic.GoType)
	}
	return err
}
