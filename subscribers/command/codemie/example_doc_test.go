package codemie_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/grapnel-dev/grapnel/bus/hook"
	"github.com/grapnel-dev/grapnel/subscribers/command/dialect"
)

// variants are the directories of testdata whose scripts can run here: our own
// always, the documentation's where there are bash and jq.
func variants() []string {
	list := []string{"plain"}
	if have("bash", "jq") {
		list = append(list, "documented")
	}
	return list
}

// documented configures an example of the documentation, its script as a file
// in bin: the directory is all that is changed.
func (m *machine) documented(example, variant, script string) {
	m.t.Helper()
	text := testdata(m.t, "documented/"+example)
	if variant != "" {
		body := testdata(m.t, variant+"/"+script)
		if variant == "documented" {
			body = strings.Replace(body, "#!/bin/bash", "#!/usr/bin/env bash", 1)
		}
		m.script(script, body)
	}
	text = regexp.MustCompile(`"command": "[^"]*/([^"/]+)"`).ReplaceAllString(text, `"command": "`+m.bin+`/$1"`)
	if !strings.Contains(text, `"version"`) {
		text = file(text)
	}
	m.configure(text)
}

func each(t *testing.T, f func(t *testing.T, m *machine, variant string)) {
	t.Helper()
	for _, v := range variants() {
		t.Run(v, func(t *testing.T) {
			t.Parallel()
			f(t, newMachine(t), v)
		})
	}
}

func TestC2TheDocumentedConfiguration(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, m *machine, v string) {
		m.documented("configuration.json", v, "pre-tool-hook.sh")
		m.script("post-tool-hook.sh", "#!/bin/sh\necho \"$CODEMIE_TOOL_NAME\" >> used\n")
		hooks, problems := m.set().Hooks(m.dir)
		assert.Empty(t, problems)
		require.Len(t, hooks, 2)
		assert.Equal(t, []string{"Bash", "Write"}, hooks[0].Tools)

		d := m.must(m.bash("sudo rm -rf /tmp/x"))
		assert.Equal(t, hook.Deny, d.Effect)
		assert.Equal(t, "Dangerous command blocked: rm -rf", d.Reason)
		assert.Equal(t, hook.Allow, m.must(m.bash("ls -la")).Effect)

		e := m.bash("rm -rf /")
		e.Name = hook.PostToolUse
		require.NoError(t, m.loaded().Handle(t.Context(), e))
		assert.Equal(t, "Bash\n", m.read("used"))
	})
}

func TestC6Example1BlocksDangerousCommands(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, m *machine, v string) {
		m.documented("example-1.json", v, "check-safe-command.sh")
		for command, pattern := range map[string]string{
			"rm -rf / --no-preserve-root": "rm -rf /", "dd if=/dev/zero of=/dev/sda": "dd if=", "mkfs.ext4 /dev/sda1": "mkfs",
			"cat x > /dev/sda": "> /dev/sda",
		} {
			d := m.must(m.bash(command))
			assert.Equal(t, hook.Deny, d.Effect, command)
			assert.Equal(t, "Dangerous command blocked: "+pattern, d.Reason)
		}
		assert.Equal(t, hook.Decision{Effect: hook.Allow}, m.must(m.bash("ls")))

		gemini := m.bash("rm -rf /")
		gemini.Data.Tool = &hook.Tool{Name: "run_shell_command", Kind: hook.KindShell, Input: json.RawMessage(`{"command":"rm -rf /"}`)}
		gemini.Data.Native = hook.Native{Agent: "gemini-cli", Event: "BeforeTool"}
		assert.Equal(t, hook.Deny, m.must(gemini).Effect, "another agent's shell is Bash")
	})
}

func TestC4Example2LogsAllToolUse(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, m *machine, v string) {
		m.documented("example-2.json", v, "log-tool-usage.sh")
		e := m.bash("ls")
		e.Name, e.Data.Result = hook.PostToolUse, json.RawMessage(`"a\nb"`)
		require.NoError(t, m.loaded().Handle(t.Context(), e))
		log, err := os.ReadFile(filepath.Join(m.home, ".codemie", "tool-usage.log"))
		require.NoError(t, err)
		assert.JSONEq(t, `{"hook_event_name":"PostToolUse","tool_name":"Bash","tool_input":{"command":"ls"},"tool_output":"a\nb",
			"tool_metadata":{},"session_id":"session-id","cwd":"`+m.dir+`"}`, string(log))
	})
}

func TestC1Example3SaysWhichSystemItIs(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, m *machine, v string) {
		m.documented("example-3.json", v, "detect-os.sh")
		m.script("node", "#!/bin/sh\necho v20.11.0\n")
		m.script("uname", "#!/bin/sh\ncase $1 in -s) echo Darwin;; -m) echo arm64;; esac\n")
		d := m.must(m.event(hook.SessionStart))
		assert.Equal(t, hook.Allow, d.Effect)
		assert.Equal(t, strings.TrimSpace(testdata(t, "documented/detect-os.result.txt")), d.Context, "on %s", runtime.GOOS)
	})
}

