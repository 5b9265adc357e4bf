package claudecode_test

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
	"github.com/grapnel-dev/grapnel/subscribers/command/claudecode"
	"github.com/grapnel-dev/grapnel/subscribers/command/dialect"
)

func user() dialect.Origin {
	return dialect.Origin{File: "/home/dev/.claude/settings.json", Source: trust.User, Own: true}
}

func TestClaudeCodeRunsItsOwnFilesItself(t *testing.T) {
	t.Parallel()
	m := newMachine(t)
	m.command("PreToolUse", "echo own >&2; exit 2")
	own := claude(m.shell("ls"), "PreToolUse", `{"hook_event_name":"PreToolUse"}`)
	assert.Equal(t, hook.Decision{}, m.decide(own), "or it would run twice")
	assert.Equal(t, hook.Deny, m.decide(m.shell("ls")).Effect, "for other agents nobody else runs it")

	m.moved(`{"hooks":{"PreToolUse":[{"hooks":[{"type":"command","command":"echo moved >&2; exit 2"}]}]}}`)
	d := m.decide(own)
	assert.Equal(t, hook.Deny, d.Effect, "what was moved here runs")
	assert.Equal(t, "moved", d.Reason)
}

func TestOurOwnRegistrationIsNoHook(t *testing.T) {
	t.Parallel()
	text := `{"hooks":{"PreToolUse":[{"hooks":[
		{"type":"command","command":"/usr/local/bin/grapnel-hook claude-code PreToolUse"},
		{"type":"command","command":"exec '/opt/my tools/grapnel-hook' --socket /x claude-code PreToolUse"},
		{"type":"command","command":"grapnel hook claude-code"},
		{"type":"command","command":"/usr/bin/grapnel-hook","args":["claude-code","PreToolUse"]},
		{"type":"command","command":"C:\\grapnel-hook.exe claude-code PreToolUse"},
		{"type":"command","command":"grapnel-hook claude-code PreToolUse; rm -rf /"},
		{"type":"command","command":"grapnel policy test"}]}]}}`
	hooks, problems := claudecode.New().Read([]byte(strings.ReplaceAll(text, `C:\\`, `'C:/x/`+`'`)), user())
	assert.Empty(t, problems)
	require.Len(t, hooks, 2)
	assert.Equal(t, "grapnel-hook claude-code PreToolUse; rm -rf /", hooks[0].Shell)
	assert.Equal(t, "grapnel policy test", hooks[1].Shell)
}

