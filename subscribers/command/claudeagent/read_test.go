package claudeagent_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/grapnel-dev/grapnel/bus/hook"
	"github.com/grapnel-dev/grapnel/runner/process"
	"github.com/grapnel-dev/grapnel/runner/trust"
	"github.com/grapnel-dev/grapnel/subscribers/command"
	"github.com/grapnel-dev/grapnel/subscribers/command/claudeagent"
	"github.com/grapnel-dev/grapnel/subscribers/command/dialect"
)

func origin(name string) dialect.Origin {
	return dialect.Origin{File: "/home/dev/.claude/" + name, Source: trust.User, Own: true}
}

func TestB7WhatIsWrongIsSaidAndTheRestLoads(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		text, where, problem string
		hooks                int
	}{
		{`{"hooks":{"preToolUse":{"a":{"command":"x","matcher":"["},"b":"y"}}}`, "hooks.preToolUse.a.matcher", "regular expression", 1},
		{`{"hooks":{"preToolUse":{"a":{"command":"x","matcher":"(?!x)"},"b":"y"}}}`, "hooks.preToolUse.a.matcher", "RE2", 1},
		{`{"hooks":{"preToolUse":{"a":{},"b":"y"}}}`, "hooks.preToolUse.a.command", "none", 1},
		{`{"hooks":{"preToolUse":{"a":7,"b":"y"}}}`, "hooks.preToolUse.a", "no command", 1},
		{`{"hooks":{"preToolUse":{"a":" ","b":"y"}}}`, "hooks.preToolUse.a", "no command", 1},
		{`{"hooks":{"preToolUse":{"a":{"command":"x","timeout":5},"b":"y"}}}`, "hooks.preToolUse.a", `"timeout"`, 2},
		{`{"hooks":{"preToolUse":{"a":{"command":"x","timeout_secs":"5"},"b":"y"}}}`, "hooks.preToolUse.a.timeout_secs", "number", 1},
		{`{"hooks":{"preToolUse":{"a":{"command":"x","timeout_secs":0},"b":"y"}}}`, "hooks.preToolUse.a.timeout_secs", "time", 1},
		{`{"hooks":{"preToolUse":7,"stop":["y"]}}`, "hooks.preToolUse", "no object", 1},
		{`{"hooks":{"preToolUse":["x",{"hooks":[]}],"stop":["y"]}}`, "hooks.preToolUse", "mixes", 1},
		{`{"hooks":{"preToolUse":[7],"stop":["y"]}}`, "hooks.preToolUse[0]", "object", 1},
		{`{"hooks":{"PreToolUse":[{"matcher":"x"}],"stop":["y"]}}`, "hooks.PreToolUse[0]", "no \"hooks\"", 1},
		{`{"hooks":{"PreToolUse":[{"hooks":[{"type":"http","url":"x"}]}],"stop":["y"]}}`, "hooks.PreToolUse[0].hooks[0]", "command hooks alone", 1},
		{`{"hooks":{"PreToolUse":[{"matcher":7,"hooks":[{"type":"command","command":"x"}]}],"stop":["y"]}}`, "hooks.PreToolUse[0].matcher", "string", 1},
		{`{"hooks":{"beforeTool":["x"],"stop":["y"]}}`, "hooks.beforeTool", "no event", 1},
		{`{"hooks":{"stop":["y"],"stop":["y"]}}`, "", "duplicate", 0},
	} {
		hooks, problems := claudeagent.New().Read([]byte(c.text), origin("settings.json"))
		assert.Len(t, hooks, c.hooks, c.text)
		if assert.Len(t, problems, 1, c.text) {
			assert.Equal(t, c.where, problems[0].Where, c.text)
			assert.Contains(t, problems[0].Text, c.problem, c.text)
		}
	}
	hooks, problems := claudeagent.New().Read([]byte(`{"model":"x","disableAllHooks":true,"hooks":{"Notification":[{"hooks":[]}],"stop":{"a":"x"},"preToolUse":{"a":"x"}}}`), origin("settings.json"))
	assert.Empty(t, problems, "Claude Code's other events and settings")
	require.Len(t, hooks, 2)
	assert.True(t, hooks[0].Disabled && hooks[1].Disabled)
	assert.Equal(t, []string{"a", "a (preToolUse)"}, []string{hooks[0].Name, hooks[1].Name})
}

