package copilot_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/grapnel-dev/grapnel/bus/hook"
	"github.com/grapnel-dev/grapnel/internal/edge/copilot"
	"github.com/grapnel-dev/grapnel/internal/edge/copilot/copilottest"
	"github.com/grapnel-dev/grapnel/internal/edge/hookwire"
	"github.com/grapnel-dev/grapnel/internal/edge/protocol"
	"github.com/grapnel-dev/grapnel/internal/edge/protocol/protocoltest"
	"github.com/grapnel-dev/grapnel/internal/edge/vscode/vscodetest"
)

func suite() protocoltest.Suite {
	return protocoltest.Suite{
		Agent: copilot.New(), Client: copilottest.Run, Golden: "testdata",
		// Files of the two dialects differ in their names' case alone, which not
		// every file system tells apart.
		Payloads: []string{"testdata/written", "testdata/recorded", "testdata/written-pascal", "testdata/recorded-pascal"},
	}
}

func TestProtocol(t *testing.T) {
	t.Parallel()
	suite().Run(t)
}

func FuzzEvent(f *testing.F) { suite().Fuzz(f) }

func read(t *testing.T, event, stdin string) (hook.Event, error) {
	t.Helper()
	return copilot.New().Event(protocoltest.Call(copilot.New(), event, []byte(stdin)))
}

func TestToolArgsAreAnObjectOrAText(t *testing.T) {
	t.Parallel()
	object, err := read(t, "preToolUse", `{"sessionId":"s","timestamp":1,"cwd":"/w","toolName":"bash","toolArgs":{"command":"ls"}}`)
	require.NoError(t, err)
	text, err := read(t, "preToolUse", `{"sessionId":"s","timestamp":1,"cwd":"/w","toolName":"bash","toolArgs":"{\"command\":\"ls\"}"}`)
	require.NoError(t, err)
	assert.JSONEq(t, `{"command":"ls"}`, string(text.Data.Tool.Input), "what is decided on is the input, and not a text about it")
	assert.Equal(t, object.ID, text.ID, "the same call")

	patch, err := read(t, "PreToolUse", `{"hook_event_name":"PreToolUse","session_id":"s","timestamp":"t","tool_name":"Edit","tool_input":"*** Begin Patch"}`)
	require.NoError(t, err)
	assert.Equal(t, json.RawMessage(`"*** Begin Patch"`), patch.Data.Tool.Input, "some tools take text")

	for _, args := range []string{`"{\"command\":\"ls\",\"command\":\"rm\"}"`, `"{\"command\":\"ls\"} {}"`} {
		_, err = read(t, "preToolUse", `{"toolName":"bash","toolArgs":`+args+`}`)
		assert.ErrorIs(t, err, protocol.ErrPayload, args)
	}
	for _, payload := range []string{`{"toolName":"bash"}`, `{"toolArgs":{}}`, `{"toolName":"bash","args":{"command":"rm"}}`} {
		_, err = read(t, "preToolUse", payload)
		assert.ErrorIs(t, err, protocol.ErrPayload, payload)
	}
}

func TestCallsAreToldApartByTheirTime(t *testing.T) {
	t.Parallel()
	at := func(payload string) string {
		e, err := read(t, "preToolUse", payload)
		require.NoError(t, err)
		return e.ID
	}
	first := at(`{"sessionId":"s","timestamp":1795208221111,"toolName":"bash","toolArgs":{"command":"ls"}}`)
	assert.Equal(t, first, at(`{"timestamp":1795208221111,"sessionId":"s","toolName":"bash","toolArgs":{"command":"ls"},"new":1}`), "registered twice")
	assert.NotEqual(t, first, at(`{"sessionId":"s","timestamp":1795208221112,"toolName":"bash","toolArgs":{"command":"ls"}}`), "called twice")
	assert.NotEqual(t, first, at(`{"sessionId":"s","timestamp":1795208221111,"toolName":"bash","toolArgs":{"command":"rm"}}`))
	assert.NotEqual(t, first, at(`{"sessionId":"s","timestamp":1795208221111,"agentId":"a","toolName":"bash","toolArgs":{"command":"ls"}}`))
	none := `{"sessionId":"s","toolName":"bash","toolArgs":{"command":"ls"}}`
	assert.NotEqual(t, at(none), at(none), "nothing tells them apart, so each is decided on")
}

