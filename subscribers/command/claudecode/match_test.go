package claudecode_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/grapnel-dev/grapnel/bus/hook"
	"github.com/grapnel-dev/grapnel/runner/trust"
	"github.com/grapnel-dev/grapnel/subscribers/command/claudecode"
	"github.com/grapnel-dev/grapnel/subscribers/command/dialect"
)

// one reads a file with one hook.
func one(t require.TestingT, event, group, handler string) (dialect.Hook, []dialect.Problem) {
	text := `{"hooks":{"` + event + `":[{` + group + `"hooks":[{"type":"command","command":"true"` + handler + `}]}]}}`
	hooks, problems := claudecode.New().Read([]byte(text), dialect.Origin{File: "/home/dev/.claude/settings.json", Source: trust.User})
	if len(hooks) == 0 {
		return dialect.Hook{}, problems
	}
	require.Len(t, hooks, 1)
	return hooks[0], problems
}

func selects(h dialect.Hook, e hook.Event) bool {
	c, ok := claudecode.New().Call(e)
	return ok && c.Name == h.Events[0] && (h.Matches == nil || h.Matches(c))
}

func TestMatchers(t *testing.T) {
	t.Parallel()
	tool := func(name string) hook.Event {
		return hook.Event{Name: hook.PreToolUse, Data: hook.Data{Tool: &hook.Tool{Name: name}, Native: hook.Native{Agent: "x"}}}
	}
	data := func(name hook.Name, d hook.Data) hook.Event {
		return hook.Event{Name: name, Data: d, Subject: d.Reason}
	}
	cases := []struct {
		event, matcher string
		e              hook.Event
		want           bool
	}{
		{"PreToolUse", "", tool("Bash"), true},
		{"PreToolUse", "*", tool("Bash"), true},
		{"PreToolUse", "Bash", tool("Bash"), true},
		{"PreToolUse", "Bash", tool("run_shell_command"), true},
		{"PreToolUse", "run_shell_command", tool("run_shell_command"), true},
		{"PreToolUse", "bash", tool("Bash"), false},
		{"PreToolUse", "Bas", tool("Bash"), false},
		{"PreToolUse", "Edit|Write", tool("Write"), true},
		{"PreToolUse", "Edit, Write", tool("Write"), true},
		{"PreToolUse", "Edit,Write", tool("NotebookWrite"), false},
		{"PreToolUse", "Notebook.*", tool("NotebookEdit"), true},
		{"PreToolUse", "^Note", tool("NotebookEdit"), true},
		{"PreToolUse", "book.", tool("NotebookEdit"), true},
		{"PreToolUse", "mcp__memory", tool("mcp__memory__create"), false},
		{"PreToolUse", "mcp__memory__.*", tool("mcp__memory__create"), true},

		{"PreToolUse", " , |", tool("Bash"), false},
		{"SessionStart", "startup", data(hook.SessionStart, hook.Data{Reason: "startup"}), true},
		{"SessionStart", "startup", data(hook.SessionStart, hook.Data{Reason: "new"}), true},
		{"SessionStart", "resume", data(hook.SessionResume, hook.Data{}), true},
		{"SessionStart", "startup", data(hook.SessionResume, hook.Data{Reason: "fork"}), false},
		{"PreCompact", "manual", data(hook.PreCompact, hook.Data{Reason: "auto"}), false},
		{"PreCompact", "manual", data(hook.PreCompact, hook.Data{Reason: "manual"}), true},
		{"SubagentStop", "Explore", data(hook.SubagentStop, hook.Data{Subagent: &hook.Subagent{Type: "Explore"}}), true},
		{"SubagentStop", "Explore", data(hook.SubagentStop, hook.Data{}), false},
		{"StopFailure", "rate_limit|overloaded", data(hook.StopFailure, hook.Data{Error: "overloaded"}), true},
		{"StopFailure", "rate_limit|overloaded", data(hook.StopFailure, hook.Data{Error: "over"}), false},
		{"FileChanged", ".envrc|.env", data(hook.FileChanged, hook.Data{Path: "/work/.env"}), true},
		{"FileChanged", ".envrc|.env", data(hook.FileChanged, hook.Data{Path: "/work/xenv"}), false},
		{"FileChanged", "a.*", data(hook.FileChanged, hook.Data{Path: "/work/abc"}), false},
		{"PreModelSwitch", "claude-opus-5", data(hook.PreModelSwitch, hook.Data{Model: "claude-opus-5"}), true},
		{"Notification", "idle_prompt", data(hook.Notification, hook.Data{Reason: "idle_prompt"}), true},
		{"Elicitation", "jira", data(hook.Elicitation, hook.Data{Reason: "jira"}), true},
		{"SessionEnd", "other", data(hook.SessionEnd, hook.Data{Reason: "quit"}), true},
		{"InstructionsLoaded", "include", data(hook.InstructionsLoaded, hook.Data{Reason: "include"}), true},
		{"Stop", "nothing at all", data(hook.Stop, hook.Data{}), true},
		{"UserPromptSubmit", "[", data(hook.UserPromptSubmit, hook.Data{}), true},
	}
	for _, c := range cases {
		text, err := json.Marshal(c.matcher)
		require.NoError(t, err)
		h, problems := one(t, c.event, `"matcher":`+string(text)+`,`, "")
		require.Empty(t, problems, c.matcher)
		assert.Equal(t, c.want, selects(h, c.e), "%s %q", c.event, c.matcher)
		assert.Equal(t, c.matcher, h.Matcher)
	}
}

