package claudecode

import (
	"bytes"
	"encoding/json"
	"slices"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/grapnel-dev/grapnel/internal/strictjson"
	"github.com/grapnel-dev/grapnel/subscribers/command/dialect"
)

// payload is what Claude Code would write to the hook's standard input. For its
// own events that is what it did write, byte for byte; when a decider before
// this one has changed the tool's input, the new input stands in there, since
// that is what will run. For the events of other agents it is put together.
func payload(c *dialect.Call) ([]byte, error) {
	n := c.Event.Data.Native
	if n.Agent == Agent && len(n.Payload) > 0 {
		if text, ok := current(c, n.Payload); ok {
			return text, nil
		}
	}
	return synthesised(c), nil
}

// current returns a copy of Claude Code's payload with the tool's input as it
// is now. It is false when the payload is not about this event or tool: what
// the event says is what will be decided on.
func current(c *dialect.Call, payload []byte) ([]byte, bool) {
	var p struct {
		Event string          `json:"hook_event_name"`
		Tool  string          `json:"tool_name"`
		Input json.RawMessage `json:"tool_input"`
	}
	if strictjson.UnmarshalOpen(payload, &p, 0) != nil || p.Event != c.Name {
		return nil, false
	}
	t := c.Event.Data.Tool
	if t == nil {
		return bytes.Clone(payload), p.Tool == ""
	}
	switch {
	case p.Tool != t.Name:
		return nil, false
	case len(t.Input) == 0, same(p.Input, t.Input):
		// Of a very large event the input is in the payload alone.
		return bytes.Clone(payload), true
	case len(p.Input) == 0:
		return nil, false
	}
	start, end, ok := place(payload, "tool_input")
	if !ok {
		return nil, false
	}
	return slices.Concat(payload[:start], t.Input, payload[end:]), true
}

func same(a, b json.RawMessage) bool {
	if bytes.Equal(a, b) {
		return true
	}
	var x, y bytes.Buffer
	return json.Compact(&x, a) == nil && json.Compact(&y, b) == nil && bytes.Equal(x.Bytes(), y.Bytes())
}

// place says where the value of a member stands.
func place(object []byte, key string) (start, end int, ok bool) {
	d := jsontext.NewDecoder(bytes.NewReader(object))
	if _, err := d.ReadToken(); err != nil {
		return 0, 0, false
	}
	for d.PeekKind() == '"' {
		name, err := d.ReadToken()
		if err != nil {
			return 0, 0, false
		}
		found := name.String() == key
		value, err := d.ReadValue()
		if err != nil {
			return 0, 0, false
		}
		if found {
			end = int(d.InputOffset())
			return end - len(value), end, true
		}
	}
	return 0, 0, false
}
