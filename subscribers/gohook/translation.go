package gohook

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/grapnel-dev/grapnel/bus/hook"
)

// metadata is what an event of the bus has besides the document's fields.
type metadata struct {
	EventID     string    `json:"event_id"`
	Source      string    `json:"source"`
	Agent       string    `json:"agent,omitempty"`
	NativeEvent string    `json:"native_event,omitempty"`
	Hops        int       `json:"hops,omitempty"`
	ToolName    string    `json:"tool_name,omitempty"`
	ToolKind    hook.Kind `json:"tool_kind,omitempty"`
	ToolCallID  string    `json:"tool_call_id,omitempty"`
}

// inputOf makes an input of an event, and false where the dialect has no such
// event. toolName names a tool for the hooks. The error wraps ErrInput.
func inputOf(e hook.Event, toolName func(hook.Tool) string) (Input, bool, error) {
	event, ok := EventOf(e.Name)
	if !ok {
		return Input{}, false, nil
	}
	m := metadata{
		EventID: e.ID, Source: e.Source, Agent: e.Data.Native.Agent, NativeEvent: e.Data.Native.Event, Hops: e.Hops,
	}
	var subagent hook.Subagent
	if e.Data.Subagent != nil {
		subagent = *e.Data.Subagent
	}
	var tool string
	switch event {
	case PreToolUse, PostToolUse, PostToolUseFailure:
		t := e.Data.Tool
		if t == nil {
			// No hook could tell whether it is for this tool.
			return Input{}, true, fmt.Errorf("%w: %s event %.80q names no tool", ErrInput, e.Name, e.ID)
		}
		if tool = toolName(*t); tool == "" {
			return Input{}, true, fmt.Errorf("%w: there is no name for the tool %.80q of event %.80q", ErrInput, t.Name, e.ID)
		}
		m.ToolName, m.ToolKind, m.ToolCallID = t.Name, t.Kind, t.CallID
	case SubagentStart:
		if subagent.Type == "" {
			subagent.Type = e.Subject
		}
	}
	in := Input{SessionID: e.SessionID, Timestamp: e.Time.UTC()}
	switch event {
	case PreToolUse:
		in.Data = PreToolUseData{ToolName: tool, ToolInput: e.Data.Tool.Input}
	case PostToolUse:
		in.Data = PostToolUseData{ToolName: tool, ToolResult: e.Data.Result}
	case PostToolUseFailure:
		in.Data = PostToolUseFailureData{ToolName: tool, Error: e.Data.Error}
	case UserPromptSubmit:
		in.Data = UserPromptSubmitData{Prompt: e.Data.Prompt}
	case Stop:
		in.Data = StopData{}
	case SubagentStart:
		in.Data = SubagentStartData{SubagentID: subagent.ID, SubagentType: subagent.Type, Description: e.Data.Message}
	case SubagentStop:
		in.Data = SubagentStopData{SubagentID: subagent.ID, Success: e.Data.Error == "", Error: e.Data.Error}
	case PreCompact:
		in.Data = PreCompactData{}
	case SessionStart:
		in.Data = SessionStartData{}
	case SessionEnd:
		in.Data = SessionEndData{}
	}
	raw, err := json.Marshal(m)
	if err != nil {
		return Input{}, true, fmt.Errorf("%w: %w", ErrInput, err)
	}
	in.Metadata = raw
	return in, true, nil
}

// payload is an input as the document writes it for a hook process. It is the
// native payload of events that a Firer sends.
type payload struct {
	Event        string          `json:"event"`
	SessionID    string          `json:"session_id"`
	ToolName     string          `json:"tool_name,omitempty"`
	ToolInput    json.RawMessage `json:"tool_input,omitempty"`
	ToolResult   json.RawMessage `json:"tool_result,omitempty"`
	Error        string          `json:"error,omitempty"`
	Prompt       string          `json:"prompt,omitempty"`
	SubagentID   string          `json:"subagent_id,omitempty"`
	SubagentType string          `json:"subagent_type,omitempty"`
	Description  string          `json:"description,omitempty"`
	Success      *bool           `json:"success,omitempty"`
	Metadata     json.RawMessage `json:"metadata,omitempty"`
}

// eventOf makes an event of an input. ID, Source and what comes from outside the
// input are the caller's. The error wraps ErrInput.
func eventOf(in Input, kind func(tool string) hook.Kind) (hook.Event, error) {
	e := hook.Event{Name: in.Event().Names()[0], Time: in.Timestamp, SessionID: in.SessionID}
	p := payload{Event: string(e.Name), SessionID: in.SessionID, Metadata: in.Metadata}
	d := &e.Data
	if name, ok := in.ToolName(); ok {
		if name == "" {
			return e, fmt.Errorf("%w: the tool has no name", ErrInput)
		}
		e.Subject, p.ToolName = name, name
		d.Tool = &hook.Tool{Name: name, Kind: kind(name)}
	}
	switch data := in.Data.(type) {
	case PreToolUseData:
		d.Tool.Input, p.ToolInput = data.ToolInput, data.ToolInput
	case PostToolUseData:
		d.Result, p.ToolResult = data.ToolResult, data.ToolResult
	case PostToolUseFailureData:
		d.Error, p.Error = data.Error, data.Error
	case UserPromptSubmitData:
		d.Prompt, p.Prompt = data.Prompt, data.Prompt
	case SubagentStartData:
		e.Subject = data.SubagentType
		d.Subagent = &hook.Subagent{ID: data.SubagentID, Type: data.SubagentType}
		d.Message = data.Description
		p.SubagentID, p.SubagentType, p.Description = data.SubagentID, data.SubagentType, data.Description
	case SubagentStopData:
		d.Subagent = &hook.Subagent{ID: data.SubagentID}
		p.SubagentID, p.Success, p.Error = data.SubagentID, &data.Success, data.Error
		switch {
		case data.Success:
			d.Message = data.Error // an error on the event would say that it failed
		case data.Error == "":
			d.Error = "the sub-agent failed and gave no error"
		default:
			d.Error = data.Error
		}
	}
	raw, err := json.Marshal(p)
	if err != nil {
		return e, fmt.Errorf("%w: %w", ErrInput, err)
	}
	d.Native = hook.Native{Event: string(in.Event()), Payload: raw}
	return e, nil
}

// sameJSON reports whether two documents say the same, whatever their spelling.
// Numbers must be written alike.
func sameJSON(a, b json.RawMessage) bool {
	if bytes.Equal(a, b) {
		return true
	}
	x, errA := canonical(a)
	y, errB := canonical(b)
	return errA == nil && errB == nil && bytes.Equal(x, y)
}

func canonical(raw json.RawMessage) ([]byte, error) {
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	var v any
	if err := dec.Decode(&v); err != nil {
		return nil, err
	}
	return json.Marshal(v) // keys of maps in order
}
