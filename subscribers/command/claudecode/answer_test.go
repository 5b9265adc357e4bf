package claudecode_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/grapnel-dev/grapnel/bus/hook"
	"github.com/grapnel-dev/grapnel/internal/edge/claudecode/claudecodetest"
	"github.com/grapnel-dev/grapnel/internal/edge/protocol/protocoltest"
	"github.com/grapnel-dev/grapnel/subscribers/command"
	"github.com/grapnel-dev/grapnel/subscribers/command/claudecode"
	"github.com/grapnel-dev/grapnel/subscribers/command/dialect"
)

// stdouts are what hooks print, with EVENT for the event's name.
func stdouts() []string {
	specific := func(fields string) string { return `{"hookSpecificOutput":{"hookEventName":"EVENT",` + fields + `}}` }
	return []string{
		``, `{}`, "plain words", `{"broken":`, `{"broken":}`, `[1]`, `{"unknown":1}`, "  \n\t{}\n",
		"a line\n" + specific(`"permissionDecision":"deny","permissionDecisionReason":"R"`),
		`{"decision":"block","reason":"R"}`, `{"decision":"block"}`, `{"decision":"approve","reason":"R"}`, `{"decision":"bogus"}`,
		`{"continue":false,"stopReason":"R"}`, `{"continue":true}`, `{"systemMessage":"M"}`, `{"decision":1}`, `{"continue":"no"}`,
		specific(`"permissionDecision":"deny","permissionDecisionReason":"R"`), specific(`"permissionDecision":"deny"`),
		specific(`"permissionDecision":"ask","permissionDecisionReason":"R"`), specific(`"permissionDecision":"allow"`),
		specific(`"permissionDecision":"defer"`), specific(`"permissionDecision":"bogus"`),
		specific(`"permissionDecision":"allow","updatedInput":{"command":"x"}`), specific(`"updatedInput":{"command":"x"}`),
		specific(`"permissionDecision":"deny","updatedInput":{"command":"x"}`),
		specific(`"additionalContext":"C"`), specific(`"additionalContext":"C","more":1`), `{"additionalContext":"C"}`,
		`{"hookSpecificOutput":{"hookEventName":"Other","permissionDecision":"deny","additionalContext":"C"}}`,
		specific(`"decision":{"behavior":"allow"}`), specific(`"decision":{"behavior":"allow","updatedInput":{"command":"x"}}`),
		specific(`"decision":{"behavior":"deny","message":"R"}`), specific(`"decision":{"behavior":"deny","interrupt":true}`),
		specific(`"action":"accept"`), specific(`"action":"decline"`), specific(`"action":"cancel"`),
		`{"decision":"block","reason":"R","hookSpecificOutput":{"hookEventName":"EVENT","additionalContext":"C"}}`,
	}
}

// TestAnswersMeanWhatTheyMeanToClaudeCode holds what hooks print, at every exit
// code and event, against the client that stands for Claude Code as it was seen
// to behave.
func TestAnswersMeanWhatTheyMeanToClaudeCode(t *testing.T) {
	t.Parallel()
	d := claudecode.New()
	for _, name := range d.Vocabulary.Events {
		if name.Name == "WorktreeCreate" {
			continue // its answer is a path, see below
		}
		for _, stdout := range stdouts() {
			for _, exit := range []int{0, 1, 2, 3, 127} {
				stdout := strings.ReplaceAll(stdout, "EVENT", name.Name)
				what := fmt.Sprintf("%s %s exit %d", name.Name, stdout, exit)
				c := &dialect.Call{Name: name.Name, Blocks: name.Blocks, Event: hook.Event{Name: name.Canonical}}
				got, err := d.Answer(dialect.Hook{}, c, dialect.Output{ExitCode: exit, Stdout: []byte(stdout), Stderr: []byte("S")})
				if err != nil {
					require.ErrorIs(t, err, dialect.ErrFailed, what)
					got = dialect.Answer{}
				}
				if !name.Blocks && got.Effect > hook.Allow {
					got.Effect = hook.Abstain // as the engine does
				}
				want := claudecodetest.Run(protocoltest.Situation{Event: name.Name, Approved: true}, protocoltest.Process{Stdout: stdout, Stderr: "S", Exit: exit})

				if !name.Blocks {
					assert.LessOrEqual(t, got.Effect, hook.Allow, what)
				} else if want.Blocked || want.Continued || want.SessionEnds ||
					// The document has it end everything there, too; the client leaves it out.
					name.Name == "PermissionRequest" && strings.Contains(stdout, `"continue":false`) {
					assert.GreaterOrEqual(t, got.Effect, hook.Ask, what)
					assert.NotEmpty(t, got.Reason, what)
				} else {
					assert.LessOrEqual(t, got.Effect, hook.Allow, what)
				}
				if want.Asked {
					assert.Equal(t, hook.Ask, got.Effect, what)
				}
				if !strings.Contains(stdout, `"approve"`) { // the old word for allow, which the client leaves out
					assert.Equal(t, want.Granted, got.Effect == hook.Allow, what)
				}
				if want.Changed != nil || got.Rewrite != nil {
					if got.Effect < hook.Deny {
						assert.JSONEq(t, string(want.Changed), string(got.Rewrite), what)
					} else {
						assert.Nil(t, got.Rewrite, what)
					}
				}
				toModel := strings.Join(want.ToModel, "\n")
				if got.Context != "" && exit != 2 { // beside exit code 2 it was not observed
					assert.Contains(t, toModel, got.Context, what)
				}
				if strings.Contains(toModel, "C") {
					assert.Contains(t, got.Context+got.Reason, "C", what)
				}
			}
		}
	}
}

