package gohook

import "encoding/json"

// Data is what an event is about: one of the ten structs of this package, as a
// value. Their fields are exactly those of the document's HookEventData.
type Data interface {
	// Event is the event that has this data.
	Event() Event

	sealed() // there are no others
}

// PreToolUseData is the data of [PreToolUse].
type PreToolUseData struct {
	ToolName  string
	ToolInput json.RawMessage // one JSON value
}

// PostToolUseData is the data of [PostToolUse].
type PostToolUseData struct {
	ToolName   string
	ToolResult json.RawMessage // one JSON value
}

// PostToolUseFailureData is the data of [PostToolUseFailure].
type PostToolUseFailureData struct {
	ToolName string
	Error    string
}

// UserPromptSubmitData is the data of [UserPromptSubmit].
type UserPromptSubmitData struct {
	Prompt string
}

// StopData is the data of [Stop]: none.
type StopData struct{}

// SubagentStartData is the data of [SubagentStart].
type SubagentStartData struct {
	SubagentID   string
	SubagentType string
	Description  string
}

// SubagentStopData is the data of [SubagentStop].
type SubagentStopData struct {
	SubagentID string
	Success    bool
	Error      string // empty where there is none
}

// PreCompactData is the data of [PreCompact]: none.
type PreCompactData struct{}

// SessionStartData is the data of [SessionStart]: none.
type SessionStartData struct{}

// SessionEndData is the data of [SessionEnd]: none.
type SessionEndData struct{}

// Event implements [Data].
func (PreToolUseData) Event() Event { return PreToolUse }

// Event implements [Data].
func (PostToolUseData) Event() Event { return PostToolUse }

// Event implements [Data].
func (PostToolUseFailureData) Event() Event { return PostToolUseFailure }

// Event implements [Data].
func (UserPromptSubmitData) Event() Event { return UserPromptSubmit }

// Event implements [Data].
func (StopData) Event() Event { return Stop }

// Event implements [Data].
func (SubagentStartData) Event() Event { return SubagentStart }

// Event implements [Data].
func (SubagentStopData) Event() Event { return SubagentStop }

// Event implements [Data].
func (PreCompactData) Event() Event { return PreCompact }

// Event implements [Data].
func (SessionStartData) Event() Event { return SessionStart }

// Event implements [Data].
func (SessionEndData) Event() Event { return SessionEnd }

func (PreToolUseData) sealed()         {}
func (PostToolUseData) sealed()        {}
func (PostToolUseFailureData) sealed() {}
func (UserPromptSubmitData) sealed()   {}
func (StopData) sealed()               {}
func (SubagentStartData) sealed()      {}
func (SubagentStopData) sealed()       {}
func (PreCompactData) sealed()         {}
func (SessionStartData) sealed()       {}
func (SessionEndData) sealed()         {}
