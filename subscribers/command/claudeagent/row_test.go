package claudeagent_test

import (
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
	"github.com/grapnel-dev/grapnel/subscribers/command/claudeagent"
	"github.com/grapnel-dev/grapnel/subscribers/command/dialect"
)

// named is a settings file with named hooks of one event, in order.
func named(event string, hooks ...string) string {
	var list []string
	for i := 0; i < len(hooks); i += 2 {
		b, _ := json.Marshal(hooks[i])
		list = append(list, string(b)+":"+hooks[i+1])
	}
	return `{"hooks":{"` + event + `":{` + strings.Join(list, ",") + `}}}`
}

// saying is a hook that prints this.
func saying(stdout string, more string) string {
	b, _ := json.Marshal("cat <<'END'\n" + stdout + "\nEND")
	return `{"command":` + string(b) + more + `}`
}

func TestB1TheTenEventsAndTheirFields(t *testing.T) {
	t.Parallel()
	m := newMachine(t)
	var events []string
	for _, name := range claudeagent.New().Vocabulary.Names() {
		key := strings.ToLower(name[:1]) + name[1:]
		events = append(events, `"`+key+`":["cat > `+name+`"]`)
	}
	require.Len(t, events, 10)
	m.settings(`{"hooks":{` + strings.Join(events, ",") + `}}`)
	s := m.loaded()

	sub := &hook.Subagent{ID: "a1", Type: "Explore"}
	bash := m.shell("ls").Data.Tool
	for _, c := range []struct {
		name  hook.Name
		data  func(*hook.Data)
		file  string
		input string
	}{
		{hook.PreToolUse, func(d *hook.Data) { d.Tool = bash }, "PreToolUse", `"event":"pre_tool_use","tool_name":"Bash","tool_input":{"command":"ls"}`},
		{hook.PostToolUse, func(d *hook.Data) { d.Tool, d.Result = bash, json.RawMessage(`{"stdout":"x"}`) }, "PostToolUse", `"event":"post_tool_use","tool_name":"Bash","tool_result":{"stdout":"x"}`},
		{hook.PostToolUseFailure, func(d *hook.Data) { d.Tool, d.Error = bash, "Exit code 1" }, "PostToolUseFailure", `"event":"post_tool_use_failure","tool_name":"Bash","error":"Exit code 1"`},
		{hook.UserPromptSubmit, func(d *hook.Data) { d.Prompt = "go <on>" }, "UserPromptSubmit", `"event":"user_prompt_submit","prompt":"go <on>"`},
		{hook.Stop, func(d *hook.Data) { d.Message = "done" }, "Stop", `"event":"stop"`},
		{hook.SubagentStart, func(d *hook.Data) { d.Subagent, d.Message = sub, "looks around" }, "SubagentStart", `"event":"subagent_start","subagent_id":"a1","subagent_type":"Explore","description":"looks around"`},
		{hook.SubagentStop, func(d *hook.Data) { d.Subagent = sub }, "SubagentStop", `"event":"subagent_stop","subagent_id":"a1","success":true,"error":null`},
		{hook.SubagentStop, func(d *hook.Data) { d.Subagent, d.Error = sub, "lost" }, "SubagentStop", `"event":"subagent_stop","subagent_id":"a1","success":false,"error":"lost"`},
		{hook.PreCompact, func(d *hook.Data) { d.Reason = "auto" }, "PreCompact", `"event":"pre_compact"`},
		{hook.SessionStart, func(d *hook.Data) { d.Reason = "startup" }, "SessionStart", `"event":"session_start"`},
		{hook.SessionResume, func(d *hook.Data) {}, "SessionStart", `"event":"session_start"`},
		{hook.SessionEnd, func(d *hook.Data) {}, "SessionEnd", `"event":"session_end"`},
	} {
		e := m.event(c.name)
		c.data(&e.Data)
		require.NoError(t, s.Handle(t.Context(), e))
		assert.JSONEq(t, `{"session_id":"abc-123",`+c.input+`}`, m.read(c.file), c.name)
	}
}

func TestB1WhatCanBlock(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		event hook.Name
		key   string
		block bool
	}{
		{hook.PreToolUse, "preToolUse", true}, {hook.UserPromptSubmit, "userPromptSubmit", true}, {hook.SubagentStart, "subagentStart", true},
		{hook.SessionStart, "sessionStart", true}, {hook.Stop, "stop", false}, {hook.SubagentStop, "subagentStop", false},
		{hook.PreCompact, "preCompact", false}, {hook.PostToolUse, "postToolUse", false}, {hook.PostToolUseFailure, "postToolUseFailure", false},
		{hook.SessionEnd, "sessionEnd", false},
	} {
		m := newMachine(t)
		m.settings(named(c.key, "no", saying(`{"continue_execution":false,"stop_reason":"no"}`, "")))
		d := m.decide(m.event(c.event))
		if c.block {
			assert.Equal(t, hook.Decision{Effect: hook.Deny, Reason: "no"}, d, c.key)
		} else {
			assert.Equal(t, hook.Abstain, d.Effect, c.key)
			assert.Contains(t, d.Reason, "cannot block")
		}
	}
}

