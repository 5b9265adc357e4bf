package claudecode_test

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/grapnel-dev/grapnel/bus/hook"
	"github.com/grapnel-dev/grapnel/runner/trust"
	"github.com/grapnel-dev/grapnel/subscribers/command/claudecode"
	"github.com/grapnel-dev/grapnel/subscribers/command/dialect"
)

func TestEveryExampleLoads(t *testing.T) {
	t.Parallel()
	files, err := os.ReadDir("testdata/examples")
	require.NoError(t, err)
	require.Len(t, files, 13)
	for _, f := range files {
		from := dialect.Origin{File: "/home/dev/.claude/hooks/" + f.Name(), Source: trust.User}
		hooks, problems := claudecode.New().Read([]byte(example(t, f.Name())), from)
		assert.Empty(t, problems, f.Name())
		assert.NotEmpty(t, hooks, f.Name())
	}
}

func TestTheDocumentedConfiguration(t *testing.T) {
	t.Parallel()
	m := newMachine(t)
	bus := m.write(filepath.Join(m.home, "bin", "bus"), "#!/bin/sh\n[ \"$*\" = 'hook claude-code' ] || exit 1\necho no git today >&2\nexit 2\n")
	m.settings(strings.Replace(example(t, "documented.json"), "/usr/local/bin/bus", bus, 1))
	hooks, _ := m.loaded().Hooks(m.dir)
	require.Len(t, hooks, 1)
	assert.Equal(t, []string{"Bash", "PowerShell"}, hooks[0].Tools)
	assert.Equal(t, 10*time.Second, hooks[0].Timeout)
	assert.Equal(t, "policy", hooks[0].Description)
	assert.Equal(t, hook.FailDeny, hooks[0].OnFailure)

	d := m.decide(m.shell("cd /tmp && git push"))
	assert.Equal(t, hook.Deny, d.Effect)
	assert.Equal(t, "no git today", d.Reason)
	assert.Equal(t, hook.Decision{}, m.decide(m.shell("ls")), "if: Bash(git *)")

	require.NoError(t, os.Remove(bus))
	d = m.decide(m.shell("git push"))
	assert.Equal(t, hook.Deny, d.Effect, "onFailure: block, and the program is missing")
}

func TestTheFormattingHook(t *testing.T) {
	t.Parallel()
	m := newMachine(t)
	m.settings(example(t, "format.json"))
	s := m.loaded()
	// Gemini CLI's replace is an Edit, and its file_path is called so there too.
	require.NoError(t, s.Handle(t.Context(), m.tool(hook.PostToolUse, "replace", hook.KindFileEdit, `{"file_path":"/srv/shop/a.ts"}`)))
	require.NoError(t, s.Handle(t.Context(), m.tool(hook.PostToolUse, "replace", hook.KindFileEdit, `{"file_path":"/srv/shop/a.go"}`)))
	// Cursor's edit_file calls it target_file.
	require.NoError(t, s.Handle(t.Context(), m.tool(hook.PostToolUse, "edit_file", hook.KindFileEdit, `{"target_file":"/srv/shop/b.ts"}`)))
	require.NoError(t, s.Handle(t.Context(), m.tool(hook.PostToolUse, "read_file", hook.KindFileRead, `{"file_path":"/srv/shop/c.ts"}`)))
	assert.Equal(t, "prettier --write /srv/shop/a.ts\nprettier --write /srv/shop/b.ts\n", m.read("npx.log"))
}

func TestTheNotificationHook(t *testing.T) {
	t.Parallel()
	m := newMachine(t)
	m.settings(example(t, "notify.json"))
	s := m.loaded()
	for _, kind := range []string{"permission_prompt", "auth_success", "idle_prompt"} {
		e := m.event(hook.Notification)
		e.Data.Reason, e.Data.Message = kind, "psst"
		require.NoError(t, s.Handle(t.Context(), e))
	}
	assert.Equal(t, strings.Repeat("Claude Code: Awaiting your input\n", 2), m.read("notified.log"))
}

