package cliagent_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/grapnel-dev/grapnel/bus/hook"
	"github.com/grapnel-dev/grapnel/runner/process"
	"github.com/grapnel-dev/grapnel/subscribers/command/cliagent"
	"github.com/grapnel-dev/grapnel/subscribers/command/dialect"
)

// same are the parts of a hook that are written.
func same(h dialect.Hook) dialect.Hook {
	h.Origin, h.Where, h.Definition, h.Matches, h.Tools = dialect.Origin{}, "", nil, nil, nil
	for i := range h.Variables {
		h.Variables[i].Value = nil
	}
	if h.Matcher == "" {
		h.Matcher = "*"
	}
	return h
}

func TestA2WhatIsWrittenReadsBack(t *testing.T) {
	t.Parallel()
	commands := rapid.SampledFrom([]string{"true", "echo '{{tool_name}}' \"<&>\"", "x={{tool_args.a.b}}; echo $x", "cat <<E\n{{message}}\nE\n", "docker ps --format '{{.Names}}'", "echo \u2028 é"})
	rapid.Check(t, func(t *rapid.T) {
		var hooks []dialect.Hook
		for _, event := range []string{"Notification", "PostToolUse", "PreToolUse", "Stop"} { // the order in which a map is written
			for range rapid.IntRange(0, 3).Draw(t, "hooks") {
				h := dialect.Hook{
					Type: dialect.TypeCommand, Events: []string{event}, Matcher: rapid.SampledFrom([]string{"*", "bash_execute", "builtin:*", "mcp__*", "a|b", "x.*y"}).Draw(t, "matcher"),
					Timeout: time.Duration(rapid.IntRange(0, 5000).Draw(t, "timeout")) * 250 * time.Millisecond, Dir: rapid.SampledFrom([]string{"", "/tmp", "a b"}).Draw(t, "dir"),
					Description: rapid.StringMatching(`[a-z <>&"é]{0,9}`).Draw(t, "description"),
				}
				if rapid.Bool().Draw(t, "env") {
					h.Env = map[string]string{"A": rapid.StringMatching(`[^\x00]{0,5}`).Draw(t, "value")}
				}
				if rapid.Bool().Draw(t, "extras") {
					h.When, h.After, h.Async, h.Cache, h.Files = "true", []string{"x"}, true, 90*time.Second, []string{"f"}
					h.OnFailure, h.Version, h.Sandbox = hook.FailDeny, "1.2", process.Sandbox{Mode: process.SandboxRequired, NoNetwork: true, ReadOnly: []string{"/usr"}}
				}
				if rapid.Bool().Draw(t, "http") {
					h.Type, h.URL, h.Headers, h.AllowedEnv = dialect.TypeHTTP, "https://example.com/", map[string]string{"A": "$B"}, []string{"B"}
				} else {
					read, problems := cliagent.Read([]byte(one(event, "*", commands.Draw(t, "command"))), dialect.Origin{})
					require.Empty(t, problems)
					h.Shell, h.Written, h.Variables = read[0].Shell, read[0].Written, read[0].Variables
				}
				hooks = append(hooks, h)
			}
		}
		text, lost, err := cliagent.Write(hooks)
		require.NoError(t, err)
		require.Empty(t, lost)
		back, problems := cliagent.Read(text, dialect.Origin{File: "f"})
		require.Empty(t, problems, string(text))
		require.Len(t, back, len(hooks))
		for i := range hooks {
			require.Equal(t, same(hooks[i]), same(back[i]), string(text))
		}
	})
}

