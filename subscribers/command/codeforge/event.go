package codeforge

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/grapnel-dev/grapnel/bus/hook"
	"github.com/grapnel-dev/grapnel/internal/strictjson"
	"github.com/grapnel-dev/grapnel/subscribers/command/dialect"
)

// event is the document's HookEvent, which a hook finds on its standard input.
type event struct {
	Type      string  `json:"type"`
	Timestamp float64 `json:"timestamp"` // seconds since 1970
	Data      data    `json:"data"`
	ToolName  *string `json:"tool_name"`
	SessionID *string `json:"session_id"`
}

// data is what events have besides; what an event has not is not there.
type data struct {
	WorkingDir string          `json:"working_dir,omitempty"`
	ToolArgs   json.RawMessage `json:"tool_args,omitempty"`
	ToolResult json.RawMessage `json:"tool_result,omitempty"`
	Error      string          `json:"error,omitempty"`
	DurationMS int64           `json:"duration_ms,omitempty"`
	Model      string          `json:"model,omitempty"`
	Tokens     int64           `json:"tokens,omitempty"`
	Message    string          `json:"message,omitempty"`
	Prompt     string          `json:"prompt,omitempty"`
	Level      string          `json:"level,omitempty"`
	Rule       string          `json:"rule,omitempty"`
	Reason     string          `json:"reason,omitempty"`
}

func eventOf(c *dialect.Call) event {
	e := c.Event
	out := event{Type: c.Name, Timestamp: seconds(e.Time), Data: data{
		WorkingDir: c.Workspace, Error: e.Data.Error, DurationMS: e.Data.DurationMS, Message: e.Data.Message, Prompt: e.Data.Prompt, Reason: e.Data.Reason,
	}}
	if e.SessionID != "" {
		out.SessionID = &e.SessionID
	}
	if e.Data.Tool != nil {
		out.ToolName, out.Data.ToolArgs = &c.Tool, c.ToolInput()
	}
	switch {
	case c.Name == ToolPostExecute:
		out.Data.ToolResult = c.Result()
	case c.Name == ToolError:
		out.Data.ToolResult, _ = json.Marshal(map[string]any{"success": false, "error": e.Data.Error})
	case strings.HasPrefix(c.Name, "llm:"):
		out.Data.Model = e.Data.Model
		out.Data.Tokens = tokens(e.Data.Native.Payload)
	case strings.HasPrefix(c.Name, "permission:"):
		out.Data.Level, out.Data.Rule = e.Data.PermissionMode, rule(e)
	}
	return out
}

func seconds(t time.Time) float64 {
	if t.IsZero() {
		t = time.Now()
	}
	return float64(t.UnixMicro()) / 1e6
}

// tokens finds the number of tokens where agents write it.
func tokens(payload json.RawMessage) int64 {
	for _, path := range [][]string{
		{"usage", "total_tokens"}, {"llm_response", "usageMetadata", "totalTokenCount"}, {"usageMetadata", "totalTokenCount"},
		{"total_tokens"}, {"token_count"}, {"tokens"},
	} {
		var n int64
		if raw := member(payload, path); raw != nil && json.Unmarshal(raw, &n) == nil && n > 0 {
			return n
		}
	}
	return 0
}

// rule is the permission rule that matched, where the agent says so.
func rule(e hook.Event) string {
	for _, path := range [][]string{{"rule"}, {"permission_rule"}, {"matched_rule"}} {
		var text string
		if raw := member(e.Data.Native.Payload, path); raw != nil && json.Unmarshal(raw, &text) == nil {
			return text
		}
	}
	return ""
}

func member(raw json.RawMessage, path []string) json.RawMessage {
	for _, name := range path {
		var members map[string]json.RawMessage
		if strictjson.UnmarshalOpen(raw, &members, 0) != nil {
			return nil
		}
		raw = members[name]
	}
	return bytes.TrimSpace(raw)
}

// variables are the event's in the environment.
func (v event) variables() []string {
	var list []string
	set := func(name, value string) {
		if value != "" {
			list = append(list, name+"="+value)
		}
	}
	set("FORGE_EVENT", v.Type)
	set("EVENT_TYPE", v.Type)
	if v.SessionID != nil {
		set("FORGE_SESSION_ID", *v.SessionID)
	}
	set("FORGE_WORKING_DIR", v.Data.WorkingDir)
	if v.ToolName != nil {
		set("FORGE_TOOL_NAME", *v.ToolName)
		set("TOOL_NAME", *v.ToolName)
		set("FORGE_TOOL_ARGS", string(v.Data.ToolArgs))
		set("TOOL_ARGS", string(v.Data.ToolArgs))
		set("FORGE_TOOL_RESULT", string(v.Data.ToolResult))
	}
	set("FORGE_LLM_MODEL", v.Data.Model)
	if v.Data.Tokens > 0 {
		set("FORGE_LLM_TOKENS", strconv.FormatInt(v.Data.Tokens, 10))
	}
	set("FORGE_PERM_LEVEL", v.Data.Level)
	set("FORGE_PERM_RULE", v.Data.Rule)
	return list
}

// feed gives a hook its text, the event on standard input, and the variables.
// Every hook sees the original event.
func feed(h dialect.Hook, c *dialect.Call) (dialect.Feed, error) {
	e := eventOf(c)
	stdin, err := json.Marshal(e)
	if err != nil {
		return dialect.Feed{}, fmt.Errorf("%w: %w", dialect.ErrFeed, err)
	}
	return dialect.Feed{Shell: h.Shell, Command: h.Command, Stdin: stdin, Env: e.variables()}, nil
}
