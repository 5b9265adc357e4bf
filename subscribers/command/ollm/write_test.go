package ollm_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/grapnel-dev/grapnel/bus/hook"
	"github.com/grapnel-dev/grapnel/runner/process"
	"github.com/grapnel-dev/grapnel/runner/trust"
	"github.com/grapnel-dev/grapnel/subscribers/command/dialect"
	"github.com/grapnel-dev/grapnel/subscribers/command/ollm"
)

func origin() dialect.Origin {
	return dialect.Origin{File: "/home/x/.ollm/hooks/hooks.json", Source: trust.User}
}

func drawnHook(t *rapid.T, id, event string) dialect.Hook {
	word := rapid.StringOfN(rapid.RuneFrom([]rune(`ab"'\*?~#-=/% ü😀`)), 0, 8, -1)
	h := dialect.Hook{
		Type: dialect.TypeCommand, Name: id, Events: []string{event},
		Description: rapid.SampledFrom([]string{"", "Log Model Calls"}).Draw(t, "name"),
		Command: append([]string{rapid.SampledFrom([]string{"node", "sh", "/opt/a b/c"}).Draw(t, "command")},
			rapid.SliceOfN(word, 0, 3).Draw(t, "args")...),
		Timeout:  time.Duration(rapid.SampledFrom([]int{0, 1, 1500}).Draw(t, "timeout")) * time.Millisecond,
		Priority: rapid.IntRange(-5, 5).Draw(t, "priority"),
	}
	if (event == "before_tool" || event == "after_tool") && rapid.Bool().Draw(t, "matcher") {
		h.Matcher, h.Tools = "shell|write_file", []string{"shell", "write_file"}
	}
	if rapid.Bool().Draw(t, "extras") {
		h.When, h.After, h.Async = "event.hops == 0", []string{"a"}, true
		h.Cache, h.Files, h.Version = 90*time.Second, []string{"/x"}, "1.2"
		h.OnFailure = hook.FailDeny
		h.Sandbox = process.Sandbox{Mode: process.SandboxRequired, Limits: process.Limits{CPU: hook.Duration(time.Second)}}
	}
	return h
}

func TestWhatIsWrittenReadsTheSame(t *testing.T) {
	t.Parallel()
	d := ollm.New()
	rapid.Check(t, func(t *rapid.T) {
		var want []dialect.Hook
		for _, event := range d.Vocabulary.Names() {
			for i := range rapid.IntRange(0, 2).Draw(t, "hooks of "+event) {
				want = append(want, drawnHook(t, event+string(rune('a'+i)), event))
			}
		}
		written, lost, err := d.Write(want)
		require.NoError(t, err)
		assert.Empty(t, lost)
		hooks, problems := d.Read(written, origin())
		if len(want) > 0 || len(problems) > 0 {
			require.Empty(t, problems, string(written))
		}
		require.Len(t, hooks, len(want))
		for i, h := range hooks {
			h.Origin, h.Where, h.Definition, h.Matches = dialect.Origin{}, "", nil, nil
			require.Equal(t, want[i], h, string(written))
		}
	})
}

func TestWhatCannotBeWrittenIsNamed(t *testing.T) {
	t.Parallel()
	d := ollm.New()
	base := dialect.Hook{Name: "h", Events: []string{"before_tool"}, Command: []string{"sh", "/x.sh"}}
	cases := map[string]struct {
		change func(*dialect.Hook)
		want   string
		hooks  int
	}{
		"HTTP":            {func(h *dialect.Hook) { h.Type, h.URL = dialect.TypeHTTP, "http://x" }, "no http hooks", 0},
		"prompt":          {func(h *dialect.Hook) { h.Type, h.Prompt = dialect.TypePrompt, "x" }, "no prompt hooks", 0},
		"disabled":        {func(h *dialect.Hook) { h.Disabled = true }, "disabled", 0},
		"shell":           {func(h *dialect.Hook) { h.Shell = "echo 'x y'" }, "no shell", 0},
		"a pipe":          {func(h *dialect.Hook) { h.Shell = "/bin/cat | /bin/cat" }, "not permitted", 0},
		"a relative path": {func(h *dialect.Hook) { h.Shell = "./check.sh" }, "not permitted", 0},
		"nothing":         {func(h *dialect.Hook) { h.Command = nil }, "no command", 0},
		"a template":      {func(h *dialect.Hook) { h.Command = []string{"sh", "{{tool_name}}"} }, "not permitted", 0},
		"a matcher":       {func(h *dialect.Hook) { h.Matcher = "mcp__.*" }, "runs for every tool", 1},
		"a stray matcher": {func(h *dialect.Hook) { h.Events, h.Tools = []string{"before_agent"}, []string{"shell"} }, "has no tool", 1},
		"directory":       {func(h *dialect.Hook) { h.Dir = "x" }, "working directory", 1},
		"variables":       {func(h *dialect.Hook) { h.Env = map[string]string{"A": "b"} }, "its variables", 1},
		"bound templates": {func(h *dialect.Hook) { h.Variables = []dialect.Variable{{Name: "V"}} }, "values of the event", 1},
		"once":            {func(h *dialect.Hook) { h.Once = true }, "once", 1},
		"if":              {func(h *dialect.Hook) { h.If = "Bash(git *)" }, "condition", 1},
		"goes on":         {func(h *dialect.Hook) { h.KeepGoing = true }, "run whatever it says", 1},
		"an event":        {func(h *dialect.Hook) { h.Events = []string{"Interrupt", "before_tool"} }, `no event "Interrupt"`, 1},
	}
	for name, c := range cases {
		h := base
		c.change(&h)
		written, lost, err := d.Write([]dialect.Hook{h})
		require.NoError(t, err)
		require.Len(t, lost, 1, name)
		assert.Contains(t, lost[0], "hook h: ", name)
		assert.Contains(t, lost[0], c.want, name)
		hooks, problems := d.Read(written, origin())
		assert.Empty(t, problems, name)
		assert.Len(t, hooks, c.hooks, name)
	}
}