func TestFieldsOfClaudeCodesOwnEventsAreMatchedWhole(t *testing.T) {
	t.Parallel()
	h, _ := one(t, "UserPromptExpansion", `"matcher":"deploy",`, "")
	e := hook.Event{Name: hook.UserPromptExpand, Subject: "cut off"}
	assert.True(t, selects(h, claude(e, "UserPromptExpansion", `{"hook_event_name":"UserPromptExpansion","command_name":"deploy"}`)))
	e.Subject = "deploy"
	assert.False(t, selects(h, claude(e, "UserPromptExpansion", `{"hook_event_name":"UserPromptExpansion","command_name":"other"}`)))
}

func TestMatchersThatCannotBeCompiledAreNamed(t *testing.T) {
	t.Parallel()
	for _, matcher := range []string{`Bash(?!Output)`, `(a)\\1`, `[`, strings.Repeat("a.", 5000)} {
		h, problems := one(t, "PreToolUse", `"matcher":"`+matcher+`",`, "")
		assert.Empty(t, h.Events)
		require.Len(t, problems, 1)
		assert.Equal(t, "hooks.PreToolUse[0].matcher", problems[0].Where)
	}
}

func TestPermissionRules(t *testing.T) {
	t.Parallel()
	input := func(members ...string) string {
		m := map[string]string{}
		for i := 0; i < len(members); i += 2 {
			m[members[i]] = members[i+1]
		}
		b, _ := json.Marshal(m)
		return string(b)
	}
	cases := []struct {
		rule, tool, input string
		want              bool
	}{
		{"Bash", "Bash", `{}`, true},
		{"Bash", "run_shell_command", input("command", "ls"), true},
		{"Edit", "Bash", input("command", "ls"), false},
		{"Edit", "Write", input("file_path", "/work/a"), true},
		{"Edit(*.ts)", "Write", input("file_path", "/work/x/a.ts"), true},
		{"Edit(*.ts)", "Edit", input("file_path", "/work/x/a.tsx"), false},
		{"Edit(src/**)", "Edit", input("file_path", "/work/src/x/a.go"), true},
		{"Edit(src/**)", "Edit", input("file_path", "src/a.go"), true},
		{"Edit(src/**)", "Edit", input("file_path", "/work/src/../lib/a.go"), false},
		{"Edit(/docs/*.md)", "Edit", input("file_path", "/work/docs/a.md"), true},
		{"Edit(/docs/*.md)", "Edit", input("file_path", "/work/docs/x/a.md"), false},
		{"Read(./secrets/**)", "read_file", input("path", "/work/secrets/key"), true},
		{"Read(./.env)", "Read", input("file_path", "/work/.env"), true},
		{"Read(./.env)", "Read", input("file_path", "/other/.env"), false},
		{"Read(//etc/**)", "Read", input("file_path", "/etc/passwd"), true},
		{"Read(~/.ssh/**)", "Read", input("file_path", "/home/dev/.ssh/id"), true},
		{"Read(node_modules)", "Grep", input("pattern", "x", "path", "/work/a/node_modules/b"), true},
		{"Read(src/**)", "Grep", input("pattern", "x"), true},
		{"WebFetch(domain:example.com)", "WebFetch", input("url", "https://example.com/x"), true},
		{"WebFetch(domain:example.com)", "WebFetch", input("url", "https://example.org/x"), false},
		{"WebFetch(domain:*.example.com)", "WebFetch", input("url", "https://A.Example.com/x"), true},
		{"Agent(Explore)", "Task", input("subagent_type", "Explore"), true},
		{"Task(Explore)", "Agent", input("subagent_type", "Plan"), false},
		{"mcp__jira", "mcp__jira__create", `{}`, true},
		{"mcp__jira__*", "mcp__jira__create", `{}`, true},
		{"mcp__jira__create", "mcp__jira__delete", `{}`, false},
		{"WebSearch(anything)", "WebSearch", input("query", "x"), true},
		{"Edit(src/**)", "Edit", `{"file_path":7}`, true},
		{"Bash(git *)", "Bash", `[]`, true},
	}
	for _, c := range cases {
		text, _ := json.Marshal(c.rule)
		h, problems := one(t, "PreToolUse", "", `,"if":`+string(text))
		require.Empty(t, problems, c.rule)
		e := hook.Event{Name: hook.PreToolUse, Data: hook.Data{
			CWD: "/work", Workspace: "/work", Tool: &hook.Tool{Name: c.tool, Input: json.RawMessage(c.input)}, Native: hook.Native{Agent: "x"},
		}}
		assert.Equal(t, c.want, selects(h, e), "%s on %s %s", c.rule, c.tool, c.input)
	}
}

