package dialect

import (
	"encoding/json"

	"github.com/grapnel-dev/grapnel/bus/hook"
)

// Call is one event as a dialect sees it. It is not changed while hooks run.
type Call struct {
	// Event is the event itself; what it says about the tool is in the
	// agent's words.
	Event hook.Event
	// Name is the dialect's name of the event, and Blocks as in [EventName].
	Name   string
	Blocks bool
	// Tool is what the dialect calls the tool, "" where there is none.
	Tool string
	// Does is what the tool does.
	Does Tool
	// Input is the tool's input with the dialect's names for its members.
	Input json.RawMessage
	// Workspace is where the hooks run: the event's workspace, or else its
	// directory, or "/".
	Workspace string
	// Prompt is what the person last wrote in the session, as far as this process
	// has heard of it, in dialects that want to know ([Dialect.LastPrompt]).
	Prompt string
	// Data is what the hooks before this one passed on (D2); nil for the first.
	Data json.RawMessage

	view view
}

// Call translates an event; false means that the dialect has no word for it.
func (d *Dialect) Call(e hook.Event) (*Call, bool) {
	name, ok := d.Vocabulary.Event(e.Name)
	if !ok {
		return nil, false
	}
	c := &Call{Event: e, Name: name.Name, Blocks: name.Blocks, Does: ToolOther, Workspace: e.Data.Workspace}
	if c.Workspace == "" {
		c.Workspace = e.Data.CWD
	}
	if t := e.Data.Tool; t != nil {
		c.Does = ToolOf(*t)
		c.Tool = d.Vocabulary.ToolName(*t)
		c.view = view{input: t.Input}
		if c.Tool != t.Name || e.Data.Native.Agent != d.Agent || d.Agent == "" {
			c.view = d.Vocabulary.viewOf(c.Does, t.Input)
		}
		c.Input = c.view.input
	}
	return c, true
}

// Names are the tool names that a matcher may mean: the dialect's, and the
// agent's own.
func (c *Call) Names() []string {
	t := c.Event.Data.Tool
	switch {
	case t == nil:
		return nil
	case t.Name == c.Tool:
		return []string{c.Tool}
	}
	return []string{c.Tool, t.Name}
}

// ToolInput is the input, or {} where there is none.
func (c *Call) ToolInput() json.RawMessage {
	if len(c.Input) == 0 {
		return json.RawMessage("{}")
	}
	return c.Input
}

// Result is the tool's result as the agent wrote it, or null.
func (c *Call) Result() json.RawMessage {
	if len(c.Event.Data.Result) == 0 {
		return json.RawMessage("null")
	}
	return c.Event.Data.Result
}