func TestPlainShellTextBecomesACommand(t *testing.T) {
	t.Parallel()
	d := ollm.New()
	written, lost, err := d.Write([]dialect.Hook{
		{Events: []string{"before_tool", "after_tool"}, Shell: "python3 /opt/check.py --strict"},
		{Name: "same", Events: []string{"before_tool"}, Shell: "/opt/a"}, {Name: "same", Events: []string{"before_tool"}, Shell: "/opt/b"},
	})
	require.NoError(t, err)
	assert.Empty(t, lost)
	hooks, problems := d.Read(written, origin())
	require.Empty(t, problems)
	require.Len(t, hooks, 4)
	assert.Equal(t, []string{"python3", "/opt/check.py", "--strict"}, hooks[0].Command)
	assert.Equal(t, []string{"hook", "same", "same-2", "hook"}, []string{hooks[0].Name, hooks[1].Name, hooks[2].Name, hooks[3].Name})
}

func FuzzRead(f *testing.F) {
	f.Add([]byte(file("before_tool", `{"id":"x","name":"X","command":"node","args":["/x.js"],"source":"user","sourcePath":"/x.js"}`)))
	f.Add([]byte(`{"enabled":false,"timeout":1,"trustWorkspace":true,"hooks":{"notification":[{"command":"/x","matcher":"a","priority":-1}]}}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		d := ollm.New()
		for _, source := range []trust.Source{trust.User, trust.Workspace} {
			from := origin()
			from.Source = source
			hooks, problems := d.Read(text, from)
			for _, h := range hooks {
				require.Len(t, h.Events, 1)
				require.Contains(t, d.Vocabulary.Names(), h.Events[0])
				require.GreaterOrEqual(t, h.Origin.Source.Order(), source.Order())
				require.True(t, json.Valid(h.Definition))
				for _, word := range h.Command {
					require.NotContains(t, word, ";")
					require.NotContains(t, word, "$")
				}
			}
			for _, p := range problems {
				require.NotEmpty(t, p.Text)
			}
			for i := range hooks {
				hooks[i].Disabled = false
			}
			written, _, err := d.Write(hooks)
			require.NoError(t, err)
			again, problems := d.Read(written, origin())
			require.Empty(t, problems, string(written))
			require.Len(t, again, len(hooks))
		}
		_ = ollm.TrustsWorkspaces(text)
	})
}

func FuzzAnswer(f *testing.F) {
	f.Add(0, []byte(`{"continue":true,"systemMessage":"x","data":{"a":1},"error":"e"}`), []byte(""))
	f.Add(1, []byte("text\n{\"continue\":false}\ntext"), []byte("no\x1b[0m"))
	f.Add(0, []byte("{\n{\"continue\":true}{\"continue\":true}"), []byte{0xff})
	d := ollm.New()
	f.Fuzz(func(t *testing.T, code int, stdout, stderr []byte) {
		a, err := d.Answer(dialect.Hook{Name: "h"}, &dialect.Call{Name: "before_tool"}, dialect.Output{ExitCode: code, Stdout: stdout, Stderr: stderr})
		if err != nil {
			require.ErrorIs(t, err, dialect.ErrFailed)
			require.Zero(t, a)
			return
		}
		switch a.Effect {
		case hook.Deny:
			require.True(t, a.End)
			require.NotEmpty(t, a.Reason)
		default:
			require.Equal(t, hook.Abstain, a.Effect, "there is no allow")
			require.Zero(t, code)
		}
		if a.Data != nil {
			var object map[string]any
			require.NoError(t, json.Unmarshal(a.Data, &object))
		}
	})
}
