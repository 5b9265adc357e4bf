package ollm

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/grapnel-dev/grapnel/internal/strictjson"
	"github.com/grapnel-dev/grapnel/subscribers/command/dialect"
)

// native is what the agent itself sent: some data has no canonical member.
type native map[string]json.RawMessage

// nativeOf reads the agent's payload for the events that need it. A payload
// that cannot be read is an error: the hook would see nothing.
func nativeOf(c *dialect.Call) (native, error) {
	payload := c.Event.Data.Native.Payload
	switch c.Name {
	case sessionEnd, afterAgent, beforeModel, afterModel, beforeToolSelection:
	default:
		return nil, nil
	}
	if len(payload) == 0 || payload[0] != '{' {
		return nil, nil
	}
	var n native
	if err := strictjson.UnmarshalOpen(payload, &n, 0); err != nil {
		return nil, fmt.Errorf("the agent's payload: %w", err)
	}
	return n, nil
}

// find returns the first of the paths that is there and is not null.
func (n native) find(paths ...string) json.RawMessage {
	for _, path := range paths {
		if v := n.at(path); v != nil && string(v) != "null" {
			return v
		}
	}
	return nil
}

func (n native) at(path string) json.RawMessage {
	name, rest, deeper := strings.Cut(path, ".")
	v := n[name]
	if !deeper || v == nil {
		return v
	}
	var child native
	if strictjson.UnmarshalOpen(v, &child, 0) != nil {
		return nil
	}
	return child.at(rest)
}

// any is a value of any kind, null where there is none.
func (n native) any(paths ...string) any {
	if v := n.find(paths...); v != nil {
		return v
	}
	return nil
}

// text is a string, "" where there is none.
func (n native) text(paths ...string) any {
	if v := n.find(paths...); v != nil && v[0] == '"' {
		return v
	}
	return ""
}

// list is an array, empty where there is none.
func (n native) list(paths ...string) any {
	if v := n.find(paths...); v != nil && v[0] == '[' {
		return v
	}
	return json.RawMessage("[]")
}
