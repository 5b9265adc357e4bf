package dialect

import (
	"slices"
	"strings"

	"github.com/grapnel-dev/grapnel/bus/hook"
)

// Vocabulary is a dialect's names, both ways.
type Vocabulary struct {
	// Events maps canonical events to the dialect's. A canonical event stands
	// there once; several may have the same name in the dialect.
	Events []EventName
	// Tools are the dialect's names of tools. A tool may stand there several
	// times; the first is what the tools of other agents are called.
	Tools []ToolName
	// Fields are the dialect's names of the members of a tool's input.
	Fields []FieldName
	// MCP says that MCP tools are called mcp__server__tool.
	MCP bool
}

// EventName is one event's name in a dialect.
type EventName struct {
	Canonical hook.Name
	Name      string
	// Blocks says that hooks can block it in this dialect.
	Blocks bool
}

// ToolName is one tool's name in a dialect.
type ToolName struct {
	Tool Tool
	Name string
}

// FieldName is the name of a member of a tool's input in a dialect.
type FieldName struct {
	Tool  Tool
	Field Field
	Name  string
}

// Event returns the dialect's event for a canonical one, and false when it has
// none.
func (v Vocabulary) Event(n hook.Name) (EventName, bool) {
	for _, e := range v.Events {
		if e.Canonical == n {
			return e, true
		}
	}
	return EventName{}, false
}

// Names lists the dialect's own event names, each once, in order.
func (v Vocabulary) Names() []string {
	var list []string
	for _, e := range v.Events {
		if !slices.Contains(list, e.Name) {
			list = append(list, e.Name)
		}
	}
	return list
}

// Canonical lists the canonical events that have this name in the dialect; the
// first is the one that is meant when a hook is moved to another dialect.
func (v Vocabulary) Canonical(name string) []hook.Name {
	var list []hook.Name
	for _, e := range v.Events {
		if e.Name == name {
			list = append(list, e.Canonical)
		}
	}
	return list
}

// ToolName returns what the dialect calls a tool of an event. A name that is
// the dialect's own stays as it is, and so does one for which it has no word.
func (v Vocabulary) ToolName(t hook.Tool) string {
	for _, n := range v.Tools {
		if n.Name == t.Name {
			return t.Name
		}
	}
	tool := ToolOf(t)
	if tool == ToolMCP {
		if v.MCP {
			return MCPName(t.Name)
		}
		return t.Name
	}
	for _, n := range v.Tools {
		if n.Tool == tool {
			return n.Name
		}
	}
	return t.Name
}

// Tool returns the tool that the dialect calls by this name.
func (v Vocabulary) Tool(name string) Tool {
	for _, n := range v.Tools {
		if n.Name == name {
			return n.Tool
		}
	}
	if v.MCP && strings.HasPrefix(name, "mcp__") {
		return ToolMCP
	}
	return knownTool(name)
}