func TestB6OrderAndMerge(t *testing.T) {
	t.Parallel()
	m := newMachine(t)
	out := func(context, message, input, more string) string {
		return saying(`{"continue_execution":true,"additional_context":"`+context+`","system_message":"`+message+`","updated_input":`+input+`}`, more)
	}
	m.settings(named("preToolUse",
		"last", out("c3", "", `{"command":"three"}`, `,"priority":-1`),
		"middle", out("c2", "m2", `null`, ""),
		"first", out("c1", "m1", `{"command":"one"}`, `,"priority":100`),
	))
	d := m.decide(m.shell("ls"))
	assert.Equal(t, hook.Abstain, d.Effect, "to continue is no permission")
	assert.Equal(t, "m2\nc1\nc2\nc3", d.Context, "the latest message, and all contexts in the order of priority")
	assert.JSONEq(t, `{"command":"three"}`, string(d.Rewrite), "the latest input")

	m.settings(named("preToolUse",
		"a", saying(`{"continue_execution":false,"stop_reason":"first"}`, `,"priority":2`),
		"b", saying(`{"continue_execution":true,"stop_reason":"second","suppress_logging":true}`, `,"priority":1`),
		"c", saying(`{"continue_execution":true,"stop_reason":null}`, ""),
	))
	sum := m.loaded().Run(t.Context(), m.shell("ls"))
	assert.Equal(t, hook.Decision{Effect: hook.Deny, Reason: "second"}, sum.Decision, "AND of all, and the latest reason that is there")
	require.Len(t, sum.Results, 3)
	assert.Equal(t, []string{"a", "b", "c"}, []string{sum.Results[0].Hook.Name, sum.Results[1].Hook.Name, sum.Results[2].Hook.Name})
	assert.True(t, sum.Results[1].Answer.Quiet)
}

func TestB7TheDocumentedSettings(t *testing.T) {
	t.Parallel()
	m := newMachine(t)
	log := filepath.Join(m.dir, "audit.log")
	m.settings(strings.Replace(example(t, "settings.json"), "/tmp/audit.log", log, 1))
	m.write("bin/python", "#!/bin/sh\n[ \"$1\" = check_security.py ] || exit 1\ncase $(cat) in *'rm -rf'*) echo '{\"continue_execution\":false,\"stop_reason\":\"Dangerous command blocked\"}' ;; esac\n")
	m.write("bin/notify-send", "#!/bin/sh\necho \"$1\" > notified\n")
	m.write("bin/cleanup-temp.sh", "#!/bin/sh\ntouch cleaned\n")
	s := m.loaded()
	hooks, _ := s.Hooks("")
	require.Len(t, hooks, 4)
	assert.Equal(t, "security-check", hooks[0].Name)
	assert.Equal(t, 30*time.Second, hooks[0].Timeout)
	assert.Equal(t, []string{"Bash", "Write"}, hooks[0].Tools)
	assert.Equal(t, 60*time.Second, claudeagent.New().Timeout)

	assert.Equal(t, hook.Decision{Effect: hook.Deny, Reason: "Dangerous command blocked"}, m.decide(m.shell("rm -rf /")))
	assert.Equal(t, hook.Decision{}, m.decide(m.shell("ls")))
	assert.Equal(t, hook.Decision{}, m.decide(m.tool(hook.PreToolUse, "Read", hook.KindFileRead, `{"file_path":"rm -rf"}`)), "the matcher")
	gemini := m.tool(hook.PreToolUse, "run_shell_command", hook.KindShell, `{"command":"rm -rf /"}`)
	gemini.Data.Native.Agent = "gemini-cli"
	assert.Equal(t, hook.Deny, m.decide(gemini).Effect, "another agent's shell is Bash")

	require.NoError(t, s.Handle(t.Context(), m.tool(hook.PostToolUse, "Bash", hook.KindShell, `{}`)))
	// The example quotes its variable so that the shell keeps it.
	assert.Equal(t, "{\"event\":\"$EVENT\"}\n", m.read("audit.log"))
	require.NoError(t, s.Handle(t.Context(), m.event(hook.SessionStart)))
	assert.Equal(t, "Session started\n", m.read("notified"))
	require.NoError(t, s.Handle(t.Context(), m.event(hook.SessionEnd)))
	_, err := os.Stat(filepath.Join(m.dir, "cleaned"))
	assert.NoError(t, err)
}