func TestWriteSaysWhatIsLost(t *testing.T) {
	t.Parallel()
	text, lost, err := cliagent.Write([]dialect.Hook{
		{Name: "a", Type: dialect.TypePrompt, Events: []string{"Stop"}, Prompt: "?"},
		{Name: "b", Type: dialect.TypeCommand, Events: []string{"Stop"}, Shell: "true", Disabled: true},
		{Name: "c", Type: dialect.TypeCommand, Events: []string{"Stop"}, Shell: "echo {{message}}"},
		{Name: "d", Type: dialect.TypeCommand, Events: []string{"Stop"}, Shell: "echo $EVENT", Variables: []dialect.Variable{{Name: "EVENT"}}},
		{Name: "e", Type: dialect.TypeCommand, Events: []string{"Stop", "Notification"}, Command: []string{"/bin/x y", "it's", "a"}, If: "Bash(x)", Once: true, Priority: 3},
	})
	require.NoError(t, err)
	assert.Len(t, lost, 7)
	hooks, problems := cliagent.Read(text, dialect.Origin{})
	assert.Empty(t, problems)
	require.Len(t, hooks, 2)
	assert.Equal(t, `'/bin/x y' 'it'\''s' a`, hooks[0].Shell)
}

func FuzzRead(f *testing.F) {
	for _, name := range []string{"configuration-format", "development-workflow", "security-audit", "notification-integration", "advanced-control"} {
		f.Add([]byte(one("PreToolUse", "a|"+name, "echo {{tool_args."+name+"}}", `,"timeout":1,"env":{"A":"b"}`)))
	}
	f.Add([]byte(`{"hooks":{"Stop":[{"matcher":"(a|b).*","hooks":[{"type":"http","url":"x","sandbox":"off","cache":"1s"}]}]}}`))
	d := cliagent.New(nil)
	f.Fuzz(func(t *testing.T, text []byte) {
		hooks, _ := cliagent.Read(text, dialect.Origin{File: "f"})
		for _, h := range hooks {
			require.NotEmpty(t, h.Events)
			c, ok := d.Call(hook.Event{Name: hook.PreToolUse, Data: hook.Data{Tool: &hook.Tool{Name: "Bash", Kind: hook.KindShell, Input: []byte(`{"command":"x"}`)}}})
			require.True(t, ok)
			if h.Matches != nil {
				h.Matches(c)
			}
			feed, err := d.Feed(h, c)
			require.NoError(t, err)
			require.NotContains(t, feed.Shell, "\x00")
		}
		written, lost, err := cliagent.Write(hooks)
		require.NoError(t, err)
		if len(lost) > 0 {
			return
		}
		back, problems := cliagent.Read(written, dialect.Origin{File: "f"})
		require.Empty(t, problems)
		require.Len(t, back, len(hooks))
	})
}

func FuzzAnswer(f *testing.F) {
	f.Add(0, []byte(`{"continue":true,"decision":"modify","reason":"x","modified_args":{"a":1},"metadata":{}}`), []byte(""))
	f.Add(2, []byte(`{"decision":"approve"}`), []byte("no\x1b[31m"))
	f.Add(1, []byte("text"), []byte("\xff"))
	d := cliagent.New(nil)
	f.Fuzz(func(t *testing.T, code int, stdout, stderr []byte) {
		c := &dialect.Call{Name: cliagent.PreToolUse, Blocks: true}
		a, err := d.Answer(dialect.Hook{}, c, dialect.Output{ExitCode: code, Stdout: stdout, Stderr: stderr})
		if code == 2 {
			require.NoError(t, err)
			require.Equal(t, hook.Deny, a.Effect)
			require.NotEmpty(t, a.Reason)
		}
		if err != nil {
			require.ErrorIs(t, err, dialect.ErrFailed)
			return
		}
		if code != 0 {
			require.Equal(t, hook.Deny, a.Effect)
		}
		if a.Effect == hook.Deny {
			require.NotEmpty(t, a.Reason)
			require.Nil(t, a.Patch)
		}
		require.NotContains(t, a.Reason, "\x1b")
		require.LessOrEqual(t, a.Effect, hook.Deny)
		if a.Patch != nil {
			require.Equal(t, byte('{'), a.Patch[0])
		}
	})
}
