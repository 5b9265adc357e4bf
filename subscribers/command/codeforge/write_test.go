package codeforge_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/grapnel-dev/grapnel/bus/hook"
	"github.com/grapnel-dev/grapnel/runner/process"
	"github.com/grapnel-dev/grapnel/subscribers/command/codeforge"
	"github.com/grapnel-dev/grapnel/subscribers/command/dialect"
)

func same(h dialect.Hook) dialect.Hook {
	h.Origin, h.Where, h.Definition, h.Matches = dialect.Origin{}, "", nil, nil
	return h
}

func TestE3WhatIsWrittenReadsBack(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		var list []dialect.Hook
		for range rapid.IntRange(0, 5).Draw(t, "hooks") {
			pattern := rapid.SampledFrom([]string{"*", "tool:*", "tool:pre_execute:bash", "tool:*:write", "session:start,session:end", "tool:pre_execute:bash,tool:pre_execute:write", "llm:*,tool:error:x*"}).Draw(t, "event")
			read, problems := codeforge.Read([]byte(hooks(pattern, "x")), dialect.Origin{})
			require.Empty(t, problems)
			h := read[0]
			h.Shell = rapid.StringMatching(`[a-z$"'<>&{}é\n]{1,20}x`).Draw(t, "command")
			h.Timeout = time.Duration(rapid.IntRange(0, 5000).Draw(t, "timeout")) * 250 * time.Millisecond
			h.Dir, h.Description = rapid.SampledFrom([]string{"", "/tmp", "a b"}).Draw(t, "dir"), rapid.StringMatching(`[a-z <>&"é]{0,9}`).Draw(t, "description")
			h.Disabled, h.KeepGoing = rapid.Bool().Draw(t, "disabled"), rapid.Bool().Draw(t, "keep going")
			if rapid.Bool().Draw(t, "extras") {
				h.Name, h.Env, h.When, h.After, h.Async, h.Cache, h.Files = "n", map[string]string{"A": "b"}, "true", []string{"x"}, true, 90*time.Second, []string{"f"}
				h.OnFailure, h.Version, h.Sandbox = hook.FailAsk, "1.2", process.Sandbox{Mode: process.SandboxBestEffort, ReadWrite: []string{"/tmp"}}
			}
			list = append(list, h)
		}
		text, lost, err := codeforge.Write(list)
		require.NoError(t, err)
		require.Empty(t, lost)
		back, problems := codeforge.Read(text, dialect.Origin{File: "f"})
		require.Empty(t, problems, string(text))
		require.Len(t, back, len(list))
		for i := range list {
			require.Equal(t, same(list[i]), same(back[i]), string(text))
		}
	})
}

func TestWriteSaysWhatIsLostAndMakesPatterns(t *testing.T) {
	t.Parallel()
	text, lost, err := codeforge.Write([]dialect.Hook{
		{Name: "a", Type: dialect.TypePrompt, Events: []string{codeforge.ToolPreExecute}, Prompt: "?"},
		{Name: "b", Type: dialect.TypeCommand, Events: []string{codeforge.ToolPreExecute}, Shell: "echo $EVENT", Variables: []dialect.Variable{{Name: "EVENT"}}},
		{Name: "c", Type: dialect.TypeCommand, Events: []string{codeforge.ToolPreExecute}, Shell: "x", Matcher: "x.*y", Matches: func(*dialect.Call) bool { return true }},
		{Name: "d", Type: dialect.TypeCommand, Events: []string{codeforge.ToolPreExecute, codeforge.ToolError}, Matcher: "bash|write", Tools: []string{"bash", "write"}, Command: []string{"/x y", "it's"}, If: "Bash(x)", Once: true, Priority: 1},
		{Name: "e", Type: dialect.TypeCommand, Events: []string{codeforge.SessionStart, codeforge.SessionEnd}, Matcher: "*", Shell: "y"},
	})
	require.NoError(t, err)
	assert.Len(t, lost, 6)
	list, problems := codeforge.Read(text, dialect.Origin{})
	assert.Empty(t, problems)
	require.Len(t, list, 2)
	assert.Equal(t, "tool:pre_execute:bash,tool:pre_execute:write,tool:error:bash,tool:error:write", list[0].Matcher)
	assert.Equal(t, `'/x y' 'it'\''s'`, list[0].Shell)
	assert.Equal(t, "session:start,session:end", list[1].Matcher)
}

func FuzzRead(f *testing.F) {
	for _, name := range []string{"configuration-format", "global", "project"} {
		text, err := os.ReadFile(filepath.Join("testdata", name+".json"))
		require.NoError(f, err)
		f.Add(text)
	}
	f.Add([]byte(`{"stop_on_failure":false,"hooks":[{"event":"tool:*:w?*,*","command":"x","env":{"A":"b"},"enabled":false,"sandbox":"off"}]}`))
	d := codeforge.New()
	f.Fuzz(func(t *testing.T, text []byte) {
		list, _ := codeforge.Read(text, dialect.Origin{File: "f"})
		for _, h := range list {
			require.NotEmpty(t, h.Events)
			c, ok := d.Call(hook.Event{Name: hook.PreToolUse, Data: hook.Data{Tool: &hook.Tool{Name: "Bash", Kind: hook.KindShell, Input: text}}})
			require.True(t, ok)
			if h.Matches != nil {
				h.Matches(c)
			}
		}
		written, lost, err := codeforge.Write(list)
		require.NoError(t, err)
		require.Empty(t, lost)
		back, problems := codeforge.Read(written, dialect.Origin{File: "f"})
		require.Len(t, back, len(list))
		for _, p := range problems {
			require.Contains(t, p.Text, "source")
		}
	})
}

func FuzzAnswer(f *testing.F) {
	f.Add(0, []byte(`{}`), []byte(""), true)
	f.Add(1, []byte("Blocked: sudo\x1b[31m"), []byte("\xff"), true)
	f.Add(127, []byte(""), []byte("not found"), true)
	f.Add(-1, []byte(""), []byte(""), false)
	d := codeforge.New()
	f.Fuzz(func(t *testing.T, code int, stdout, stderr []byte, blocks bool) {
		a, err := d.Answer(dialect.Hook{}, &dialect.Call{Blocks: blocks}, dialect.Output{ExitCode: code, Stdout: stdout, Stderr: stderr})
		switch {
		case code == 0:
			require.NoError(t, err)
			require.Equal(t, hook.Abstain, a.Effect)
		case code == 127 || !blocks:
			require.ErrorIs(t, err, dialect.ErrFailed)
		default:
			require.NoError(t, err)
			require.Equal(t, hook.Deny, a.Effect)
			require.NotEmpty(t, strings.TrimSpace(a.Reason))
			require.True(t, a.End)
			require.NotContains(t, a.Reason, "\x1b")
		}
	})
}
