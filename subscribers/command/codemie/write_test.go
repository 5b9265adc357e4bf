package codemie_test

import (
	"encoding/json"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/grapnel-dev/grapnel/bus/hook"
	"github.com/grapnel-dev/grapnel/runner/process"
	"github.com/grapnel-dev/grapnel/runner/trust"
	"github.com/grapnel-dev/grapnel/subscribers/command/codemie"
	"github.com/grapnel-dev/grapnel/subscribers/command/dialect"
)

func origin() dialect.Origin {
	return dialect.Origin{File: "/home/x/.codemie/codemie-cli.config.json", Source: trust.User}
}

// text draws text that a shell or a model may be given.
func text() *rapid.Generator[string] {
	some := rapid.StringOfN(rapid.RuneFrom([]rune(`ab"'\$<>&{}`+"\n\t ü😀\u2028")), 1, 12, -1)
	return rapid.Map(some, func(s string) string { return "x" + s })
}

func drawnHook(t *rapid.T, event string, model *dialect.Model) dialect.Hook {
	h := dialect.Hook{Type: dialect.TypeCommand, Events: []string{event}}
	if event == "PreToolUse" || event == "PostToolUse" {
		switch rapid.IntRange(0, 3).Draw(t, "matcher") {
		case 1:
			h.Matcher = "*"
		case 2:
			h.Matcher, h.Tools = "Bash|Write", []string{"Bash", "Write"}
		case 3:
			h.Matcher = "mcp__.*"
		}
	}
	if rapid.Bool().Draw(t, "prompt") {
		h.Type, h.Prompt, h.Model = dialect.TypePrompt, text().Draw(t, "text"), model
	} else {
		h.Shell = text().Draw(t, "text")
	}
	h.Timeout = time.Duration(rapid.SampledFrom([]int{0, 1, 1500, 90_000}).Draw(t, "timeout")) * time.Millisecond
	h.Name = rapid.SampledFrom([]string{"", "a", "b c"}).Draw(t, "name")
	if rapid.Bool().Draw(t, "extras") {
		h.When, h.After, h.Async = "event.hops == 0", []string{"a"}, rapid.Bool().Draw(t, "async")
		h.Cache, h.Files, h.Version = 90*time.Second, []string{"/x"}, "1.2"
		h.OnFailure = rapid.SampledFrom([]hook.FailurePolicy{"", hook.FailDeny, hook.FailAsk}).Draw(t, "on_failure")
		h.Sandbox = process.Sandbox{Mode: process.SandboxBestEffort, NoNetwork: true, Limits: process.Limits{OpenFiles: 32}}
	}
	return h
}

// plain is a hook without what only reading gives it.
func plain(h dialect.Hook) dialect.Hook {
	h.Origin, h.Where, h.Definition, h.Matches, h.Profile = dialect.Origin{}, "", nil, nil, ""
	if len(h.Tools) == 0 {
		h.Tools = nil
	}
	return h
}

func TestWhatIsWrittenReadsTheSame(t *testing.T) {
	t.Parallel()
	d := codemie.New()
	rapid.Check(t, func(t *rapid.T) {
		model := &dialect.Model{Provider: rapid.SampledFrom([]string{"", "openai"}).Draw(t, "provider"), BaseURL: "http://x/v1", Name: "m"}
		var want []dialect.Hook
		for _, event := range d.Vocabulary.Names() {
			for range rapid.IntRange(0, 3).Draw(t, "hooks of "+event) {
				want = append(want, drawnHook(t, event, model))
			}
		}
		written, lost, err := d.Write(want)
		require.NoError(t, err)
		assert.Empty(t, lost)
		hooks, problems := d.Read(written, origin())
		if !assert.Empty(t, problems, string(written)) {
			return
		}
		if slices.ContainsFunc(want, func(h dialect.Hook) bool { return h.Model != nil }) {
			for i := range hooks {
				if hooks[i].Model != nil {
					assert.Equal(t, model, hooks[i].Model)
				}
			}
		}
		got := make([]dialect.Hook, len(hooks))
		for i, h := range hooks {
			got[i] = plain(h)
		}
		assert.Equal(t, len(want), len(got))
		for i := range want {
			assert.Equal(t, want[i], got[i], string(written))
		}
	})
}

