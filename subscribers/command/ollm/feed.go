package ollm

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/grapnel-dev/grapnel/internal/strictjson"
	"github.com/grapnel-dev/grapnel/subscribers/command/dialect"
)

// feed makes what a run of the hook gets.
func feed(h dialect.Hook, c *dialect.Call) (dialect.Feed, error) {
	in, err := input(c)
	if err != nil {
		return dialect.Feed{}, fmt.Errorf("%w: %w", dialect.ErrFeed, err)
	}
	return dialect.Feed{Command: h.Command, Stdin: in}, nil
}

// member is one member of the data.
type member struct {
	name  string
	value any
}

// input is the event as a hook reads it.
func input(c *dialect.Call) ([]byte, error) {
	members, err := data(c)
	if err != nil {
		return nil, err
	}
	var passed map[string]json.RawMessage
	if c.Data != nil {
		if err := strictjson.UnmarshalOpen(c.Data, &passed, 0); err != nil {
			return nil, fmt.Errorf("what the hooks before passed on: %w", err)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(passed)) {
		if !slices.ContainsFunc(members, func(m member) bool { return m.name == name }) {
			members = append(members, member{name, passed[name]})
		}
	}
	object, err := marshalMembers(members)
	if err != nil {
		return nil, err
	}
	return marshalMembers([]member{{"event", c.Name}, {"data", object}})
}

// data are the members that an event of the call's name has.
func data(c *dialect.Call) ([]member, error) {
	d, session := c.Event.Data, c.Event.SessionID
	n, err := nativeOf(c)
	if err != nil {
		return nil, err
	}
	switch c.Name {
	case sessionStart:
		return []member{{"session_id", session}}, nil
	case sessionEnd:
		return []member{{"session_id", session}, {"messages", n.list("messages")}}, nil
	case beforeAgent:
		return []member{{"prompt", d.Prompt}}, nil
	case afterAgent:
		return []member{{"response", d.Message}, {"tool_calls", n.list("tool_calls")}}, nil
	case beforeModel:
		model := any(d.Model)
		if d.Model == "" {
			model = n.text("model", "llm_request.model")
		}
		return []member{{"sessionId", session}, {"model", model}, {"messages", n.list("messages", "llm_request.messages")}}, nil
	case afterModel:
		response := any(d.Message)
		if d.Message == "" {
			response = n.text("response", "llm_response.text")
		}
		return []member{{"response", response}, {"tokens", n.any("tokens", "llm_response.usageMetadata.totalTokenCount")}}, nil
	case beforeToolSelection:
		return []member{{"available_tools", n.list("available_tools", "llm_request.toolConfig.allowedFunctionNames")}}, nil
	case beforeTool:
		return []member{{"tool_name", c.Tool}, {"args", c.ToolInput()}}, nil
	case afterTool:
		list := []member{{"tool_name", c.Tool}, {"args", c.ToolInput()}, {"result", c.Result()}}
		if d.Error != "" {
			list = append(list, member{"error", d.Error})
		}
		return list, nil
	case preCompress:
		return []member{{"session_id", session}, {"trigger", d.Reason}}, nil
	case postCompress:
		return []member{{"session_id", session}, {"trigger", d.Reason}, {"summary", d.Message}}, nil
	}
	return []member{{"message", d.Message}, {"type", d.Reason}}, nil
}

// marshalMembers writes an object with its members in this order, on one line,
// and each character of a string in one way, whatever escapes the agent chose.
// Numbers keep their spelling.
func marshalMembers(members []member) (json.RawMessage, error) {
	text := []byte{'{'}
	for i, m := range members {
		if i > 0 {
			text = append(text, ',')
		}
		name, err := json.Marshal(m.name)
		if err != nil {
			return nil, err
		}
		value, err := json.Marshal(m.value)
		if err != nil {
			return nil, err
		}
		text = append(append(append(text, name...), ':'), value...)
	}
	v := jsontext.Value(append(text, '}'))
	err := v.Format(jsontext.AllowDuplicateNames(true), jsontext.PreserveRawStrings(false), jsontext.CanonicalizeRawInts(false), jsontext.CanonicalizeRawFloats(false))
	return json.RawMessage(v), err
}