func TestWhatIsWrongIsSaidAndTheRestLoads(t *testing.T) {
	t.Parallel()
	handler := func(s string) string {
		return `{"hooks":{"PreToolUse":[{"hooks":[` + s + `,{"type":"command","command":"good"}]}]}}`
	}
	cases := []struct {
		text, where, problem string
		hooks                int
	}{
		{handler(`{"type":"agent","prompt":"x"}`), "hooks.PreToolUse[0].hooks[0]", "agent loop", 1},
		{handler(`{"type":"mcp_tool","server":"x"}`), "hooks.PreToolUse[0].hooks[0]", "agent loop", 1},
		{handler(`{"type":"shell","command":"x"}`), "hooks.PreToolUse[0].hooks[0].type", "not known", 1},
		{handler(`{"command":"x"}`), "hooks.PreToolUse[0].hooks[0].type", "none", 1},
		{handler(`{"type":"command"}`), "hooks.PreToolUse[0].hooks[0].command", "none", 1},
		{handler(`{"type":"command","command":"x","timeout":-1}`), "hooks.PreToolUse[0].hooks[0].timeout", "time", 1},
		{handler(`{"type":"command","command":"x","timeout":"10"}`), "hooks.PreToolUse[0].hooks[0].timeout", "number", 1},
		{handler(`{"type":"command","command":"x","shell":"fish"}`), "hooks.PreToolUse[0].hooks[0].shell", "bash or powershell", 1},
		{handler(`{"type":"command","command":"x","args":[],"shell":"bash"}`), "hooks.PreToolUse[0].hooks[0].shell", "no shell", 1},
		{handler(`{"type":"http","url":"ftp://x"}`), "hooks.PreToolUse[0].hooks[0].url", "address", 1},
		{handler(`{"type":"prompt"}`), "hooks.PreToolUse[0].hooks[0].prompt", "none", 1},
		{handler(`{"type":"command","command":"x","typo":1}`), "hooks.PreToolUse[0].hooks[0]", `"typo"`, 2},
		{handler(`{"type":"command","command":"x","onFailure":"deny"}`), "hooks.PreToolUse[0].hooks[0].onFailure", "block", 2},
		{handler(`{"type":"command","command":"x","async":true,"onFailure":"block"}`), "hooks.PreToolUse[0].hooks[0].onFailure", "background", 2},
		{handler(`{"type":"command","command":"x","asyncRewake":true}`), "hooks.PreToolUse[0].hooks[0].asyncRewake", "wake", 2},
		{handler(`{"type":"command","command":"x","once":true}`), "hooks.PreToolUse[0].hooks[0].once", "skill", 2},
		{handler(`7`), "hooks.PreToolUse[0].hooks[0]", "object", 1},
		{`{"hooks":{"PreToolUse":[{"matcher":"Bash"}]}}`, "hooks.PreToolUse[0]", `no "hooks"`, 0},
		{`{"hooks":{"PreToolUse":{}}}`, "hooks.PreToolUse", "list", 0},
		{`{"hooks":{"BeforeTool":[]}}`, "hooks.BeforeTool", "no event", 0},
		{`{"hooks":{"Stop":[{"hooks":[{"type":"command","command":"x","onFailure":"block"}]}]}}`, "hooks.Stop[0].hooks[0].onFailure", "does not count", 1},
		{`{"hooks":{"SessionStart":[{"hooks":[{"type":"http","url":"http://x/"}]}]}}`, "hooks.SessionStart[0].hooks[0].type", "no http", 0},
		{`{"hooks":{"Notification":[{"hooks":[{"type":"prompt","prompt":"x"}]}]}}`, "hooks.Notification[0].hooks[0].type", "no prompt", 0},
		{`{"hooks":[]}`, "hooks", "object", 0},
		{`{"hooks":{},"hooks":{}}`, "", "duplicate", 0},
		{`[]`, "", "object", 0},
		{``, "", "empty", 0},
		{`{"disableAllHooks":"yes","hooks":{}}`, "", "all hooks", 0},
		{`{"allowManagedHooksOnly":true,"hooks":{"Stop":[{"hooks":[{"type":"command","command":"x"}]}]}}`, "allowManagedHooksOnly", "managed", 1},
	}
	for _, c := range cases {
		hooks, problems := claudecode.New().Read([]byte(c.text), user())
		assert.Len(t, hooks, c.hooks, c.text)
		if assert.Len(t, problems, 1, c.text) {
			assert.Equal(t, c.where, problems[0].Where, c.text)
			assert.Contains(t, problems[0].Text, c.problem, c.text)
		}
	}
	hooks, problems := claudecode.New().Read([]byte(`{"permissions":{},"model":"x","hooks":{"preToolUse":{"mine":"x"}}}`), user())
	assert.Empty(t, hooks)
	assert.Empty(t, problems, "other settings, and claude-agent's own hooks")
}

func TestTimeouts(t *testing.T) {
	t.Parallel()
	for event, want := range map[string]time.Duration{
		"PreToolUse": 0, "UserPromptSubmit": 30 * time.Second, "PreModelSwitch": 30 * time.Second, "MessageDisplay": 10 * time.Second, "SessionEnd": 1500 * time.Millisecond,
	} {
		h, _ := one(t, event, "", "")
		assert.Equal(t, want, h.Timeout, event)
	}
	assert.Equal(t, 600*time.Second, claudecode.New().Timeout)
	h, _ := one(t, "SessionEnd", "", `,"timeout":300`)
	assert.Equal(t, time.Minute, h.Timeout)
	h, _ = one(t, "PreToolUse", "", `,"timeout":1.5`)
	assert.Equal(t, 1500*time.Millisecond, h.Timeout)
	hooks, _ := claudecode.New().Read([]byte(`{"hooks":{"Stop":[{"hooks":[{"type":"prompt","prompt":"x"}]}]}}`), user())
	assert.Equal(t, 30*time.Second, hooks[0].Timeout)
}

