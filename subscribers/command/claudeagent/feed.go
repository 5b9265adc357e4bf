package claudeagent

import (
	"bytes"
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/grapnel-dev/grapnel/runner/trust"
	"github.com/grapnel-dev/grapnel/subscribers/command/dialect"
)

// input is what a hook reads: the event, the session, and of HookEventData
// exactly the fields of that event.
type input struct {
	Event   string `json:"event"`
	Session string `json:"session_id"`

	ToolName   *string         `json:"tool_name,omitempty"`
	ToolInput  json.RawMessage `json:"tool_input,omitempty"`
	ToolResult json.RawMessage `json:"tool_result,omitempty"`
	Prompt     *string         `json:"prompt,omitempty"`

	SubagentID   *string         `json:"subagent_id,omitempty"`
	SubagentType *string         `json:"subagent_type,omitempty"`
	Description  *string         `json:"description,omitempty"`
	Success      *bool           `json:"success,omitempty"`
	Error        json.RawMessage `json:"error,omitempty"`
}

func feed(h dialect.Hook, c *dialect.Call) (dialect.Feed, error) {
	event, _, ok := rowOf(c.Name)
	if !ok {
		return dialect.Feed{}, fmt.Errorf("%w: there is no event %s", dialect.ErrFeed, c.Name)
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(inputOf(event, c)); err != nil {
		return dialect.Feed{}, fmt.Errorf("%w: %w", dialect.ErrFeed, err)
	}
	f := dialect.Feed{Shell: h.Shell, Stdin: b.Bytes(), Env: []string{"EVENT=" + event.input}}
	const project = "${CLAUDE_PROJECT_DIR}"
	for _, word := range h.Command {
		if c.Workspace == "" && strings.Contains(word, project) {
			return dialect.Feed{}, fmt.Errorf("%w: the command names %s, and the event has no workspace", dialect.ErrFeed, project)
		}
		f.Command = append(f.Command, strings.ReplaceAll(word, project, c.Workspace))
	}
	if c.Workspace != "" {
		f.Env = append(f.Env, "CLAUDE_PROJECT_DIR="+c.Workspace)
	}
	if h.Origin.Source == trust.Extension && filepath.IsAbs(h.Origin.Base) {
		f.Env = append(f.Env, "CLAUDE_PLUGIN_ROOT="+h.Origin.Base)
	}
	return f, nil
}

func inputOf(event row, c *dialect.Call) input {
	d := c.Event.Data
	in := input{Event: event.input, Session: c.Event.SessionID}
	var id, kind string
	if d.Subagent != nil {
		id, kind = d.Subagent.ID, d.Subagent.Type
	}
	switch event.event {
	case "PreToolUse":
		in.ToolName, in.ToolInput = &c.Tool, c.ToolInput()
	case "PostToolUse":
		in.ToolName, in.ToolResult = &c.Tool, c.Result()
	case "PostToolUseFailure":
		in.ToolName, in.Error = &c.Tool, text(d.Error)
	case "UserPromptSubmit":
		in.Prompt = &d.Prompt
	case "SubagentStart":
		in.SubagentID, in.SubagentType, in.Description = &id, &kind, &d.Message
	case "SubagentStop":
		success := d.Error == ""
		in.SubagentID, in.Success, in.Error = &id, &success, json.RawMessage("null")
		if !success {
			in.Error = text(d.Error)
		}
	}
	return in
}

// text is a JSON string.
func text(s string) json.RawMessage {
	b, err := json.Marshal(s)
	if err != nil {
		return json.RawMessage(`""`)
	}
	return b
}