// outcomes of an answer on one event.
func TestReasonsAndPrecedence(t *testing.T) {
	t.Parallel()
	d := claudecode.New()
	pre := func(stdout, stderr string, exit int) dialect.Answer {
		c := &dialect.Call{Name: "PreToolUse", Blocks: true, Event: hook.Event{Name: hook.PreToolUse}}
		a, err := d.Answer(dialect.Hook{Where: "hooks.PreToolUse[0].hooks[0]"}, c, dialect.Output{ExitCode: exit, Stdout: []byte(stdout), Stderr: []byte(stderr)})
		require.NoError(t, err)
		return a
	}
	const deny = `{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny","permissionDecisionReason":"json"}}`
	const allow = `{"systemMessage":"M","hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"allow","updatedInput":{"command":"x"}}}`
	assert.Equal(t, "json", pre(deny, "stderr", 2).Reason, "the JSON's reason where it blocks")
	a := pre(allow, "stderr", 2)
	assert.Equal(t, hook.Deny, a.Effect, "exit code 2 beats an allow")
	assert.Equal(t, "stderr", a.Reason)
	assert.Nil(t, a.Rewrite)
	assert.Equal(t, "M", a.Message)
	assert.Equal(t, "stderr", pre("{not json", "stderr", 2).Reason)
	assert.Contains(t, pre("", "", 2).Reason, "gave no reason")
	assert.Equal(t, "\u2713 red", pre("", "\u2713 \x1b[31mred\x1b[0m\xff"[:len("\u2713 \x1b[31mred\x1b[0m")], 2).Reason)
	assert.LessOrEqual(t, len(pre("", strings.Repeat("x", 1<<20), 2).Reason), command.MaxReason)
	assert.Equal(t, hook.Deny, pre(`{"decision":"block","reason":"old","hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"allow"}}`, "", 0).Effect)
	a = pre(`{"continue":false,"stopReason":"enough","hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"allow"}}`, "", 0)
	assert.Equal(t, hook.Halt, a.Effect, "continue: false beats all else")
	assert.Equal(t, "enough", a.Reason)

	merged := dialect.Strictest(nil, []dialect.Answer{pre(allow, "", 0), pre(strings.Replace(deny, "deny", "defer", 1), "", 0)})
	assert.Equal(t, hook.Ask, merged.Effect, "defer beats allow")
	merged = dialect.Strictest(nil, []dialect.Answer{pre(deny, "", 0), merged})
	assert.Equal(t, hook.Deny, merged.Effect)
}

// TestAnswersThatAreNone cannot be taken for a yes or a no.
func TestAnswersThatAreNone(t *testing.T) {
	t.Parallel()
	d := claudecode.New()
	c := &dialect.Call{Name: "PreToolUse", Blocks: true}
	for _, stdout := range []string{
		`{"decision":"block","decision":"approve"}`, `{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"ALLOW"}}`,
		`{"hookSpecificOutput":{"permissionDecision":"allow"}}`, `{"hookSpecificOutput":{"hookEventName":"PreToolUse","updatedInput":"rm"}}`,
		`{"hookSpecificOutput":{"hookEventName":"PreToolUse","updatedInput":[1]}}`, `{"decision":"allow"}`, `{"decision":"deny"}`, `{"continue":1}`,
		`{} {}`, `{"a":` + strings.Repeat("[", 100) + strings.Repeat("]", 100) + `}`, "{\"reason\":\"\xff\"}", `{"decision":"approve"`,
	} {
		for _, exit := range []int{0, 1} {
			_, err := d.Answer(dialect.Hook{}, c, dialect.Output{ExitCode: exit, Stdout: []byte(stdout)})
			assert.ErrorIs(t, err, dialect.ErrFailed, stdout)
		}
		a, err := d.Answer(dialect.Hook{}, c, dialect.Output{ExitCode: 2, Stdout: []byte(stdout)})
		assert.NoError(t, err)
		assert.Equal(t, hook.Deny, a.Effect, "exit code 2 blocks whatever is printed")
	}
	_, err := d.Answer(dialect.Hook{}, c, dialect.Output{Stdout: []byte(`{}`), Truncated: true})
	assert.ErrorIs(t, err, dialect.ErrFailed)
}