func TestPermissionRulesOnCommandLines(t *testing.T) {
	t.Parallel()
	cases := []struct {
		rule, command string
		want          bool
	}{
		{"git *", "git status", true},
		{"git *", "git", true},
		{"git *", "gitk", false},
		{"git:*", "git push origin", true},
		{"git:*", "gitk", false},
		{"git push:*", "git  push   origin", true},
		{"git push *", "git 'push' origin", true},
		{"npm run test*", "npm run test:unit", true},
		{"npm run test", "npm run test", true},
		{"npm run test", "npm run test2", false},
		{"* --version", "node --version", true},
		{"git *", "cd /tmp && git push", true},
		{"git *", "ls | xargs git add", true},
		{"git *", "FOO=bar git push", true},
		{"git *", "(ls; git push) &", true},
		{"git *", "echo $(git log)", true},
		{"git *", "echo `git log`", true},
		{"git *", "if true; then git push; fi", true},
		{"git *", "for i in 1; do git push; done", true},
		{"git *", "f() { git push; }; f", true},
		{"git *", "echo 'git push'", false},
		{"git *", "# git push\nls", false},
		{"git *", "timeout 30 git push", true},
		{"rm *", "sudo -u root rm -rf /", true},
		{"rm *", `\rm -rf /`, true},
		{"rm *", `r'm' -rf /`, true},
		{"rm *", "/bin/rm -rf /", true},
		{"rm *", "{rm,-rf,/}", true},
		{"rm *", "$CMD -rf /", true},
		{"rm *", "git commit -m \"$msg\"", false},
		{"rm *", "bash -c 'rm -rf /'", true},
		{"rm *", "bash -lc \"rm -rf /\"", true},
		{"rm *", "sh -c \"$X\"", true},
		{"rm *", "eval rm x", true},
		{"rm *", "bash -c 'ls'", false},
		{"rm *", "ls > rm", false},
		{"rm *", "rm -rf / > /dev/null", true},
		{"rm *", "ls 'unterminated", true},
		{"rm *", "ls \x00", true},
		{"rm *", "$'\\x72m' -rf /", true},
		{"export *", "export A=b", true},
		{"echo a\\b", "echo 'a\\b'", true},
		{"echo a*", "echo \"a\\b\"", true},
		{"ls && pwd", "ls && pwd", true},
		{"rm *", strings.Repeat("ls;", 40_000), true},
		{"rm *", strings.Repeat("ls;", 900), false},
		{"rm *", strings.Repeat("$(", 2000) + "ls" + strings.Repeat(")", 2000), true},
	}
	for _, c := range cases {
		text, _ := json.Marshal("Bash(" + c.rule + ")")
		h, problems := one(t, "PreToolUse", "", `,"if":`+string(text))
		require.Empty(t, problems)
		in, _ := json.Marshal(map[string]string{"command": c.command})
		e := hook.Event{Name: hook.PreToolUse, Data: hook.Data{Tool: &hook.Tool{Name: "Bash", Input: in}, Native: hook.Native{Agent: "x"}}}
		assert.Equal(t, c.want, selects(h, e), "%.60s on %.60s", c.rule, c.command)
	}
}

