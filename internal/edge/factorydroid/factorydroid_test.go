package factorydroid_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/grapnel-dev/grapnel/bus/hook"
	"github.com/grapnel-dev/grapnel/internal/edge/factorydroid"
	"github.com/grapnel-dev/grapnel/internal/edge/factorydroid/factorydroidtest"
	"github.com/grapnel-dev/grapnel/internal/edge/hookwire"
	"github.com/grapnel-dev/grapnel/internal/edge/protocol"
	"github.com/grapnel-dev/grapnel/internal/edge/protocol/protocoltest"
)

func suite() protocoltest.Suite {
	return protocoltest.Suite{Agent: factorydroid.New(), Payloads: []string{"testdata/written"}, Client: factorydroidtest.Run, Golden: "testdata"}
}

func TestProtocol(t *testing.T) {
	t.Parallel()
	suite().Run(t)
}

func FuzzEvent(f *testing.F) { suite().Fuzz(f) }

// Both ways of writing a name are read, and neither hides the other event.
func TestMixedNames(t *testing.T) {
	t.Parallel()
	agent := factorydroid.New()
	for _, stdin := range []string{
		`{"sessionId":"s","hookEventName":"PreToolUse","permissionMode":"off","tool_name":"Execute","tool_input":{"command":"ls"}}`,
		`{"session_id":"s","hook_event_name":"PreToolUse","permission_mode":"off","toolName":"Execute","toolInput":{"command":"ls"}}`,
	} {
		c := protocoltest.Call(agent, "PreToolUse", []byte(stdin))
		c.Env = []hookwire.Var{{Name: "FACTORY_PROJECT_DIR", Value: "/home/dev/shop"}}
		e, err := agent.Event(c)
		require.NoError(t, err)
		assert.Equal(t, hook.Tool{Name: "Execute", Kind: hook.KindShell, Input: []byte(`{"command":"ls"}`)}, *e.Data.Tool)
		assert.Equal(t, []string{"s", "off", "/home/dev/shop"}, []string{e.SessionID, e.Data.PermissionMode, e.Data.Workspace})
		_, err = agent.Event(protocoltest.Call(agent, "PostToolUse", []byte(stdin)))
		require.ErrorIs(t, err, protocol.ErrPayload)
	}
	for key, want := range map[string]bool{"stopHookActive": true, "stop_hook_active": true, "stop": false} {
		e, err := agent.Event(protocoltest.Call(agent, "Stop", []byte(`{"`+key+`":true}`)))
		require.NoError(t, err)
		assert.Equal(t, want, e.Data.StopActive, key)
	}
	assert.Contains(t, hookwire.Allowed(agent.Name), "FACTORY_PROJECT_DIR")
}

// A key that a decider took out would still be there when the tool runs.
func TestAKeyCannotBeTakenOut(t *testing.T) {
	t.Parallel()
	agent := factorydroid.New()
	e, err := agent.Event(protocoltest.Call(agent, "PreToolUse", []byte(`{"tool_name":"Execute","tool_input":{"command":"ls","background":true}}`)))
	require.NoError(t, err)
	for input, blocked := range map[string]bool{`{"command":"ls -l"}`: true, `{"command":"ls -l","background":false}`: false} {
		a := agent.AnswerTo(e, hook.Verdict{Effect: hook.Allow, Grant: true, Input: []byte(input)})
		out := factorydroidtest.Run(protocoltest.Situation{Event: "PreToolUse"}, protocoltest.Of(a.Response))
		assert.Equal(t, blocked, out.Blocked, "%s: %s", input, a.Stdout)
		assert.Equal(t, blocked, a.Note != "", input)
	}
}

// A crash has exit code 2, too: only what is said in JSON may hold a stop.
func TestStopIsHeldByWordsAlone(t *testing.T) {
	t.Parallel()
	for _, event := range []string{"Stop", "SubagentStop"} {
		a := factorydroid.New().Answer(event, hook.Verdict{Effect: hook.Deny, Reason: "run the tests"})
		assert.Zero(t, a.Exit, event)
		assert.Empty(t, a.Stderr, event)
		assert.JSONEq(t, `{"decision":"block","reason":"run the tests"}`, string(a.Stdout), event)
	}
}

func TestAPromptIsNeeded(t *testing.T) {
	t.Parallel()
	agent := factorydroid.New()
	for _, stdin := range []string{`{}`, `{"prompt":7}`, `{"prompt":["rm"]}`} {
		_, err := agent.Event(protocoltest.Call(agent, "UserPromptSubmit", []byte(stdin)))
		require.ErrorIs(t, err, protocol.ErrPayload, stdin)
	}
}
