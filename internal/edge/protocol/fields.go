package protocol

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/grapnel-dev/grapnel/internal/strictjson"
)

// Limits on a payload, in bytes. An event holds the payload and, beside it, the
// tool's input, the result or a text, so it can be twice as large.
const (
	// MaxPayload is the largest payload of a gate.
	MaxPayload = 4<<20 - 64<<10
	// MaxWhole is the largest payload of any other event. Above MaxPayload
	// its input, result and texts are in the native payload alone.
	MaxWhole = 2 * MaxPayload
)

// maxDepth leaves room for the levels that the event puts around the payload.
const maxDepth = strictjson.MaxDepth - 4

// ErrPayload is wrapped by every error about a payload that is not taken.
var ErrPayload = errors.New("the hook's input is not what the agent sends")

// Bad is an error that wraps [ErrPayload].
func Bad(format string, args ...any) error {
	return fmt.Errorf("%w: "+format, append([]any{ErrPayload}, args...)...)
}

// Fields is a payload taken apart at its first level. Only what an event needs
// is looked at, so that a field of that name on another event may be anything.
// It remembers the first thing that was of the wrong type.
type Fields struct {
	raws map[string]json.RawMessage
	err  error
	in   *Fields // the object that this one is in, if any
}

// Parse checks stdin and takes it apart; payload is the JSON object in it, byte
// for byte. The error wraps [ErrPayload].
func Parse(stdin []byte, limit int) (f *Fields, payload []byte, err error) {
	payload = bytes.Trim(stdin, " \t\r\n")
	if len(payload) == 0 {
		return nil, nil, Bad("it is empty")
	}
	if len(payload) > limit {
		return nil, nil, Bad("it has %d bytes, at most %d; split the action into smaller ones", len(payload), limit)
	}
	if payload[0] != '{' {
		return nil, nil, Bad("it is not a JSON object")
	}
	if strictjson.DeeperThan(payload, maxDepth) {
		return nil, nil, Bad("it is nested more than %d levels deep", maxDepth)
	}
	f = &Fields{}
	if err := strictjson.UnmarshalOpen(payload, &f.raws, 0); err != nil {
		return nil, nil, Bad("%v", err)
	}
	return f, payload, nil
}

// Err is the first thing that was of the wrong type, or nil.
func (f *Fields) Err() error { return f.err }

// Fail notes an error unless there is one already.
func (f *Fields) Fail(err error) {
	if f.err == nil {
		f.err = err
	}
	if f.in != nil {
		f.in.Fail(err)
	}
}

// Has reports whether there is a field of that name, null included.
func (f *Fields) Has(key string) bool { return f.raws[key] != nil }

// Raw returns the first of the fields that is there as it stands, and nil when
// all are absent or null.
func (f *Fields) Raw(keys ...string) json.RawMessage {
	_, v := f.first(keys)
	return v
}

func (f *Fields) first(keys []string) (string, json.RawMessage) {
	for _, key := range keys {
		if v := f.raws[key]; v != nil && string(v) != "null" {
			return key, v
		}
	}
	return "", nil
}

func (f *Fields) decode(keys []string, v any, want string) {
	key, raw := f.first(keys)
	if raw == nil {
		return
	}
	if err := strictjson.UnmarshalOpen(raw, v, 0); err != nil {
		f.Fail(Bad("%s is not %s", key, want))
	}
}

// Text returns a string; absent and null are "".
func (f *Fields) Text(keys ...string) string {
	var s string
	f.decode(keys, &s, "a string")
	return s
}

// Flag returns a truth value; absent and null are false.
func (f *Fields) Flag(keys ...string) bool {
	var b bool
	f.decode(keys, &b, "true or false")
	return b
}

// Number returns a number without its fraction; absent and null are 0.
func (f *Fields) Number(keys ...string) int64 {
	var n float64
	f.decode(keys, &n, "a number")
	return int64(n)
}

// Texts returns a list of strings; absent and null are none.
func (f *Fields) Texts(keys ...string) []string {
	var list []string
	f.decode(keys, &list, "a list of strings")
	return list
}

// Object takes a field apart that is itself an object; absent and null are an
// object without fields. What is wrong in it counts for f as well.
func (f *Fields) Object(keys ...string) *Fields {
	inner := &Fields{in: f}
	f.decode(keys, &inner.raws, "an object")
	return inner
}

// Input returns a tool's input. A string that holds a JSON object, as some
// agents send it, is that object; its bytes are then not the agent's own.
func (f *Fields) Input(keys ...string) json.RawMessage {
	_, raw := f.first(keys)
	if len(raw) == 0 || raw[0] != '"' {
		return raw
	}
	var text string
	if json.Unmarshal(raw, &text) != nil {
		return raw
	}
	inner := bytes.Trim([]byte(text), " \t\r\n")
	if len(inner) == 0 || inner[0] != '{' {
		return raw
	}
	if strictjson.DeeperThan(inner, maxDepth) || strictjson.Check(inner, 0) != nil {
		f.Fail(Bad("the tool's input is a text that is not one JSON object without duplicate keys"))
	}
	return inner
}
