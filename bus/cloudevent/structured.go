package cloudevent

import (
	"encoding/base64"
	"encoding/json"
	"strconv"

	jsonv2 "github.com/go-json-experiment/json"

	"github.com/grapnel-dev/grapnel/bus/hook"
	"github.com/grapnel-dev/grapnel/internal/strictjson"
)

// maxStructured leaves room for base64 data and attributes.
const maxStructured = MaxData*4/3 + 1<<20

// Marshal returns the event as structured CloudEvents JSON. Hops is written as
// a number, all other extensions as strings; the data's bytes stand in it
// unchanged.
func Marshal(e hook.Event) ([]byte, error) {
	list, err := attributes(e)
	if err != nil {
		return nil, err
	}
	data, err := EncodeData(e)
	if err != nil {
		return nil, err
	}
	b := make([]byte, 0, 512+len(data))
	b = append(b, '{')
	for _, a := range list {
		value, err := jsonv2.Marshal(a.value)
		if err != nil {
			return nil, bad("attribute %s: %v", a.name, err)
		}
		if a.name == "hops" {
			value = []byte(a.value)
		}
		b = append(b, '"')
		b = append(b, a.name...)
		b = append(b, `":`...)
		b = append(b, value...)
		b = append(b, ',')
	}
	if len(data) == 0 {
		b[len(b)-1] = '}'
		return b, nil
	}
	b = append(b, `"data":`...)
	b = append(b, data...)
	return append(b, '}'), nil
}

// Unmarshal reads an event in structured JSON. Extension values may be
// strings, integers or booleans; data_base64 must hold JSON. The error wraps
// [ErrEvent].
func Unmarshal(b []byte) (hook.Event, error) {
	var e hook.Event
	var members map[string]json.RawMessage
	if err := strictjson.UnmarshalOpen(b, &members, maxStructured); err != nil {
		return e, bad("%v", err)
	}
	if members == nil {
		return e, bad("it is not a JSON object")
	}
	if version := members["specversion"]; version == nil || string(version) == "null" {
		return e, bad("it has no specversion")
	}
	data, plain := members["data"]
	encoded, b64 := members["data_base64"]
	if plain && b64 {
		return e, bad("it has both data and data_base64")
	}
	delete(members, "data")
	delete(members, "data_base64")
	for name, raw := range members {
		value, present, err := attributeValue(raw)
		if err != nil {
			return e, bad("attribute %.40q: %v", name, err)
		}
		if !present {
			continue
		}
		if err := set(&e, attribute{name, value}); err != nil {
			return e, err
		}
	}
	if b64 {
		var text string
		if err := jsonv2.Unmarshal(encoded, &text); err != nil {
			return e, bad("data_base64 is not a string")
		}
		var err error
		if data, err = base64.StdEncoding.DecodeString(text); err != nil {
			return e, bad("data_base64: %v", err)
		}
	}
	if err := check(e); err != nil {
		return e, err
	}
	return e, DecodeData(&e, data)
}

// attributeValue turns a JSON value into the attribute's canonical string;
// null means the attribute is not there (CloudEvents JSON format 2.2).
func attributeValue(raw json.RawMessage) (value string, present bool, err error) {
	switch raw[0] {
	case '"':
		return value, true, jsonv2.Unmarshal(raw, &value)
	case 't', 'f':
		return string(raw), true, nil
	case 'n':
		return "", false, nil
	}
	n, err := strconv.ParseInt(string(raw), 10, 32)
	if err != nil {
		return "", false, bad("it is neither a string, an integer nor a boolean")
	}
	return strconv.FormatInt(n, 10), true, nil
}
