package cliagent_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/grapnel-dev/grapnel/bus/hook"
	"github.com/grapnel-dev/grapnel/subscribers/command/cliagent"
	"github.com/grapnel-dev/grapnel/subscribers/command/dialect"
	"github.com/grapnel-dev/grapnel/subscribers/command/dialect/dialecttest"
)

// config writes a file with one hook.
func config(c dialecttest.Case) string {
	h := map[string]any{"type": "command", "command": c.Script}
	if c.Shell != "" {
		h["command"] = c.Shell
	}
	if c.Timeout > 0 {
		h["timeout"] = c.Timeout.Seconds()
	}
	if c.Tool == "" {
		c.Tool = "*"
	}
	b, _ := json.Marshal(map[string]any{"hooks": map[string]any{c.Event: []any{map[string]any{"matcher": c.Tool, "hooks": []any{h}}}}})
	return string(b)
}

func TestA5NothingIsExecuted(t *testing.T) {
	t.Parallel()
	is := func(text string) func(*dialect.Call) string { return func(*dialect.Call) string { return text } }
	prompt := func(c *dialect.Call) string { return c.Event.Data.Prompt }
	dialecttest.Run(t, dialecttest.Harness{
		New:           func() *dialect.Dialect { return cliagent.New(nil) },
		File:          ".config/agent/settings.json",
		WorkspaceFile: ".config/agent/settings.json",
		Config:        config,
		Deny:          "echo 'not this one' >&2; exit 2",
		Variables: map[string]func(*dialect.Call) string{
			"CLI_AGENT_HOOK_TYPE":  func(c *dialect.Call) string { return c.Name },
			"CLI_AGENT_TOOL_NAME":  func(c *dialect.Call) string { return c.Tool },
			"CLI_AGENT_USER_INPUT": prompt,
			"CLI_AGENT_MESSAGE": func(c *dialect.Call) string {
				if c.Name != cliagent.Notification {
					return ""
				}
				return c.Event.Data.Message
			},
			"CLI_AGENT_SESSION_ID": func(c *dialect.Call) string {
				if c.Event.SessionID == "" {
					return "unknown"
				}
				return c.Event.SessionID
			},
			"CLI_AGENT_TIMESTAMP": is("2026-11-20T12:00:00.000000Z"),
			"CLI_AGENT_TOOL_ARGS": func(c *dialect.Call) string {
				if c.Event.Data.Tool == nil {
					return ""
				}
				return string(c.ToolInput())
			},
		},
		Texts: []dialecttest.Text{
			{
				Shell: everyPlace("{{user_input}}", ">") + short("{{tool_args.command}}") + short("{{tool_args.deep.list[0]}}") + short("{{tool_args}}"),
				Want: func(c *dialect.Call) []string {
					list := whole(prompt(c))
					for _, v := range []string{argument(c), argument(c), string(c.ToolInput())} {
						list = append(list, v, v, v)
					}
					return list
				},
			},
			{Shell: everyPlace("{{message}}", ">"), Want: func(c *dialect.Call) []string { return whole(c.Event.Data.Message) }, Event: hook.Notification},
			{Shell: everyPlace("{{result}}", ">"), Want: func(c *dialect.Call) []string { return whole(argument(c)) }, Event: hook.PostToolUse},
		},
	})
}

// everyPlace is a text with a template in every place that it may stand in, and
// whole what it writes for a value. Little of it starts a process.
func everyPlace(template, to string) string {
	return strings.ReplaceAll(`show() { printf '%s\0' "$1"; }
{
printf '%s\0' @ "@" '@' ""@"" '@'"" "$(printf '%s.' @ "@" '@')"
x=@; show "$x"; y='@'; show "$y"
X="@" sh -c 'printf "%s\0" "$X"'
for f in @; do show "$f"; done
set -- @; show "$1"
case @ in '@') show "$x";; esac
printf '%s\0' ${NONE:-@}; { printf '%s\0' "${NONE:-@}"; }
cat <<E
@
E
printf '\0' # @
z=`+"`printf '%s.' @`"+`; show "$z"
if [ x'@' = x"@" ]; then printf '%s\0' @; fi
} `+to+`$OUT`, "@", template)
}

func whole(v string) []string {
	return []string{v, v, v, v, v, v + "." + v + "." + v + ".", v, v, v, v, v, v, v, v, v + "\n", v + ".", v}
}

func short(template string) string {
	return strings.ReplaceAll("\nprintf '%s\\0' @ \"@\" '@' >>$OUT", "@", template)
}

// argument is what a command line is in the tool's input: JSON has no invalid
// UTF-8.
func argument(c *dialect.Call) string {
	var v struct {
		Command string `json:"command"`
	}
	_ = json.Unmarshal(c.Input, &v)
	return v.Command
}