func TestTheHookThatProtectsFiles(t *testing.T) {
	t.Parallel()
	m := newMachine(t)
	m.write(".claude/hooks/protect-files.sh", programText(t, "protect-files.sh"))
	m.write(".claude/settings.json", example(t, "protect.json"))
	write := func(path string) hook.Event {
		return m.tool(hook.PreToolUse, "write_file", hook.KindFileWrite, `{"file_path":"`+path+`","content":"x"}`)
	}
	d := m.decide(write("/srv/shop/.env"))
	assert.Equal(t, hook.Deny, d.Effect)
	assert.Equal(t, "Blocked: /srv/shop/.env matches protected pattern '.env'", d.Reason)
	assert.Equal(t, hook.Decision{}, m.decide(write("/srv/shop/shop.go")))
	assert.Equal(t, hook.Decision{}, m.decide(m.shell("cat .env")), "another tool")
}

func programText(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile("testdata/programs/" + name)
	require.NoError(t, err)
	return string(text)
}

func TestTheCommandLogger(t *testing.T) {
	t.Parallel()
	m := newMachine(t)
	m.settings(example(t, "log.json"))
	assert.Equal(t, hook.Decision{}, m.decide(m.shell("ls -la")))
	m.decide(m.tool(hook.PreToolUse, "bash", hook.KindShell, `{"command":"make","description":"Builds"}`))
	text, err := os.ReadFile(filepath.Join(m.home, ".claude", "bash-command-log.txt"))
	require.NoError(t, err)
	assert.Equal(t, "ls -la - No description\nmake - Builds\n", string(text))
}

func TestTheStopPrompt(t *testing.T) {
	t.Parallel()
	m := newMachine(t)
	m.settings(example(t, "stop.json"))
	var asked dialect.Question
	m.options.Ask = func(_ context.Context, q dialect.Question) (dialect.Answer, error) {
		asked = q
		return dialect.Answer{Effect: hook.Deny, Reason: "two tests fail"}, nil
	}
	e := m.event(hook.Stop)
	e.Data.Message = "I am done."
	d := m.decide(e)
	assert.Equal(t, hook.Deny, d.Effect)
	assert.Equal(t, "two tests fail", d.Reason)
	assert.Equal(t, 20*time.Second, asked.Timeout)
	assert.Contains(t, asked.Prompt, "$ARGUMENTS")
	assert.JSONEq(t, `{"session_id":"session-1","prompt_id":"turn-1","cwd":"`+m.dir+`","permission_mode":"default",
		"hook_event_name":"Stop","stop_hook_active":false,"last_assistant_message":"I am done."}`, string(asked.Input))
}

func TestTheHTTPHook(t *testing.T) {
	t.Parallel()
	m := newMachine(t)
	m.settings(example(t, "http.json"))
	var sent dialect.Request
	body := `{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"ask","permissionDecisionReason":"look at this"}}`
	var failure error
	m.options.Post = func(_ context.Context, r dialect.Request) (dialect.Output, error) {
		sent = r
		return dialect.Output{Stdout: []byte(body)}, failure
	}
	d := m.decide(m.shell("ls"))
	assert.Equal(t, hook.Ask, d.Effect)
	assert.Equal(t, "look at this", d.Reason)
	assert.Equal(t, []string{"HOOK_TOKEN"}, sent.AllowedEnv, "httpHookAllowedEnvVars")
	assert.Equal(t, "https://hooks.example.com/pre-tool-use", sent.URL)
	assert.Equal(t, 5*time.Second, sent.Timeout)
	var in map[string]any
	require.NoError(t, json.Unmarshal(sent.Body, &in))
	assert.Equal(t, "Bash", in["tool_name"])

	body = "a page of text"
	assert.Equal(t, hook.Deny, m.decide(m.shell("ls")).Effect, "no JSON is a failure, and onFailure is block")
	body = ""
	assert.Equal(t, hook.Decision{}, m.decide(m.shell("ls")), "an empty body is exit code 0")
	failure = context.DeadlineExceeded
	assert.Equal(t, hook.Deny, m.decide(m.shell("ls")).Effect)
}

func TestContextFromPlainText(t *testing.T) {
	t.Parallel()
	m := newMachine(t)
	m.write(".claude/settings.json", example(t, "context.json"))
	m.write(".git-branch", "feat/auth")
	m.write("CONVENTIONS.md", "Use tabs.\n\x1b[31mred\x1b[0m")
	e := m.event(hook.SessionStart)
	e.Data.Reason = "startup"
	assert.Equal(t, hook.Decision{Context: "Branch: feat/auth"}, m.decide(e))
	e.Data.Reason = "clear"
	assert.Equal(t, hook.Decision{}, m.decide(e))
	e = m.event(hook.UserPromptSubmit)
	e.Data.Prompt = "go on"
	assert.Equal(t, hook.Decision{Context: "Use tabs.\nred"}, m.decide(e))
}