func TestIfElsewhere(t *testing.T) {
	t.Parallel()
	h, problems := one(t, "Stop", "", `,"if":"Bash(git *)"`)
	require.Len(t, problems, 1)
	assert.False(t, selects(h, hook.Event{Name: hook.Stop}), "only tool events have a tool")
	h, problems = one(t, "PreToolUse", "", `,"if":"Bash(git"`)
	require.Len(t, problems, 1)
	e := hook.Event{Name: hook.PreToolUse, Data: hook.Data{Tool: &hook.Tool{Name: "Read"}}}
	assert.True(t, selects(h, e), "a rule that cannot be read keeps no hook from running")
}

// TestPlainCommandsAreFound: a rule finds its command wherever it stands among
// others.
func TestPlainCommandsAreFound(t *testing.T) {
	t.Parallel()
	h, _ := one(t, "PreToolUse", "", `,"if":"Bash(danger *)"`)
	rapid.Check(t, func(t *rapid.T) {
		word := rapid.StringMatching(`[a-z]{1,5}`)
		others := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) string {
			return "x" + word.Draw(t, "name") + " '" + word.Draw(t, "a b") + " danger' " + word.Draw(t, "c")
		}), 1, 5).Draw(t, "others")
		line := strings.Join(others, rapid.SampledFrom([]string{" && ", "; ", " | ", " || ", "\n"}).Draw(t, "between"))
		check := func(line string, want bool) {
			in, err := json.Marshal(map[string]string{"command": line})
			require.NoError(t, err)
			e := hook.Event{Name: hook.PreToolUse, Data: hook.Data{Tool: &hook.Tool{Name: "Bash", Input: in}}}
			assert.Equal(t, want, selects(h, e), line)
		}
		check(line, false)
		check(line+" && danger -f "+word.Draw(t, "arg"), true)
	})
}

func FuzzRule(f *testing.F) {
	f.Add("Bash(git *)", "cd /x && git push")
	f.Add("Bash(rm:*)", "echo $(rm -rf \"$x\")")
	f.Add("Edit(src/**)", "{a,b}")
	f.Fuzz(func(t *testing.T, rule, command string) {
		text, err := json.Marshal(rule)
		if err != nil {
			return
		}
		h, _ := one(t, "PreToolUse", "", `,"if":`+string(text))
		in, err := json.Marshal(map[string]string{"command": command, "file_path": command})
		if err != nil || len(h.Events) == 0 {
			return
		}
		for _, tool := range []string{"Bash", "Edit", "WebFetch"} {
			selects(h, hook.Event{Name: hook.PreToolUse, Data: hook.Data{CWD: "/work", Tool: &hook.Tool{Name: tool, Input: in}}})
		}
	})
}