func TestB7BothFormsInOneFile(t *testing.T) {
	t.Parallel()
	m := newMachine(t)
	const both = `{"hooks":{
		"PreToolUse":[{"matcher":"Bash","hooks":[{"type":"command","command":"echo official >> ran"}]}],
		"preToolUse":{"mine":"echo named >> ran","other":{"command":"echo matched >> ran","matcher":"^Ba"}}}}`
	m.write(".claude/settings.json", both)
	m.settings(`{"hooks":{"preToolUse":["echo list >> ran"]}}`)

	gemini := m.tool(hook.PreToolUse, "run_shell_command", hook.KindShell, `{}`)
	gemini.Data.Native.Agent = "gemini-cli"
	m.decide(gemini)
	assert.Equal(t, "official\nnamed\nmatched\nlist\n", m.read("ran"), "the workspace's come first")

	require.NoError(t, os.Remove(filepath.Join(m.dir, "ran")))
	m.decide(m.shell("ls"))
	assert.Equal(t, "named\nmatched\nlist\n", m.read("ran"), "Claude Code runs the official form itself, and passes over the other")
}

func TestB7OurOwnRegistrationIsNoHook(t *testing.T) {
	t.Parallel()
	hooks, problems := claudeagent.New().Read([]byte(`{"hooks":{
		"PreToolUse":[{"hooks":[{"type":"command","command":"/x/grapnel-hook claude-code PreToolUse"}]}],
		"Notification":[{"hooks":[{"type":"command","command":"/x/grapnel-hook claude-code Notification"}]}],
		"preToolUse":{"a":"grapnel-hook x","b":{"command":"grapnel hook claude-code"}},"stop":["grapnel-hook y"]}}`), origin("settings.json"))
	assert.Empty(t, problems)
	assert.Empty(t, hooks)
}

func TestB8TheDocumentedProcess(t *testing.T) {
	t.Parallel()
	m := newMachine(t)
	m.write("out.json", example(t, "output.json"))
	m.settings(named("preToolUse", "it", `{"command":"cat > in.json; printf %s \"$EVENT\" > event; cat out.json"}`))
	d := m.decide(m.shell("rm -rf /"))
	assert.Equal(t, hook.Decision{Effect: hook.Deny, Reason: "Dangerous command blocked"}, d)
	assert.JSONEq(t, example(t, "input.json"), m.read("in.json"))
	assert.Equal(t, "pre_tool_use", m.read("event"))
}

func TestB8Answers(t *testing.T) {
	t.Parallel()
	d := claudeagent.New()
	c := &dialect.Call{Name: "PreToolUse", Blocks: true}
	for _, a := range []struct {
		stdout string
		exit   int
		want   hook.Effect
		failed bool
	}{
		{"", 0, hook.Abstain, false}, {" \n", 0, hook.Abstain, false}, {"hello", 0, hook.Abstain, false}, {"{}", 0, hook.Abstain, false},
		{`{"continue_execution":true}`, 0, hook.Abstain, false}, {`{"continue_execution":false}`, 0, hook.Deny, false},
		{`{"stop_reason":"x"}`, 0, hook.Abstain, false}, {`{"continue_execution":null}`, 0, hook.Abstain, false},
		{`{"continue_execution":false}`, 1, hook.Deny, false}, {`{"continue_execution":true}`, 1, 0, true}, {`{"continue_execution":true}`, 2, hook.Deny, false},
		{"", 1, 0, true}, {"", 2, hook.Deny, false}, {"", 127, 0, true}, {"garbage", 2, hook.Deny, false}, {`{"broken`, 2, hook.Deny, false},
		{`{"continue_execution":"no"}`, 0, 0, true}, {`{"continue_execution":0}`, 0, 0, true}, {`{"broken`, 0, 0, true},
		{`{"continue_execution":false,"continue_execution":true}`, 0, 0, true}, {`{"decision":"block"}`, 0, 0, true},
		{`{"Continue_Execution":false}`, 0, 0, true}, {`{"updated_input":"rm"}`, 0, 0, true}, {`{"continue_execution":true} x`, 0, 0, true},
	} {
		got, err := d.Answer(dialect.Hook{Name: "h"}, c, dialect.Output{ExitCode: a.exit, Stdout: []byte(a.stdout), Stderr: []byte("")})
		if a.failed {
			assert.ErrorIs(t, err, dialect.ErrFailed, a.stdout)
			continue
		}
		require.NoError(t, err, a.stdout)
		assert.Equal(t, a.want, got.Effect, "%s exit %d", a.stdout, a.exit)
		if got.Effect == hook.Deny {
			assert.NotEmpty(t, got.Reason)
		}
	}
	got, err := d.Answer(dialect.Hook{}, c, dialect.Output{ExitCode: 2, Stderr: []byte(" \x1b[31mno\x1b[0m \n")})
	require.NoError(t, err)
	assert.Equal(t, "no", strings.TrimSpace(got.Reason))
	_, err = d.Answer(dialect.Hook{}, c, dialect.Output{Stdout: []byte(`{"continue_execution":true}`), Truncated: true})
	assert.ErrorIs(t, err, dialect.ErrFailed)
}

