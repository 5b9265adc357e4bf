package gohook

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/grapnel-dev/grapnel/internal/strictjson"
)

// ErrInput is wrapped by every error about an input, or an event of the bus,
// that no hook can be given.
var ErrInput = errors.New("gohook: not a usable input")

// Input is what a hook is given: an event with its session and time. It is a
// plain value; the bytes in it are shared and must not be written to.
type Input struct {
	SessionID string
	// Timestamp is when the event happened, in UTC.
	Timestamp time.Time
	// Data says what happened.
	Data Data
	// Metadata is anything else, one JSON value; nil where there is none. Of an
	// event from the bus it is an object with event_id (the same when an event
	// is delivered again), source, agent, native_event, hops and, of a tool,
	// tool_name as the agent calls it, tool_kind and tool_call_id.
	Metadata json.RawMessage
}

func newInput(sessionID string, d Data) Input {
	return Input{SessionID: sessionID, Timestamp: time.Now().UTC(), Data: d}
}

// NewPreToolUse is the input of a tool about to run. toolInput is one JSON value.
func NewPreToolUse(sessionID, toolName string, toolInput json.RawMessage) Input {
	return newInput(sessionID, PreToolUseData{ToolName: toolName, ToolInput: toolInput})
}

// NewPostToolUse is the input of a tool that has run. result is one JSON value.
func NewPostToolUse(sessionID, toolName string, result json.RawMessage) Input {
	return newInput(sessionID, PostToolUseData{ToolName: toolName, ToolResult: result})
}

// NewPostToolUseFailure is the input of a tool that has failed.
func NewPostToolUseFailure(sessionID, toolName, reason string) Input {
	return newInput(sessionID, PostToolUseFailureData{ToolName: toolName, Error: reason})
}

// NewUserPromptSubmit is the input of a prompt that a person submits.
func NewUserPromptSubmit(sessionID, prompt string) Input {
	return newInput(sessionID, UserPromptSubmitData{Prompt: prompt})
}

// NewStop is the input of an agent that stops.
func NewStop(sessionID string) Input { return newInput(sessionID, StopData{}) }

// NewSubagentStart is the input of a sub-agent about to start.
func NewSubagentStart(sessionID, subagentID, subagentType, description string) Input {
	return newInput(sessionID, SubagentStartData{SubagentID: subagentID, SubagentType: subagentType, Description: description})
}

// NewSubagentStop is the input of a sub-agent that has ended; reason is empty
// where there was no error.
func NewSubagentStop(sessionID, subagentID string, success bool, reason string) Input {
	return newInput(sessionID, SubagentStopData{SubagentID: subagentID, Success: success, Error: reason})
}

// NewPreCompact is the input of a context about to be compacted.
func NewPreCompact(sessionID string) Input { return newInput(sessionID, PreCompactData{}) }

// NewSessionStart is the input of a session that begins.
func NewSessionStart(sessionID string) Input { return newInput(sessionID, SessionStartData{}) }

// NewSessionEnd is the input of a session that ends.
func NewSessionEnd(sessionID string) Input { return newInput(sessionID, SessionEndData{}) }

// Event is which event it is; empty when there is no data.
func (in Input) Event() Event {
	if in.Data == nil {
		return ""
	}
	return in.Data.Event()
}

// ToolName is the tool's name, and false where the event has no tool.
func (in Input) ToolName() (string, bool) {
	switch d := in.Data.(type) {
	case PreToolUseData:
		return d.ToolName, true
	case PostToolUseData:
		return d.ToolName, true
	case PostToolUseFailureData:
		return d.ToolName, true
	}
	return "", false
}

// ToolInput is the input of a tool about to run, and false for every event but
// [PreToolUse].
func (in Input) ToolInput() (json.RawMessage, bool) {
	d, ok := in.Data.(PreToolUseData)
	return d.ToolInput, ok
}

// DecodeToolInput reads the tool's input into v; keys that v has no field for
// are passed over. It reads strictly where package encoding/json would choose:
// that takes {"command":"rm -rf /","COMMAND":"ls"} for "ls", and the tool runs
// something else. Name v's fields with tags. The error wraps [ErrInput].
func (in Input) DecodeToolInput(v any) error {
	raw, ok := in.ToolInput()
	if !ok {
		return fmt.Errorf("%w: %s has no tool input", ErrInput, in.Event())
	}
	if err := strictjson.UnmarshalOpen(raw, v, 0); err != nil {
		return fmt.Errorf("%w: the tool's input: %w", ErrInput, err)
	}
	return nil
}

// SubagentID is the sub-agent's id, and false where the event is not about one.
func (in Input) SubagentID() (string, bool) {
	switch d := in.Data.(type) {
	case SubagentStartData:
		return d.SubagentID, true
	case SubagentStopData:
		return d.SubagentID, true
	}
	return "", false
}

// check refuses data that a type switch in a hook would not find.
func (in Input) check() error {
	switch in.Data.(type) {
	case PreToolUseData, PostToolUseData, PostToolUseFailureData, UserPromptSubmitData, StopData,
		SubagentStartData, SubagentStopData, PreCompactData, SessionStartData, SessionEndData:
		return nil
	case nil:
		return fmt.Errorf("%w: it has no data; make it with one of the constructors, such as NewPreToolUse", ErrInput)
	}
	return fmt.Errorf("%w: its data is a %T; give the struct itself and no pointer", ErrInput, in.Data)
}
