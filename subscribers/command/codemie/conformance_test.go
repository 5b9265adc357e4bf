package codemie_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/grapnel-dev/grapnel/bus/hook"
	"github.com/grapnel-dev/grapnel/subscribers/command/codemie"
	"github.com/grapnel-dev/grapnel/subscribers/command/dialect"
	"github.com/grapnel-dev/grapnel/subscribers/command/dialect/dialecttest"
)

// config writes a file with one hook.
func config(c dialecttest.Case) string {
	h := map[string]any{"type": "command", "command": c.Shell}
	if c.Script != "" {
		h["command"] = "'" + strings.ReplaceAll(c.Script, "'", `'\''`) + "'"
	}
	if c.Timeout > 0 {
		h["timeout"] = float64(c.Timeout) / float64(time.Millisecond)
	}
	group := map[string]any{"hooks": []any{h}}
	if c.Tool != "" {
		group["matcher"] = c.Tool
	}
	hooks, _ := json.Marshal(map[string]any{c.Event: []any{group}})
	return file(string(hooks))
}

// hookInput is what CODEMIE_HOOK_INPUT holds.
func hookInput(c *dialect.Call) string {
	feed, err := codemie.New().Feed(dialect.Hook{Shell: "GRAPNEL_OMITTED", Profile: "default"}, c)
	if err != nil {
		return err.Error()
	}
	return string(feed.Stdin)
}

func TestC4NothingIsExecuted(t *testing.T) {
	t.Parallel()
	tool := func(c *dialect.Call) string { return c.Tool }
	session := func(c *dialect.Call) string { return c.Event.SessionID }
	agent := func(c *dialect.Call) string { return c.Event.Data.Native.Agent }
	dialecttest.Run(t, dialecttest.Harness{
		New:    codemie.New,
		File:   ".codemie/codemie-cli.config.json",
		Config: config,
		Deny:   "echo 'not this one' >&2; exit 2",
		Variables: map[string]func(*dialect.Call) string{
			"CODEMIE_SESSION_ID":   session,
			"CODEMIE_HOOK_EVENT":   func(c *dialect.Call) string { return c.Name },
			"CODEMIE_TOOL_NAME":    tool,
			"CODEMIE_AGENT_NAME":   agent,
			"CODEMIE_PROFILE_NAME": func(*dialect.Call) string { return "default" },
		},
		Texts: []dialecttest.Text{
			{
				Shell: `printf '%s\0' "$CODEMIE_HOOK_INPUT" "$CODEMIE_SESSION_ID" "$CODEMIE_AGENT_NAME" "$CODEMIE_PROJECT_DIR" >$OUT; : $CODEMIE_HOOK_INPUT ${CODEMIE_SESSION_ID}`,
				Want:  func(c *dialect.Call) []string { return []string{hookInput(c), session(c), agent(c), c.Workspace} },
			},
			{
				Shell: `printf '%s\0' "$(printf %s "$CODEMIE_HOOK_INPUT" | cat)" >$OUT`,
				Want:  func(c *dialect.Call) []string { return []string{hookInput(c)} },
				Event: hook.UserPromptSubmit,
			},
		},
	})
}
