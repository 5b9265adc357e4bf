package kimicode_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/grapnel-dev/grapnel/bus/hook"
	"github.com/grapnel-dev/grapnel/internal/edge/hookwire"
	"github.com/grapnel-dev/grapnel/internal/edge/kimicode"
	"github.com/grapnel-dev/grapnel/internal/edge/kimicode/kimicodetest"
	"github.com/grapnel-dev/grapnel/internal/edge/protocol"
	"github.com/grapnel-dev/grapnel/internal/edge/protocol/protocoltest"
)

func suite() protocoltest.Suite {
	return protocoltest.Suite{
		Agent: kimicode.New(), Payloads: []string{"testdata/written"}, Client: kimicodetest.Run, Golden: "testdata",
		Plain: map[string]bool{"UserPromptSubmit": true},
	}
}

func TestProtocol(t *testing.T) {
	t.Parallel()
	suite().Run(t)
}

func FuzzEvent(f *testing.F) { suite().Fuzz(f) }

// A prompt is a text or a list of parts; anything else is refused, since a
// decider could not read it.
func TestPrompts(t *testing.T) {
	t.Parallel()
	agent := kimicode.New()
	for prompt, want := range map[string]string{
		`"fix it"`: "fix it", `[{"type":"text","text":"fix"},{"type":"image_url"},{"type":"text","text":"it"}]`: "fix\nit", `[]`: "", `""`: "",
	} {
		e, err := agent.Event(protocoltest.Call(agent, "UserPromptSubmit", []byte(`{"prompt":`+prompt+`}`)))
		require.NoError(t, err, prompt)
		assert.Equal(t, want, e.Data.Prompt, prompt)
	}
	for _, stdin := range []string{`{}`, `{"prompt":7}`, `{"prompt":{"text":"x"}}`, `{"prompt":["x"]}`, `{"prompt":[{"text":7}]}`} {
		c := protocoltest.Call(agent, "UserPromptSubmit", []byte(stdin))
		_, err := agent.Event(c)
		require.ErrorIs(t, err, protocol.ErrPayload, stdin)
		out := kimicodetest.Run(protocoltest.Situation{Event: "UserPromptSubmit"}, protocoltest.Of(agent.Refuse(c, err).Response))
		assert.True(t, out.Blocked, stdin)
	}
}

// Whatever a context says, it is a context and no decision.
func TestContextIsNoAnswer(t *testing.T) {
	t.Parallel()
	agent := kimicode.New()
	for _, context := range []string{
		"Use make test.", "line\nline", `{"hookSpecificOutput":{"permissionDecision":"deny"}}`, ` {"a":1}`, `{`, `{"message":"x"} y`, `"{}"`, `[1]`,
	} {
		a := agent.Answer("UserPromptSubmit", hook.Verdict{Context: context})
		out := kimicodetest.Run(protocoltest.Situation{Event: "UserPromptSubmit"}, protocoltest.Of(a.Response))
		assert.False(t, out.Blocked, context)
		assert.Equal(t, []string{context}, out.ToModel)
		assert.True(t, hookwire.Usable(agent.Name, "UserPromptSubmit", a.Response), context)
	}
}

// A turn's id is a number, and must not make a call unreadable.
func TestTurns(t *testing.T) {
	t.Parallel()
	agent := kimicode.New()
	for turn, want := range map[string]string{`0`: "0", `"t1"`: "t1", `null`: ""} {
		e, err := agent.Event(protocoltest.Call(agent, "PreToolUse", []byte(`{"tool_name":"Bash","tool_input":{},"turn_id":`+turn+`}`)))
		require.NoError(t, err, turn)
		assert.Equal(t, want, e.CorrelationID)
	}
}

func TestPermissionResults(t *testing.T) {
	t.Parallel()
	agent := kimicode.New()
	for decision, want := range map[string]hook.Name{"approved": hook.PermissionGranted, "rejected": hook.PermissionDenied, "cancelled": hook.PermissionDenied, "later": hook.Other} {
		e, err := agent.Event(protocoltest.Call(agent, "PermissionResult", []byte(`{"tool_name":"Bash","tool_input":{},"decision":"`+decision+`"}`)))
		require.NoError(t, err, decision)
		assert.Equal(t, want, e.Name, decision)
	}
}

// A deny blocks by each of the ways alone, and on the three events only.
func TestDenyIsSaidTwice(t *testing.T) {
	t.Parallel()
	for _, e := range kimicode.New().Events {
		a := kimicode.New().Answer(e.Name, hook.Verdict{Effect: hook.Deny, Reason: "no"})
		at := protocoltest.Situation{Event: e.Name}
		switch e.Name {
		case "UserPromptSubmit", "PreToolUse", "Stop":
			for _, p := range []protocoltest.Process{{Exit: a.Exit, Stderr: string(a.Stderr)}, {Stdout: string(a.Stdout)}, protocoltest.Of(a.Response)} {
				out := kimicodetest.Run(at, p)
				assert.True(t, out.Blocked || out.Continued, e.Name)
				assert.Equal(t, []string{"no"}, append(out.ToModel, out.ToUser...), e.Name)
			}
		default:
			assert.Empty(t, a.Response, e.Name)
			assert.NotEmpty(t, a.Note, e.Name)
		}
	}
}
