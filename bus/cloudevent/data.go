package cloudevent

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"

	jsonv2 "github.com/go-json-experiment/json"

	"github.com/grapnel-dev/grapnel/bus/hook"
	"github.com/grapnel-dev/grapnel/internal/strictjson"
)

// EncodeData returns the event's data as JSON: Raw where the event has it,
// else Data. The agent's payload, the tool's input and the result stand in it
// byte for byte as they came.
func EncodeData(e hook.Event) ([]byte, error) {
	b := e.Raw
	if b == nil {
		var err error
		if b, err = marshalData(e.Data); err != nil {
			return nil, bad("data: %v", err)
		}
	}
	if len(b) > MaxData {
		return nil, bad("data has %d bytes, at most %d", len(b), MaxData)
	}
	return b, nil
}

// DecodeData sets e's Data and Raw from the data's bytes. Empty data is that
// of an event with nothing to say. The error wraps [ErrEvent].
func DecodeData(e *hook.Event, b []byte) error {
	e.Raw, e.Data = b, hook.Data{}
	if len(b) == 0 {
		return nil
	}
	if text := bytes.TrimLeft(b, " \t\r\n"); len(text) > 0 && text[0] != '{' {
		return bad("data is not a JSON object")
	}
	if err := strictjson.Unmarshal(b, &e.Data, MaxData); err != nil {
		return bad("data: %v", err)
	}
	return checkTool(e.Data.Tool)
}

// checkTool refuses a kind that nobody knows: rules that go by kind would pass
// the tool over.
func checkTool(t *hook.Tool) error {
	if t != nil && !slices.Contains(hook.Kinds(), t.Kind) {
		return bad("tool.kind %.40q is none of %v", string(t.Kind), hook.Kinds())
	}
	return nil
}

// marshalData writes d with the raw values spliced in as they are: an encoder
// would reformat them, and a digest over the agent's own bytes would not hold.
func marshalData(d hook.Data) ([]byte, error) {
	var tool []byte
	if d.Tool != nil {
		t := *d.Tool
		t.Input = nil
		var err error
		if tool, err = object(t, member{"input", d.Tool.Input}); err != nil {
			return nil, err
		}
	}
	var native []byte
	if n := d.Native; n.Agent != "" || n.Event != "" || n.Payload != nil {
		n.Payload = nil
		var err error
		if native, err = object(n, member{"payload", d.Native.Payload}); err != nil {
			return nil, err
		}
	}
	result := d.Result
	d.Tool, d.Native, d.Result = nil, hook.Native{}, nil
	return object(d, member{"tool", tool}, member{"result", result}, member{"native", native})
}

type member struct {
	name string
	raw  json.RawMessage
}

// object marshals the struct v and appends members whose values are JSON
// already. Each is checked, so that none can add a member of its own.
func object(v any, members ...member) ([]byte, error) {
	b, err := jsonv2.Marshal(v)
	if err != nil {
		return nil, err
	}
	for _, m := range members {
		if m.raw == nil {
			continue
		}
		if err := strictjson.Check(m.raw, 0); err != nil {
			return nil, fmt.Errorf("%s: %w", m.name, err)
		}
		b = b[:len(b)-1]
		if len(b) > 1 {
			b = append(b, ',')
		}
		b = append(b, '"')
		b = append(b, m.name...)
		b = append(b, `":`...)
		b = append(b, m.raw...)
		b = append(b, '}')
	}
	return b, nil
}