func TestC1Example4AddsContextToPrompts(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, m *machine, v string) {
		m.documented("example-4.json", v, "add-env-context.sh")
		e := m.event(hook.UserPromptSubmit)
		assert.Equal(t, "You are working in a DEVELOPMENT environment. Be extra careful with changes.", m.must(e).Context)
		e.Data.Workspace = m.file("production/shop")
		require.NoError(t, os.MkdirAll(e.Data.Workspace, 0o700))
		assert.Equal(t, "You are working in a PRODUCTION environment. Be extra careful with changes.", m.must(e).Context)
	})
}

func TestC1Example5CarriesOnUntilTestsPass(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, m *machine, v string) {
		m.documented("example-5.json", v, "check-tests.sh")
		m.script("npm", "#!/bin/sh\ntest -f fixed\n")
		hooks, _ := m.set().Hooks(m.dir)
		assert.Equal(t, 2*time.Minute, hooks[0].Timeout)
		d := m.must(m.event(hook.Stop))
		assert.Equal(t, hook.Deny, d.Effect, "a block of Stop means: carry on")
		assert.Equal(t, "Tests are failing. Please fix the tests before completing.", d.Reason)
		require.NoError(t, os.WriteFile(m.file("fixed"), nil, 0o600))
		assert.Equal(t, hook.Allow, m.must(m.event(hook.Stop)).Effect)
	})
}

func TestC5Example6AsksAModel(t *testing.T) {
	t.Parallel()
	m := newMachine(t)
	m.documented("example-6.json", "", "")
	var asked []dialect.Question
	m.options.Ask = func(_ context.Context, q dialect.Question) (dialect.Answer, error) {
		asked = append(asked, q)
		return dialect.Answer{Effect: hook.Deny, Reason: "a system file"}, nil
	}
	e := m.bash("")
	e.Data.Tool = &hook.Tool{Name: "write_file", Kind: hook.KindFileWrite, Input: json.RawMessage(`{"file_path":"/etc/passwd","content":"x"}`)}
	e.Data.Native.Agent = "gemini-cli"
	d := m.must(e)
	assert.Equal(t, hook.Deny, d.Effect)
	assert.Equal(t, "a system file", d.Reason)
	require.Len(t, asked, 1)
	q := asked[0]
	assert.Contains(t, q.Prompt, "Tool: $TOOL_NAME\nArguments: $TOOL_INPUT\n", "placeholders are left to whoever asks")
	assert.Equal(t, "Write", q.ToolName)
	assert.JSONEq(t, `{"file_path":"/etc/passwd","content":"x"}`, string(q.ToolInput))
	assert.Equal(t, &dialect.Model{Provider: "openai", BaseURL: "http://127.0.0.1:1/v1", Name: "gpt-4", Key: "sk-very-secret"}, q.Model)
	assert.Equal(t, 30*time.Second, q.Timeout)
	var in map[string]any
	require.NoError(t, json.Unmarshal(q.Input, &in), "$ARGUMENTS is the full hook input")
	assert.Equal(t, "PreToolUse", in["hook_event_name"])

	m.must(m.bash("ls"))
	assert.Len(t, asked, 1, "the matcher is Write|Edit")
}

func TestC5TheDocumentedPromptHook(t *testing.T) {
	t.Parallel()
	m := newMachine(t)
	m.hooks(`{"PreToolUse":[{"hooks":[` + testdata(t, "documented/prompt-hook.json") + `]}]}`)
	hooks, problems := m.set().Hooks(m.dir)
	require.Empty(t, problems)
	require.Len(t, hooks, 1)
	assert.Equal(t, dialect.TypePrompt, hooks[0].Type)
	assert.Contains(t, hooks[0].Prompt, "Tool: $TOOL_NAME\nInput: $TOOL_INPUT")
	assert.Equal(t, 30*time.Second, hooks[0].Timeout)
}

func TestC3TheDocumentedMatchers(t *testing.T) {
	t.Parallel()
	want := map[string][]string{
		"*": {"Bash", "Rash", "Read", "Write", "Edit", "X"}, "Bash": {"Bash"}, "Bash|Write": {"Bash", "Write"},
		"[BR]ash": {"Bash", "Rash"}, "(Read|Write|Edit)": {"Read", "Write", "Edit"},
	}
	seen := 0
	for _, name := range []string{"wildcard", "literal", "regex"} {
		for _, found := range regexp.MustCompile(`\{[^}]*\}`).FindAllString(testdata(t, "documented/matcher-"+name+".txt"), -1) {
			var group struct{ Matcher string }
			require.NoError(t, json.Unmarshal([]byte(found), &group))
			require.Contains(t, want, group.Matcher)
			seen++
			m := newMachine(t)
			m.hooks(fmt.Sprintf(`{"PreToolUse":[{"matcher":%q,"hooks":[{"type":"command","command":"true"}]}]}`, group.Matcher))
			set := m.loaded()
			var got []string
			for _, tool := range want["*"] {
				e := m.bash("")
				e.Data.Tool.Name, e.Data.Tool.Kind = tool, hook.KindOther
				plan, ok := set.Plan(e)
				require.True(t, ok)
				plan.Close()
				if len(plan.Steps) > 0 {
					got = append(got, tool)
				}
			}
			assert.Equal(t, want[group.Matcher], got, group.Matcher)
		}
	}
	assert.Equal(t, len(want), seen)
}