func TestSettlingWhatFilesSayAboutEachOther(t *testing.T) {
	t.Parallel()
	managed := dialect.Origin{File: "/etc/claude-code/managed-settings.json", Source: trust.Managed}
	work := dialect.Origin{File: "/work/.claude/settings.json", Source: trust.Workspace, Workspace: "/work"}
	local := dialect.Origin{File: "/work/.claude/settings.local.json", Source: trust.Workspace, Workspace: "/work"}
	plugin := dialect.Origin{File: "/home/dev/.claude/plugins/x/hooks/hooks.json", Source: trust.Extension}
	session := dialect.Origin{File: "session", Source: trust.Session}
	all := []dialect.Origin{managed, user(), work, local, plugin, session}
	var hooks []dialect.Hook
	for _, o := range all {
		hooks = append(hooks, dialect.Hook{Type: dialect.TypeHTTP, URL: "https://a.example/x", AllowedEnv: []string{"A", "B"}, Origin: o})
	}
	run := func(from dialect.Origin, text string) (enabled, left []trust.Source) {
		kept, _ := claudecode.Settle([]dialect.Text{{From: from, Text: []byte(text)}}, hooks)
		for _, h := range kept {
			left = append(left, h.Origin.Source)
			if !h.Disabled {
				enabled = append(enabled, h.Origin.Source)
			}
		}
		return enabled, left
	}
	sources := func(list ...trust.Source) []trust.Source { return list }
	everyone := sources(trust.Managed, trust.User, trust.Workspace, trust.Workspace, trust.Extension, trust.Session)

	enabled, _ := run(managed, `{"disableAllHooks":true}`)
	assert.Empty(t, enabled)
	enabled, _ = run(user(), `{"disableAllHooks":true}`)
	assert.Equal(t, sources(trust.Managed, trust.Session), enabled, "managed hooks cannot be turned off from below")
	enabled, _ = run(work, `{"disableAllHooks":true}`)
	assert.Equal(t, sources(trust.Managed, trust.User, trust.Extension, trust.Session), enabled, "a workspace takes away its own hooks alone")
	enabled, _ = run(managed, `{"allowManagedHooksOnly":true}`)
	assert.Equal(t, sources(trust.Managed), enabled)
	enabled, _ = run(work, `{"allowManagedHooksOnly":true}`)
	assert.Equal(t, everyone, enabled)
	_, left := run(managed, `{"allowedHttpHookUrls":["https://b.example/*"]}`)
	assert.Empty(t, left)
	_, left = run(work, `{"allowedHttpHookUrls":[]}`)
	assert.Equal(t, sources(trust.Managed, trust.User, trust.Extension, trust.Session), left)
	_, left = run(user(), `{"allowedHttpHookUrls":["https://*.example/*"]}`)
	assert.Equal(t, everyone, left)

	kept, _ := claudecode.Settle([]dialect.Text{{From: user(), Text: []byte(`{"httpHookAllowedEnvVars":["B","C"]}`)}}, hooks)
	assert.Equal(t, []string{"A", "B"}, kept[0].AllowedEnv)
	assert.Equal(t, []string{"B"}, kept[1].AllowedEnv)
	assert.Equal(t, []string{"A", "B"}, hooks[1].AllowedEnv, "what was given is not changed")

	other := work
	other.Workspace = "/other"
	enabled, _ = run(other, `{"disableAllHooks":true}`)
	assert.Equal(t, everyone, enabled, "nor those of another workspace")
}

func TestAnAddressThatIsNotAllowedDoesNotLoad(t *testing.T) {
	t.Parallel()
	hooks, problems := claudecode.New().Read([]byte(strings.Replace(example(t, "http.json"), "https://hooks.example.com/pre", "https://hooks.example.org/pre", 1)), user())
	assert.Empty(t, hooks)
	require.Len(t, problems, 1)
	assert.Contains(t, problems[0].Text, "allowedHttpHookUrls")
}