func TestTheDialectsAreRowsOfTheirOwn(t *testing.T) {
	t.Parallel()
	agent := copilot.New()
	for name, canonical := range map[string]hook.Name{"preToolUse": hook.PreToolUse, "PreToolUse": hook.PreToolUse, "agentStop": hook.Stop, "Stop": hook.Stop} {
		row, known := agent.Lookup(name)
		require.True(t, known)
		assert.Equal(t, name, row.Name)
		assert.Equal(t, canonical, row.Canonical)
		assert.Equal(t, name[0] >= 'A' && name[0] <= 'Z', row.Unregistered, "%s: one of the two is registered", name)
	}
	row, _ := agent.Lookup(string(hook.PreToolUse))
	assert.Equal(t, "preToolUse", row.Name, "the canonical name is the dialect that is registered")
	_, err := read(t, "preToolUse", `{"hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{}}`)
	assert.ErrorIs(t, err, protocol.ErrPayload, "a payload of the other dialect")
	_, err = read(t, "PermissionRequest", `{"hookName":"permissionRequest","toolName":"bash","toolInput":{"command":"ls"}}`)
	assert.NoError(t, err, "this one is the same under both names")
}

func TestThePermissionOfAToolThatWasAskedAboutIsLeftToPreToolUse(t *testing.T) {
	t.Parallel()
	agent := copilot.New()
	for _, c := range agent.Capabilities() {
		if c.Installed && c.Class == "gate" {
			assert.True(t, c.Block, "%s is registered and can block nothing", c.Event)
			assert.True(t, c.Ask || c.Event == "userPromptSubmitted", "%s is registered and loses an ask", c.Event)
		}
	}
	a := agent.Answer("permissionRequest", hook.Verdict{Effect: hook.Ask, Reason: "really?"})
	assert.JSONEq(t, `{"behavior":"deny","message":"really?"}`, string(a.Stdout))
}

func TestAServersToolHasOneName(t *testing.T) {
	t.Parallel()
	e, err := read(t, "preMcpToolCall", `{"sessionId":"s","timestamp":1,"serverName":"demo","toolName":"echo","toolCallId":"c","arguments":{"text":"hi"}}`)
	require.NoError(t, err)
	assert.Equal(t, &hook.Tool{Name: "demo-echo", Kind: hook.KindMCP, Input: json.RawMessage(`{"text":"hi"}`), CallID: "c"}, e.Data.Tool)
	assert.Equal(t, "demo-echo", e.Subject)
}

// TestVSCodeIsDenied: it runs what is registered for Copilot under its own
// names, and passes over an answer in Copilot's shape, an ask with it.
func TestVSCodeIsDenied(t *testing.T) {
	t.Parallel()
	agent := copilot.New()
	c := protocoltest.Call(agent, "preToolUse", []byte(`{"hook_event_name":"PreToolUse","session_id":"s","tool_name":"run_in_terminal","tool_input":{"command":"ls"}}`))
	_, err := agent.Event(c)
	require.ErrorIs(t, err, protocol.ErrPayload)
	r := agent.Refuse(c, err).Response
	for event, run := range map[string]protocoltest.Client{"preToolUse": copilottest.Run, "PreToolUse": vscodetest.Run} {
		assert.True(t, run(protocoltest.Situation{Event: event, Approved: true}, protocoltest.Of(r)).Blocked, "%s: exit %d, %s", event, r.Exit, r.Stdout)
	}
}

// TestAloneClosesPrompts: exit code 2 closes none.
func TestAloneClosesPrompts(t *testing.T) {
	t.Parallel()
	for _, event := range []string{"userPromptSubmitted", "UserPromptSubmit", "user_prompt_submit"} {
		r := hookwire.Alone(hookwire.Copilot, event, "no daemon")
		assert.Zero(t, r.Exit, event)
		assert.True(t, hookwire.Usable(hookwire.Copilot, event, r), event)
	}
	assert.Equal(t, 2, hookwire.Alone(hookwire.Copilot, "preToolUse", "no daemon").Exit)
}
