package command_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/goccy/go-yaml"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/grapnel-dev/grapnel/bus/hook"
	"github.com/grapnel-dev/grapnel/internal/strictjson"
	"github.com/grapnel-dev/grapnel/runner/process"
	"github.com/grapnel-dev/grapnel/subscribers/command"
)

func TestConfiguration(t *testing.T) {
	t.Parallel()
	var h command.Hook
	require.NoError(t, yaml.UnmarshalWithOptions([]byte(`
name: no-todo
on: [pre_tool_use.bash, "*.Write", stop]
when: 'event.tool.kind == "shell"'
command: [echo, --strict]
timeout: 1m30s
priority: 7
on_failure: ask
rewrites: true
grants: true
env: [FOO, BAR]
`), &h, yaml.Strict()))
	want := command.Hook{
		Name: "no-todo", On: []string{"pre_tool_use.bash", "*.Write", "stop"}, When: `event.tool.kind == "shell"`,
		Command: []string{"echo", "--strict"}, Timeout: hook.Duration(90 * time.Second), Priority: 7, OnFailure: hook.FailAsk,
		Rewrites: true, Grants: true, Env: []string{"FOO", "BAR"},
	}
	assert.Equal(t, want, h)
	b, err := json.Marshal(want)
	require.NoError(t, err)
	var back command.Hook
	require.NoError(t, strictjson.Unmarshal(b, &back, 0))
	assert.Equal(t, want, back)
	require.NoError(t, h.Validate())

	entry := h.Entry()
	require.NoError(t, entry.Validate())
	assert.Equal(t, hook.Entry{
		Name: "no-todo", Filter: "pre_tool_use.bash,*.Write,stop", When: h.When, Priority: 7,
		Timeout: hook.Duration(90 * time.Second), OnFailure: hook.FailAsk, Rewrites: true, Grants: true,
	}, entry)
	pattern, err := h.Pattern()
	require.NoError(t, err)
	assert.True(t, pattern.Match(hook.PreToolUse, "Bash"))
	assert.True(t, pattern.Match(hook.PostToolUse, "Write"))
	assert.True(t, pattern.Match(hook.Stop, ""))
	assert.False(t, pattern.Match(hook.PreToolUse, "Read"))

	h.Timeout = 0
	assert.Equal(t, hook.Duration(command.DefaultTimeout), h.Entry().Timeout)
}

func TestBadConfiguration(t *testing.T) {
	t.Parallel()
	good := command.Hook{Name: "h", On: []string{"stop"}, Shell: "true"}
	argv := func(v ...string) func(*command.Hook) {
		return func(h *command.Hook) { h.Shell, h.Command = "", v }
	}
	for name, c := range map[string]struct {
		change func(*command.Hook)
		says   string
	}{
		"no name":               {func(h *command.Hook) { h.Name = "" }, "name"},
		"name is no token":      {func(h *command.Hook) { h.Name = "a.b" }, "name"},
		"no events":             {func(h *command.Hook) { h.On = nil }, "on:"},
		"empty pattern":         {func(h *command.Hook) { h.On = []string{""} }, "empty pattern"},
		"unknown event":         {func(h *command.Hook) { h.On = []string{"PreToolUse"} }, "PreToolUse"},
		"nothing to run":        {func(h *command.Hook) { h.Shell = " " }, "nothing to run"},
		"both":                  {func(h *command.Hook) { h.Command = []string{"true"} }, "not both"},
		"template in shell":     {func(h *command.Hook) { h.Shell = `check "{{tool.name}}"` }, "$GRAPNEL_TOOL_NAME"},
		"braces in shell":       {func(h *command.Hook) { h.Shell = `docker ps --format '{{.Names}}'` }, "shell"},
		"NUL in shell":          {func(h *command.Hook) { h.Shell = "true\x00" }, "NUL"},
		"part of an argument":   {argv("echo", "--name={{tool.name}}"), "whole argument"},
		"two in one":            {argv("echo", "{{tool.name}}{{cwd}}"), "whole argument"},
		"unclosed":              {argv("echo", "{{tool.name"), "whole argument"},
		"unknown template":      {argv("echo", "{{tool.nam}}"), "tool.name"},
		"empty template":        {argv("echo", "{{}}"), "there are"},
		"empty member":          {argv("echo", "{{tool.input.}}"), "empty"},
		"template as program":   {argv("{{tool.name}}"), "program"},
		"empty program":         {argv(""), "empty"},
		"NUL in an argument":    {argv("echo", "\x00"), "NUL"},
		"relative program":      {argv("./check"), "absolute"},
		"program not found":     {argv("no-such-program-anywhere"), "PATH"},
		"absolute, not found":   {argv("/no/such/program"), "not found"},
		"negative time-out":     {func(h *command.Hook) { h.Timeout = -1 }, "negative"},
		"time-out beyond a day": {func(h *command.Hook) { h.Timeout = hook.Duration(25 * time.Hour) }, "timeout"},
		"unknown policy":        {func(h *command.Hook) { h.OnFailure = "allow" }, "failure policy"},
		"variable with a star":  {func(h *command.Hook) { h.Env = []string{"AWS_*"} }, "exactly"},
		"variable with a value": {func(h *command.Hook) { h.Env = []string{"A=b"} }, "exactly"},
		"our own variable":      {func(h *command.Hook) { h.Env = []string{"GRAPNEL_HOPS"} }, "GRAPNEL_"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := good
			c.change(&h)
			_, err := command.New(h, nil)
			require.ErrorIs(t, err, command.ErrConfig)
			assert.ErrorContains(t, err, c.says)
		})
	}
	_, err := command.New(command.Hook{}, nil)
	assert.ErrorContains(t, err, "nothing to run", "everything that is wrong is named at once")
	assert.ErrorContains(t, err, "on:")
}

// TestProgramIsFoundOnce puts another program of the same name in front.
func TestProgramIsFoundOnce(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	before, after := filepath.Join(dir, "before"), filepath.Join(dir, "after")
	program := func(in, says string) {
		require.NoError(t, os.MkdirAll(in, 0o755))
		require.NoError(t, os.WriteFile(filepath.Join(in, "check"), []byte("#!/bin/sh\necho "+says+" >&2\nexit 2\n"), 0o755))
	}
	program(after, "mine")
	environ := []string{"PATH=.:" + before + ":" + after + ":/usr/bin:/bin"}
	e := event(t)
	program(e.Data.CWD, "from the working directory")
	c := ready(t, command.Hook{Command: []string{"check"}}, &command.Options{Environ: environ})
	program(before, "another")
	d, err := c.Decide(t.Context(), e)
	require.NoError(t, err)
	assert.Equal(t, "mine", d.Reason)

	_, err = command.New(command.Hook{Name: "h", On: []string{"stop"}, Command: []string{"check"}}, &command.Options{Environ: []string{"PATH=.:relative:"}})
	require.ErrorIs(t, err, process.ErrNotFound)
	assert.ErrorContains(t, err, "relative entries")
}