func TestTheSameHookInTwoFilesRunsOnce(t *testing.T) {
	t.Parallel()
	m := newMachine(t)
	text := `{"hooks":{"PreToolUse":[{"matcher":"Bash","hooks":[{"type":"command","command":"echo x >> count"}]}]}}`
	m.settings(text)
	m.write(".claude/settings.json", text)
	m.write(".claude/settings.local.json", text)
	m.decide(m.shell("ls"))
	assert.Equal(t, "x\n", m.read("count"))
}

func TestHooksOfAnEventRunAtTheSameTime(t *testing.T) {
	t.Parallel()
	m := newMachine(t)
	// Each waits for the other.
	m.settings(`{"hooks":{"PreToolUse":[{"hooks":[
		{"type":"command","command":"touch a; while [ ! -e b ]; do sleep 0.05; done","timeout":30},
		{"type":"command","command":"touch b; while [ ! -e a ]; do sleep 0.05; done; echo no >&2; exit 2","timeout":30}]}]}}`)
	assert.Equal(t, "no", m.decide(m.shell("ls")).Reason)
}

// plain is a hook without what only reading gives it.
func plain(h dialect.Hook) dialect.Hook {
	h.Origin, h.Where, h.Definition, h.Matches = dialect.Origin{}, "", nil, nil
	return h
}

func TestWhatIsWrittenReadsTheSame(t *testing.T) {
	t.Parallel()
	d := claudecode.New()
	rapid.Check(t, func(t *rapid.T) {
		some := rapid.Map(rapid.StringOfN(rapid.RuneFrom([]rune(`ab"'\$<>&{}`+"\n\t ü😀\u2028")), 1, 12, -1), func(s string) string { return "x" + s })
		var want []dialect.Hook
		for i := range rapid.IntRange(0, 6).Draw(t, "hooks") {
			h := dialect.Hook{Type: dialect.TypeCommand, Events: []string{rapid.SampledFrom([]string{"PreToolUse", "PostToolUse", "Stop", "UserPromptSubmit"}).Draw(t, "event")}}
			tool := strings.HasSuffix(h.Events[0], "ToolUse")
			switch rapid.IntRange(0, 3).Draw(t, "matcher") {
			case 1:
				h.Matcher = "*"
			case 2:
				h.Matcher = "Bash|Write"
				if tool {
					h.Tools = []string{"Bash", "Write"}
				}
			case 3:
				h.Matcher = "mcp__.*"
			}
			switch rapid.IntRange(0, 4).Draw(t, "type") {
			case 0:
				h.Shell = some.Draw(t, "shell")
			case 1:
				h.Command = append([]string{some.Draw(t, "program")}, rapid.SliceOfN(some, 0, 3).Draw(t, "args")...)
			case 2:
				h.Command = []string{"bash", "-c", some.Draw(t, "bash")}
			case 3:
				h.Type, h.Prompt = dialect.TypePrompt, some.Draw(t, "prompt")
				if rapid.Bool().Draw(t, "model") {
					h.Model = &dialect.Model{Name: "m"}
				}
			case 4:
				h.Type, h.URL, h.Headers, h.AllowedEnv = dialect.TypeHTTP, "https://x.example/y", map[string]string{"A": some.Draw(t, "header")}, []string{"B"}
			}
			h.Timeout = time.Duration(rapid.SampledFrom([]int{0, 1, 1500, 90_000}).Draw(t, "timeout")) * time.Millisecond
			if h.Timeout == 0 && (h.Type == dialect.TypePrompt || h.Events[0] == "UserPromptSubmit") {
				h.Timeout = 30 * time.Second
			}
			h.Name = rapid.SampledFrom([]string{"", fmt.Sprint("n", i)}).Draw(t, "name")
			h.Description = rapid.SampledFrom([]string{"", "what it does"}).Draw(t, "description")
			if tool {
				h.If = rapid.SampledFrom([]string{"", "Bash(git *)"}).Draw(t, "if")
			}
			h.OnFailure = rapid.SampledFrom([]hook.FailurePolicy{"", hook.FailDeny, hook.FailAsk, hook.FailAbstain}).Draw(t, "on_failure")
			if rapid.Bool().Draw(t, "extras") {
				h.When, h.After, h.Async = "event.hops == 0", []string{"a"}, rapid.Bool().Draw(t, "async")
				h.Cache, h.Files, h.Version = 90*time.Second, []string{"/x"}, "1.2"
				h.Sandbox = process.Sandbox{Mode: process.SandboxBestEffort, NoNetwork: true, Limits: process.Limits{OpenFiles: 32}}
			}
			want = append(want, h)
		}
		text, lost, err := d.Write(want)
		require.NoError(t, err)
		assert.Empty(t, lost)
		hooks, problems := d.Read(text, user())
		assert.Empty(t, problems, string(text))
		// The file groups hooks by their event.
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
		}
	})
}