func TestWhatCannotBeWrittenIsNamed(t *testing.T) {
	t.Parallel()
	d := codemie.New()
	base := dialect.Hook{Name: "h", Events: []string{"PreToolUse"}, Shell: "true"}
	cases := map[string]struct {
		change func(*dialect.Hook)
		want   string
		hooks  int
	}{
		"HTTP":            {func(h *dialect.Hook) { h.Type, h.Shell, h.URL = dialect.TypeHTTP, "", "http://x" }, "no HTTP hooks", 0},
		"disabled":        {func(h *dialect.Hook) { h.Disabled = true }, "disabled", 0},
		"directory":       {func(h *dialect.Hook) { h.Dir = "x" }, "working directory", 1},
		"variables":       {func(h *dialect.Hook) { h.Env = map[string]string{"A": "b"} }, "its variables", 1},
		"templates":       {func(h *dialect.Hook) { h.Shell, h.Command = "", []string{"x", "{{tool_name}}"} }, "values of the event", 1},
		"bound templates": {func(h *dialect.Hook) { h.Variables = []dialect.Variable{{Name: "V"}} }, "values of the event", 1},
		"priority":        {func(h *dialect.Hook) { h.Priority = 1 }, "priority", 1},
		"description":     {func(h *dialect.Hook) { h.Description = "x" }, "description", 1},
		"once":            {func(h *dialect.Hook) { h.Once = true }, "once", 1},
		"if":              {func(h *dialect.Hook) { h.If = "Bash(git *)" }, "condition", 1},
		"an event":        {func(h *dialect.Hook) { h.Events = []string{"Notification", "Stop"} }, `no event "Notification"`, 1},
		"a matcher":       {func(h *dialect.Hook) { h.Events, h.Matcher = []string{"Stop"}, "Bash" }, "Stop has no tool", 1},
		"a key": {func(h *dialect.Hook) {
			h.Type, h.Prompt, h.Model = dialect.TypePrompt, "x", &dialect.Model{Key: "secret"}
		}, "key is not written", 1},
	}
	for name, c := range cases {
		h := base
		c.change(&h)
		written, lost, err := d.Write([]dialect.Hook{h})
		require.NoError(t, err)
		require.Len(t, lost, 1, name)
		assert.Contains(t, lost[0], "hook h: ", name)
		assert.Contains(t, lost[0], c.want, name)
		assert.NotContains(t, string(written), "secret")
		hooks, problems := d.Read(written, origin())
		assert.Empty(t, problems, name)
		assert.Len(t, hooks, c.hooks, name)
	}
	two := []dialect.Hook{
		{Name: "a", Type: dialect.TypePrompt, Events: []string{"Stop"}, Prompt: "x", Model: &dialect.Model{Name: "one"}},
		{Name: "b", Type: dialect.TypePrompt, Events: []string{"Stop"}, Prompt: "y", Model: &dialect.Model{Name: "two"}},
	}
	_, lost, err := d.Write(two)
	require.NoError(t, err)
	require.Len(t, lost, 1)
	assert.Contains(t, lost[0], "hook b: ")
}

func TestAnArgumentVectorIsWrittenAsShellText(t *testing.T) {
	t.Parallel()
	m := newMachine(t)
	words := []string{"printf", "%s|", "a b", "it's", `"$HOME"`, "", "$(touch canary)", "x\ny"}
	written, lost, err := codemie.New().Write([]dialect.Hook{{Name: "h", Events: []string{"PreToolUse"}, Command: words}})
	require.NoError(t, err)
	assert.Empty(t, lost)
	m.configure(string(written))
	hooks, problems := m.set().Hooks(m.dir)
	require.Empty(t, problems)
	result, err := m.runner.Run(t.Context(), process.Spec{Shell: hooks[0].Shell, Dir: m.dir, Env: []string{"PATH=/usr/bin:/bin"}})
	require.NoError(t, err)
	assert.Equal(t, "a b|it's|\"$HOME\"||$(touch canary)|x\ny|", string(result.Stdout.Bytes))
	assert.NoFileExists(t, m.file("canary"))
}

func FuzzRead(f *testing.F) {
	f.Add([]byte(file(commands("PreToolUse", "true"))))
	f.Add([]byte(file(`{"Stop":[{"matcher":"(a|b)","hooks":[{"type":"prompt","prompt":"$PROMPT","timeout":1}]}]}`)))
	f.Add([]byte(`{"version":2,"maxHookRetries":-1,"activeProfile":"a","profiles":{"a":null}}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		d := codemie.New()
		hooks, problems := d.Read(text, origin())
		for _, h := range hooks {
			require.Len(t, h.Events, 1)
			require.Contains(t, d.Vocabulary.Names(), h.Events[0])
			require.True(t, (h.Shell == "") != (h.Prompt == ""), "%+v", h)
			require.GreaterOrEqual(t, h.Timeout, time.Duration(0))
			require.True(t, json.Valid(h.Definition))
		}
		for _, p := range problems {
			require.NotEmpty(t, p.Text)
		}
		written, _, err := d.Write(hooks)
		require.NoError(t, err)
		again, problems := d.Read(written, origin())
		if len(hooks) > 0 {
			require.Empty(t, problems, string(written))
		}
		require.Len(t, again, len(hooks))
	})
}

func FuzzAnswer(f *testing.F) {
	f.Add(0, []byte(`{"decision":"block","reason":"x","updatedInput":{"a":1},"additionalContext":"c"}`), []byte(""), "PreToolUse")
	f.Add(2, []byte(`{"decision":"allow"}`), []byte("no\x1b[0m"), "SessionStart")
	f.Add(1, []byte(`x`), []byte{0xff}, "Stop")
	d := codemie.New()
	f.Fuzz(func(t *testing.T, code int, stdout, stderr []byte, event string) {
		c := &dialect.Call{Name: event, Blocks: true}
		a, err := d.Answer(dialect.Hook{Where: "w"}, c, dialect.Output{ExitCode: code, Stdout: stdout, Stderr: stderr})
		switch {
		case code == 2:
			require.NoError(t, err)
			require.Equal(t, hook.Deny, a.Effect)
			require.NotEmpty(t, a.Reason)
		case code != 0:
			require.ErrorIs(t, err, dialect.ErrFailed)
		}
		if err != nil {
			require.ErrorIs(t, err, dialect.ErrFailed)
			require.Zero(t, a)
			return
		}
		if a.Patch != nil {
			require.Equal(t, "PreToolUse", event)
			require.True(t, json.Valid(a.Patch))
		}
		merged := d.Merge(c, []dialect.Answer{a, {}})
		require.Equal(t, a.Effect, merged.Effect)
		require.Equal(t, a.Reason, merged.Reason)
	})
}