func TestB7MatchersMayMatchAnywhere(t *testing.T) {
	t.Parallel()
	d := claudeagent.New()
	for _, c := range []struct {
		matcher, tool string
		want          bool
	}{
		{"", "Bash", true}, {"*", "Bash", true}, {"Bash|Write", "Bash", true}, {"Bash|Write", "BashOutput", true}, {"^(Bash|Write)$", "BashOutput", false},
		{"Bash|Write", "Read", false}, {"bash", "Bash", false}, {"(?i)bash", "Bash", true}, {"mcp__", "mcp__x__y", true},
	} {
		text, _ := json.Marshal(c.matcher)
		hooks, problems := d.Read([]byte(`{"hooks":{"preToolUse":{"a":{"command":"x","matcher":`+string(text)+`}},"stop":{"b":{"command":"x","matcher":`+string(text)+`}}}}`), origin("settings.json"))
		require.Empty(t, problems)
		call, _ := d.Call(hook.Event{Name: hook.PreToolUse, Data: hook.Data{Tool: &hook.Tool{Name: c.tool}}})
		assert.Equal(t, c.want, hooks[0].Matches == nil || hooks[0].Matches(call), "%s on %s", c.matcher, c.tool)
		assert.Nil(t, hooks[1].Matches, "an event without a tool has nothing to match")
	}
}

// plain is a hook without what only reading gives it.
func plain(h dialect.Hook) dialect.Hook {
	h.Origin, h.Where, h.Definition, h.Matches = dialect.Origin{}, "", nil, nil
	return h
}

func TestWhatIsWrittenReadsTheSame(t *testing.T) {
	t.Parallel()
	d := claudeagent.New()
	rapid.Check(t, func(t *rapid.T) {
		some := rapid.Map(rapid.StringOfN(rapid.RuneFrom([]rune(`ab"'\$<>&{}`+"\n\t ü😀\u2028")), 1, 12, -1), func(s string) string { return "x" + s })
		var want []dialect.Hook
		for i := range rapid.IntRange(0, 6).Draw(t, "hooks") {
			h := dialect.Hook{
				Name: some.Draw(t, "name") + fmt.Sprint(i), Type: dialect.TypeCommand, Events: []string{rapid.SampledFrom(d.Vocabulary.Names()).Draw(t, "event")},
				Timeout: time.Duration(rapid.SampledFrom([]int{0, 1500, 90_000}).Draw(t, "timeout")) * time.Millisecond, Priority: rapid.IntRange(-5, 5).Draw(t, "priority"),
			}
			switch rapid.IntRange(0, 2).Draw(t, "matcher") {
			case 1:
				h.Matcher, h.Tools = "Bash|Write", []string{"Bash", "Write"}
			case 2:
				h.Matcher = "^mcp__.*"
			}
			if rapid.Bool().Draw(t, "shell") {
				h.Shell = some.Draw(t, "text")
			} else {
				h.Command = append([]string{some.Draw(t, "program")}, rapid.SliceOfN(some, 0, 3).Draw(t, "args")...)
			}
			if rapid.Bool().Draw(t, "extras") {
				h.When, h.After, h.Async, h.Env = "event.hops == 0", []string{"a"}, rapid.Bool().Draw(t, "async"), map[string]string{"A": some.Draw(t, "value")}
				h.Cache, h.Files, h.Version = 90*time.Second, []string{"/x"}, "1.2"
				h.OnFailure = rapid.SampledFrom([]hook.FailurePolicy{"", hook.FailDeny, hook.FailAsk}).Draw(t, "on_failure")
				h.Sandbox = process.Sandbox{Mode: process.SandboxRequired, NoNetwork: true, Limits: process.Limits{OpenFiles: 32}}
			}
			want = append(want, h)
		}
		text, lost, err := d.Write(want)
		require.NoError(t, err)
		assert.Empty(t, lost)
		hooks, problems := d.Read(text, origin("settings.json"))
		assert.Empty(t, problems, string(text))
		var order []string
		for _, h := range want {
			if !slices.Contains(order, h.Events[0]) {
				order = append(order, h.Events[0])
			}
		}
		slices.SortStableFunc(want, func(a, b dialect.Hook) int {
			return slices.Index(order, a.Events[0]) - slices.Index(order, b.Events[0])
		})
		require.Len(t, hooks, len(want))
		for i := range want {
			assert.Equal(t, want[i], plain(hooks[i]), string(text))
			assert.False(t, hooks[i].Origin.Own, "Claude Code passes over named hooks")
		}
	})
}