func TestB8FailuresGoOn(t *testing.T) {
	t.Parallel()
	m := newMachine(t)
	m.settings(named("preToolUse", "it", `"exit 1"`))
	d := m.decide(m.shell("ls"))
	assert.Equal(t, hook.Abstain, d.Effect)
	assert.Contains(t, d.Reason, "exit code 1")
	m.settings(named("preToolUse", "it", `{"command":"sleep 60","timeout_secs":0.2,"on_failure":"deny"}`))
	assert.Equal(t, hook.Deny, m.decide(m.shell("ls")).Effect)
}

func TestB9FrontMatterOfSkillsAndSubagents(t *testing.T) {
	t.Parallel()
	m := newMachine(t)
	front := "---\nname: writer\n" + example(t, "frontmatter.yaml") + "---\n\nText.\n"
	m.write("~/.claude/skills/formatting/SKILL.md", front)
	m.write("scripts/format.sh", "#!/bin/sh\necho formatted >> ran\n")
	write := m.tool(hook.PreToolUse, "write_file", hook.KindFileWrite, `{}`)
	write.Data.Native.Agent = "gemini-cli"
	hooks, _ := m.loaded().Hooks(m.dir)
	require.Len(t, hooks, 1)
	assert.Equal(t, 10*time.Second, hooks[0].Timeout)
	assert.Equal(t, []string{"Write", "Edit"}, hooks[0].Tools)
	m.decide(write)
	assert.Equal(t, "formatted\n", m.read("ran"))

	m.write(".claude/agents/writer.md", front)
	m.decide(write)
	assert.Equal(t, "formatted\nformatted\n", m.read("ran"), "the sub-agent's hook is for the sub-agent")
	write.Data.Subagent = &hook.Subagent{ID: "a", Type: "writer"}
	m.decide(write)
	assert.Equal(t, strings.Repeat("formatted\n", 4), m.read("ran"))
}

func TestB9HooksOfPlugins(t *testing.T) {
	t.Parallel()
	m := newMachine(t)
	m.write("~/.claude/plugins/formatter/hooks/hooks.json", example(t, "hooks.json"))
	m.write("bin/fmt.sh", "#!/bin/sh\necho \"$CLAUDE_PLUGIN_ROOT\" > root\n")
	e := m.tool(hook.PostToolUse, "write_file", hook.KindFileWrite, `{}`)
	e.Data.Native.Agent = "gemini-cli"
	s := m.loaded()
	p, ok := s.Plan(e)
	require.True(t, ok)
	require.Len(t, p.Skipped, 1)
	assert.Contains(t, p.Skipped[0].Reason, "not approved", "an extension's hook needs approval")

	h := p.Skipped[0].Hook
	assert.Equal(t, trust.Extension, h.Origin.Source)
	// The same definition as the person's own runs.
	h.Name, h.Origin.Source, h.Origin.Own = "approved", trust.Session, false
	d := claudeagent.New()
	feed, err := d.Feed(p.Skipped[0].Hook, p.Call)
	require.NoError(t, err)
	assert.Contains(t, feed.Env, "CLAUDE_PLUGIN_ROOT="+filepath.Join(m.home, ".claude", "plugins", "formatter"))
	require.NoError(t, s.Register(h))
	require.NoError(t, s.Handle(t.Context(), e))
	assert.Equal(t, "\n", m.read("root"))
}

func TestValuesAreNoSyntax(t *testing.T) {
	t.Parallel()
	m := newMachine(t)
	m.settings(named("preToolUse", "it", `"cat > in.json; echo $EVENT > event"`))
	s := m.loaded()
	for _, value := range []string{"$(touch pwned)", "`touch pwned`", "'; touch pwned; '", "\"; touch pwned; \"", "\n touch pwned\n", "-rf", "{{x}}%s"} {
		e := m.shell(value)
		e.SessionID = value
		_, err := s.Decide(t.Context(), e)
		require.NoError(t, err)
		assert.Empty(t, m.read("pwned"))
		var in map[string]any
		require.NoError(t, json.Unmarshal([]byte(m.read("in.json")), &in))
		assert.Equal(t, value, in["session_id"])
	}
}
