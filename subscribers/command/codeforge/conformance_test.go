package codeforge_test

import (
	"encoding/json"
	"testing"

	"github.com/grapnel-dev/grapnel/bus/hook"
	"github.com/grapnel-dev/grapnel/subscribers/command/codeforge"
	"github.com/grapnel-dev/grapnel/subscribers/command/dialect"
	"github.com/grapnel-dev/grapnel/subscribers/command/dialect/dialecttest"
)

// config writes a file with one hook.
func config(c dialecttest.Case) string {
	h := map[string]any{"event": c.Event, "command": c.Script}
	if c.Tool != "" {
		h["event"] = c.Event + ":" + c.Tool
	}
	if c.Shell != "" {
		h["command"] = c.Shell
	}
	if c.Timeout > 0 {
		h["timeout"] = c.Timeout.Seconds()
	}
	b, _ := json.Marshal(map[string]any{"hooks": []any{h}})
	return string(b)
}

func TestE4ValuesAreVariablesAndNeverSyntax(t *testing.T) {
	t.Parallel()
	name := func(c *dialect.Call) string { return c.Name }
	tool := func(c *dialect.Call) string { return c.Tool }
	args := func(c *dialect.Call) string {
		if c.Event.Data.Tool == nil {
			return ""
		}
		return string(c.ToolInput())
	}
	dialecttest.Run(t, dialecttest.Harness{
		New: codeforge.New, File: codeforge.UserFile, WorkspaceFile: codeforge.ProjectFile, Config: config, Deny: "echo 'not this one'; exit 1",
		Variables: map[string]func(*dialect.Call) string{
			"FORGE_EVENT": name, "EVENT_TYPE": name, "FORGE_TOOL_NAME": tool, "TOOL_NAME": tool, "FORGE_TOOL_ARGS": args, "TOOL_ARGS": args,
			"FORGE_SESSION_ID":  func(c *dialect.Call) string { return c.Event.SessionID },
			"FORGE_WORKING_DIR": func(c *dialect.Call) string { return c.Workspace },
			"FORGE_LLM_MODEL": func(c *dialect.Call) string {
				if c.Name != codeforge.LLMPreRequest {
					return ""
				}
				return c.Event.Data.Model
			},
		},
		Texts: []dialecttest.Text{
			{
				Shell: `printf '%s\0' "$FORGE_SESSION_ID" x"$FORGE_SESSION_ID"'$FORGE_SESSION_ID' "$FORGE_TOOL_ARGS" "$(printf %s. "$TOOL_ARGS")" >$OUT`,
				Want: func(c *dialect.Call) []string {
					return []string{c.Event.SessionID, "x" + c.Event.SessionID + "$FORGE_SESSION_ID", string(c.ToolInput()), string(c.ToolInput()) + "."}
				},
			},
			{
				Shell: `printf '%s\0' "$FORGE_TOOL_RESULT" >$OUT`, Event: hook.PostToolUse,
				Want: func(c *dialect.Call) []string { return []string{string(c.Result())} },
			},
		},
	})
}