func TestWhatCannotBeWrittenIsNamed(t *testing.T) {
	t.Parallel()
	d := claudeagent.New()
	for what, change := range map[string]func(*dialect.Hook){
		"working directory": func(h *dialect.Hook) { h.Dir = "x" }, "parts of the event": func(h *dialect.Hook) { h.Variables = []dialect.Variable{{}} },
		"disabled": func(h *dialect.Hook) { h.Disabled = true }, "description": func(h *dialect.Hook) { h.Description = "x" },
		"after it has failed": func(h *dialect.Hook) { h.KeepGoing = true }, "once in a session": func(h *dialect.Hook) { h.Once = true },
		"permission rule": func(h *dialect.Hook) { h.If = "Bash(git *)" }, "no event": func(h *dialect.Hook) { h.Events = []string{"Other"} },
		"no command": func(h *dialect.Hook) { h.Shell = "" }, "runs no http": func(h *dialect.Hook) { h.Type = dialect.TypeHTTP },
	} {
		h := dialect.Hook{Type: dialect.TypeCommand, Events: []string{"PreToolUse"}, Shell: "true"}
		change(&h)
		text, lost, err := d.Write([]dialect.Hook{h, {Events: []string{"PreToolUse"}, Shell: "a"}, {Events: []string{"PreToolUse"}, Shell: "b"}})
		require.NoError(t, err)
		require.Len(t, lost, 1, what)
		assert.Contains(t, lost[0], what)
		hooks, problems := d.Read(text, origin("settings.json"))
		assert.Empty(t, problems)
		assert.GreaterOrEqual(t, len(hooks), 2, "hooks without a name get one")
	}
	text, _, err := d.Write([]dialect.Hook{{Events: []string{"PreToolUse"}, Shell: "x", Matcher: "bash_execute", Tools: []string{"Bash", "a.b"}}})
	require.NoError(t, err)
	assert.Contains(t, string(text), `"Bash|a\\.b"`)
}

func FuzzRead(f *testing.F) {
	for _, name := range []string{"settings.json", "hooks.json"} {
		f.Add(name, []byte(example(&testing.T{}, name)))
	}
	f.Add("SKILL.md", []byte("---\n"+example(&testing.T{}, "frontmatter.yaml")+"---\n"))
	f.Add("settings.json", []byte(`{"hooks":{"preToolUse":["x"],"PreToolUse":[{"hooks":[{"command":"x","args":["y"]}]}],"stop":{"a":{"command":"x","priority":3}}}}`))
	d := claudeagent.New()
	f.Fuzz(func(t *testing.T, name string, text []byte) {
		hooks, _ := d.Read(text, dialect.Origin{File: "/p/hooks/" + name, Source: trust.User})
		ids := map[string]bool{}
		for _, h := range hooks {
			assert.Len(t, h.Events, 1)
			assert.True(t, h.Shell != "" || len(h.Command) > 0)
			assert.False(t, ids[h.ID()], "%s", h.ID())
			ids[h.ID()] = true
			if h.Matches != nil {
				h.Matches(&dialect.Call{Name: h.Events[0], Tool: "Bash"})
			}
			_, err := d.Feed(h, &dialect.Call{Name: h.Events[0], Tool: "Bash", Workspace: "/w"})
			assert.NoError(t, err)
		}
		_, _, err := d.Write(hooks)
		assert.NoError(t, err)
	})
}

func FuzzAnswer(f *testing.F) {
	f.Add(0, []byte(example(&testing.T{}, "output.json")), []byte(""))
	f.Add(2, []byte(`{"continue_execution":true,"updated_input":{"a":1}}`), []byte("no"))
	d := claudeagent.New()
	f.Fuzz(func(t *testing.T, exit int, stdout, stderr []byte) {
		a, err := d.Answer(dialect.Hook{}, &dialect.Call{Name: "PreToolUse"}, dialect.Output{ExitCode: exit, Stdout: stdout, Stderr: stderr})
		if err != nil {
			assert.ErrorIs(t, err, dialect.ErrFailed)
			return
		}
		assert.LessOrEqual(t, len(a.Reason), command.MaxReason+100)
		assert.LessOrEqual(t, len(a.Context), command.MaxContext)
		assert.True(t, a.Effect == hook.Abstain || a.Effect == hook.Deny && strings.TrimSpace(a.Reason) != "" && a.Rewrite == nil)
		if exit == 2 {
			assert.Equal(t, hook.Deny, a.Effect)
		}
	})
}