func TestWhatCannotBePassedOnIsSaid(t *testing.T) {
	t.Parallel()
	d := claudecode.New()
	for event, stdout := range map[string]string{
		"WorktreeCreate": "/tmp/tree", "Elicitation": `{"hookSpecificOutput":{"hookEventName":"Elicitation","action":"accept","content":{"a":1}}}`,
		"PermissionRequest": `{"hookSpecificOutput":{"hookEventName":"PermissionRequest","decision":{"behavior":"allow","updatedPermissions":[{}]}}}`,
		"TaskCompleted":     `{"decision":"block"}`,
	} {
		a, err := d.Answer(dialect.Hook{}, &dialect.Call{Name: event, Blocks: true}, dialect.Output{Stdout: []byte(stdout)})
		require.NoError(t, err)
		assert.NotEmpty(t, a.Warning, event)
		assert.LessOrEqual(t, a.Effect, hook.Allow)
	}
	a, err := d.Answer(dialect.Hook{}, &dialect.Call{Name: "WorktreeCreate", Blocks: true}, dialect.Output{ExitCode: 1, Stderr: []byte("no room")})
	require.NoError(t, err)
	assert.Equal(t, hook.Deny, a.Effect)
	c := &dialect.Call{Name: "ConfigChange", Blocks: true, Event: hook.Event{Data: hook.Data{Reason: "policy_settings"}}}
	a, err = d.Answer(dialect.Hook{}, c, dialect.Output{Stdout: []byte(`{"decision":"block","reason":"R"}`)})
	require.NoError(t, err)
	assert.Equal(t, hook.Abstain, a.Effect)
	assert.Contains(t, a.Warning, "R")
}

// TestFailuresOfHooksGoOn unless the configuration says otherwise.
func TestFailuresOfHooksGoOn(t *testing.T) {
	t.Parallel()
	for _, shell := range []string{"exit 1", "exit 127", "nobody-has-this", "echo '{\"decision\":\"yes\"}'", "kill -9 $$"} {
		m := newMachine(t)
		m.command("PreToolUse", shell)
		d := m.decide(m.shell("ls"))
		assert.Equal(t, hook.Abstain, d.Effect, shell)
		assert.NotEmpty(t, d.Reason, shell)
		m.command("PreToolUse", shell, `,"onFailure":"block"`)
		assert.Equal(t, hook.Deny, m.decide(m.shell("ls")).Effect, shell)
		m.command("PreModelSwitch", shell)
		assert.Equal(t, hook.Deny, m.decide(m.event(hook.PreModelSwitch)).Effect, shell)
	}
	m := newMachine(t)
	m.command("PreToolUse", "sleep 60", `,"timeout":0.2`)
	assert.Equal(t, hook.Abstain, m.decide(m.shell("ls")).Effect, "a time-out fails open")
	m.command("PreToolUse", "sleep 60", `,"timeout":0.2,"onFailure":"block"`)
	assert.Equal(t, hook.Deny, m.decide(m.shell("ls")).Effect)
}

func FuzzAnswer(f *testing.F) {
	for _, s := range stdouts() {
		f.Add("PreToolUse", 0, []byte(strings.ReplaceAll(s, "EVENT", "PreToolUse")), []byte("S"))
		f.Add("Stop", 2, []byte(strings.ReplaceAll(s, "EVENT", "Stop")), []byte(""))
	}
	d := claudecode.New()
	f.Fuzz(func(t *testing.T, event string, exit int, stdout, stderr []byte) {
		a, err := d.Answer(dialect.Hook{}, &dialect.Call{Name: event}, dialect.Output{ExitCode: exit, Stdout: stdout, Stderr: stderr})
		if err != nil {
			assert.ErrorIs(t, err, dialect.ErrFailed)
			return
		}
		assert.LessOrEqual(t, len(a.Reason), command.MaxReason+100)
		assert.LessOrEqual(t, len(a.Context), command.MaxContext)
		if a.Effect >= hook.Ask {
			assert.NotEmpty(t, a.Reason)
		}
		if a.Effect >= hook.Deny {
			assert.Nil(t, a.Rewrite)
		}
		if a.Rewrite != nil {
			assert.True(t, json.Valid(a.Rewrite) && a.Rewrite[0] == '{', "%q", a.Rewrite)
		}
		if exit == 2 && event == "PreToolUse" {
			assert.GreaterOrEqual(t, a.Effect, hook.Deny)
		}
	})
}