func TestWhatCannotBeWrittenIsNamed(t *testing.T) {
	t.Parallel()
	d := claudecode.New()
	for what, change := range map[string]func(*dialect.Hook){
		"working directory": func(h *dialect.Hook) { h.Dir = "x" }, "variables": func(h *dialect.Hook) { h.Env = map[string]string{"A": "b"} },
		"priority": func(h *dialect.Hook) { h.Priority = 1 }, "disabled": func(h *dialect.Hook) { h.Disabled = true },
		"after it has failed": func(h *dialect.Hook) { h.KeepGoing = true }, "once in a session": func(h *dialect.Hook) { h.Once = true },
		"no event": func(h *dialect.Hook) { h.Events = []string{"Other"} }, "no command": func(h *dialect.Hook) { h.Shell = "" },
		"no http hooks": func(h *dialect.Hook) { h.Type, h.Events = dialect.TypeHTTP, []string{"SessionStart"} },
		"provider": func(h *dialect.Hook) {
			h.Type, h.Prompt, h.Model = dialect.TypePrompt, "x", &dialect.Model{Key: "secret"}
		},
	} {
		h := dialect.Hook{Name: "h", Type: dialect.TypeCommand, Events: []string{"PreToolUse"}, Shell: "true"}
		change(&h)
		text, lost, err := d.Write([]dialect.Hook{h})
		require.NoError(t, err)
		require.Len(t, lost, 1, what)
		assert.Contains(t, lost[0], what)
		assert.True(t, json.Valid(text))
		assert.NotContains(t, string(text), "secret")
		_, problems := d.Read(text, user())
		assert.Empty(t, problems)
	}
	// Tools of a hook that comes from another dialect make the matcher.
	text, _, err := d.Write([]dialect.Hook{{Type: dialect.TypeCommand, Events: []string{"PreToolUse"}, Shell: "x", Matcher: "bash_execute", Tools: []string{"Bash", "a:b"}}})
	require.NoError(t, err)
	hooks, problems := d.Read(text, user())
	require.Empty(t, problems)
	e := hook.Event{Name: hook.PreToolUse, Data: hook.Data{Tool: &hook.Tool{Name: "a:b"}}}
	assert.True(t, selects(hooks[0], e))
	e.Data.Tool = &hook.Tool{Name: "xa:bx"}
	assert.False(t, selects(hooks[0], e))
}

func FuzzRead(f *testing.F) {
	for _, name := range []string{"documented.json", "http.json", "SKILL.md", "reviewer.md", "hooks.json", "stop.json"} {
		f.Add(name, []byte(example(&testing.T{}, name)))
	}
	f.Add("settings.json", []byte(`{"disableAllHooks":true,"hooks":{"Stop":[{"hooks":[{"type":"command","command":"x"}]}]}}`))
	d := claudecode.New()
	f.Fuzz(func(t *testing.T, name string, text []byte) {
		hooks, _ := d.Read(text, dialect.Origin{File: "/p/hooks/" + name, Source: trust.User})
		ids := map[string]bool{}
		for _, h := range hooks {
			assert.Len(t, h.Events, 1)
			assert.False(t, ids[h.ID()], "%s", h.ID())
			ids[h.ID()] = true
			assert.True(t, h.Shell != "" || len(h.Command) > 0 || h.Prompt != "" || h.URL != "")
			c := &dialect.Call{Name: h.Events[0], Tool: "Bash", Workspace: "/w"}
			if h.Matches != nil {
				h.Matches(c)
			}
			_, err := d.Feed(h, c)
			assert.NoError(t, err)
		}
		_, _, err := d.Write(hooks)
		assert.NoError(t, err)
	})
}
