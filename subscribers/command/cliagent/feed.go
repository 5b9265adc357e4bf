package cliagent

import (
	"encoding/json"
	"fmt"

	"github.com/grapnel-dev/grapnel/bus/hook"
	"github.com/grapnel-dev/grapnel/subscribers/command/dialect"
)

// input is what the document's execute_hooks takes, and what a hook finds on
// its standard input.
type input struct {
	HookType      string          `json:"hook_type"`
	ToolName      string          `json:"tool_name,omitempty"`
	ToolArgs      json.RawMessage `json:"tool_args,omitempty"`
	Result        json.RawMessage `json:"result,omitempty"`
	Error         string          `json:"error,omitempty"`
	ExecutionTime *float64        `json:"execution_time,omitempty"` // seconds
	Message       string          `json:"message,omitempty"`
	EventType     string          `json:"event_type,omitempty"`
	Timestamp     string          `json:"timestamp"`
	SessionID     string          `json:"session_id"`
	UserInput     string          `json:"user_input,omitempty"`
}

// feed gives a hook its text, the context on standard input, and each template
// variable in the environment.
func feed(h dialect.Hook, c *dialect.Call) (dialect.Feed, error) {
	e := c.Event
	in := input{HookType: c.Name, Timestamp: timestamp(e), SessionID: session(e), UserInput: c.Prompt}
	if e.Data.Tool != nil {
		in.ToolName, in.ToolArgs = c.Tool, c.ToolInput()
	}
	switch c.Name {
	case PostToolUse:
		if in.Error = failure(e); in.Error == "" {
			in.Result = c.Result()
		}
		if e.Data.DurationMS > 0 {
			seconds := float64(e.Data.DurationMS) / 1000
			in.ExecutionTime = &seconds
		}
	case Notification:
		in.Message, in.EventType = message(e), notificationType(e.Name)
	}
	stdin, err := json.Marshal(in)
	if err != nil {
		return dialect.Feed{}, fmt.Errorf("%w: %w", dialect.ErrFeed, err)
	}
	f := dialect.Feed{Shell: h.Shell, Command: h.Command, Stdin: stdin, Env: []string{"CLI_AGENT_HOOK_TYPE=" + c.Name}}
	for _, name := range names() {
		if v := value(name, nil, c); v != "" {
			f.Env = append(f.Env, template{name: name}.variable()+"="+v)
		}
	}
	if e.Name == hook.PostToolUseFailure {
		f.Env = append(f.Env, "CLI_AGENT_SUCCESS=false")
	}
	return f, nil
}