func TestARewriteReplacesTheWholeInput(t *testing.T) {
	t.Parallel()
	m := newMachine(t)
	m.settings(example(t, "rewrite.json"))
	m.write("pnpm.sh", programText(t, "pnpm.sh"))
	e := m.tool(hook.PreToolUse, "run_shell_command", hook.KindShell, `{"command":"npm test","description":"tests"}`)
	d := m.decide(e)
	assert.Equal(t, hook.Allow, d.Effect)
	assert.Equal(t, "pnpm here", d.Reason)
	assert.JSONEq(t, `{"command":"pnpm test"}`, string(d.Rewrite))
	assert.Equal(t, "This project uses pnpm.", d.Context)
	assert.True(t, claudecode.New().Grants)
}

func TestAsyncHooksDecideNothing(t *testing.T) {
	t.Parallel()
	m := newMachine(t)
	m.settings(example(t, "async.json"))
	m.write("run-tests.sh", "#!/bin/sh\ncat >/dev/null\necho ran > ran.tmp && mv ran.tmp ran\nexit 2\n")
	s := m.loaded()
	require.NoError(t, s.Handle(t.Context(), m.tool(hook.PostToolUse, "write_file", hook.KindFileWrite, `{"file_path":"x"}`)))
	assert.Eventually(t, func() bool { return m.read("ran") != "" }, 20*time.Second, 20*time.Millisecond)
}

func TestSkillsSubagentsAndPlugins(t *testing.T) {
	t.Parallel()
	m := newMachine(t)
	m.write("~/.claude/skills/secure-operations/SKILL.md", example(t, "SKILL.md"))
	m.write("~/.claude/agents/reviewer.md", example(t, "reviewer.md"))
	m.write("~/.claude/agents/plain.md", "---\nname: plain\ndescription: nothing: to see\n---\nText about hooks: none")
	m.write("scripts/security-check.sh", "#!/bin/sh\necho \"$(cat)\" >> checked\n")
	m.write("~/.claude/plugins/formatter/hooks/hooks.json", example(t, "hooks.json"))
	s := m.loaded()

	first, second := m.shell("ls"), m.shell("pwd")
	for _, e := range []hook.Event{first, second} {
		d, err := s.Decide(t.Context(), e)
		require.NoError(t, err)
		assert.Equal(t, hook.Decision{}, d, "the main agent is no reviewer")
	}
	assert.Equal(t, 1, strings.Count(m.read("checked"), "tool_name"), "once: in a session")

	review := m.shell("ls")
	review.Data.Subagent = &hook.Subagent{ID: "a1", Type: "code-reviewer"}
	d, err := s.Decide(t.Context(), review)
	require.NoError(t, err)
	assert.Equal(t, hook.Deny, d.Effect)
	assert.Equal(t, "reviewers run nothing", d.Reason)

	stop := m.event(hook.SubagentStop)
	stop.Data.Subagent = review.Data.Subagent
	_, err = s.Decide(t.Context(), stop)
	require.NoError(t, err)
	assert.Equal(t, "done\n", m.read("stopped"), "Stop in a sub-agent's file is its end")

	p, _ := s.Plan(m.tool(hook.PostToolUse, "write_file", hook.KindFileWrite, `{}`))
	require.Len(t, p.Skipped, 2)
	assert.Contains(t, p.Skipped[0].Reason, "not approved", "a plugin's hooks need approval")
	feed, err := claudecode.New().Feed(p.Skipped[0].Hook, p.Call)
	require.NoError(t, err)
	root := filepath.Join(m.home, ".claude", "plugins", "formatter")
	assert.Contains(t, feed.Env, "CLAUDE_PLUGIN_ROOT="+root)
	assert.Contains(t, feed.Env, "CLAUDE_PROJECT_DIR="+m.dir)
	feed, err = claudecode.New().Feed(p.Skipped[1].Hook, p.Call)
	require.NoError(t, err)
	assert.Equal(t, []string{root + "/scripts/format.sh", "--check", m.dir}, feed.Command)
}
