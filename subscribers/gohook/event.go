package gohook

import (
	"slices"

	"github.com/grapnel-dev/grapnel/bus/hook"
)

// Event is one of the ten points of an agent's life that this dialect knows.
type Event string

// The events, in the document's order.
const (
	PreToolUse         Event = "PreToolUse"
	PostToolUse        Event = "PostToolUse"
	PostToolUseFailure Event = "PostToolUseFailure"
	UserPromptSubmit   Event = "UserPromptSubmit"
	Stop               Event = "Stop"
	SubagentStart      Event = "SubagentStart"
	SubagentStop       Event = "SubagentStop"
	PreCompact         Event = "PreCompact"
	SessionStart       Event = "SessionStart"
	SessionEnd         Event = "SessionEnd"
)

// Events lists the events, in the document's order.
func Events() []Event {
	return []Event{
		PreToolUse, PostToolUse, PostToolUseFailure, UserPromptSubmit, Stop,
		SubagentStart, SubagentStop, PreCompact, SessionStart, SessionEnd,
	}
}

// Known reports whether e is one of the ten.
func (e Event) Known() bool { return slices.Contains(Events(), e) }

// CanBlock reports whether a block of this event counts, by the document's table.
func (e Event) CanBlock() bool {
	switch e {
	case PreToolUse, UserPromptSubmit, SubagentStart, SessionStart:
		return true
	}
	return false
}

// Names lists the canonical events that are this one, its own name first. There
// are more than one where other agents tell apart what is one event here; an
// agent that sends several of them for one thing has the hooks executed for each.
func (e Event) Names() []hook.Name {
	switch e {
	case PreToolUse:
		return []hook.Name{hook.PreToolUse, hook.PreShell, hook.PreMCPCall, hook.PreFileRead}
	case PostToolUse:
		return []hook.Name{hook.PostToolUse, hook.PostShell, hook.PostMCP, hook.PostFileEdit}
	case PostToolUseFailure:
		return []hook.Name{hook.PostToolUseFailure}
	case UserPromptSubmit:
		return []hook.Name{hook.UserPromptSubmit}
	case Stop:
		return []hook.Name{hook.Stop}
	case SubagentStart:
		return []hook.Name{hook.SubagentStart}
	case SubagentStop:
		return []hook.Name{hook.SubagentStop}
	case PreCompact:
		return []hook.Name{hook.PreCompact}
	case SessionStart:
		return []hook.Name{hook.SessionStart, hook.SessionResume}
	case SessionEnd:
		return []hook.Name{hook.SessionEnd}
	}
	return nil
}

// EventOf returns the event that a canonical event is here, and false when the
// dialect has none for it.
func EventOf(n hook.Name) (Event, bool) {
	for _, e := range Events() {
		if slices.Contains(e.Names(), n) {
			return e, true
		}
	}
	return "", false
}
