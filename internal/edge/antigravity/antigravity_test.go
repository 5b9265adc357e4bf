package antigravity_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/grapnel-dev/grapnel/bus/hook"
	"github.com/grapnel-dev/grapnel/internal/edge/antigravity"
	"github.com/grapnel-dev/grapnel/internal/edge/antigravity/antigravitytest"
	"github.com/grapnel-dev/grapnel/internal/edge/hookwire"
	"github.com/grapnel-dev/grapnel/internal/edge/protocol"
	"github.com/grapnel-dev/grapnel/internal/edge/protocol/protocoltest"
)

func suite() protocoltest.Suite {
	return protocoltest.Suite{Agent: antigravity.New(), Payloads: []string{"testdata/written"}, Client: antigravitytest.Run, Golden: "testdata"}
}

func TestProtocol(t *testing.T) {
	t.Parallel()
	suite().Run(t)
}

func FuzzEvent(f *testing.F) { suite().Fuzz(f) }

// The table that was measured, and what we print for the same.
func TestFailsClosed(t *testing.T) {
	t.Parallel()
	agent := antigravity.New()
	at := protocoltest.Situation{Event: "PreToolUse", Approved: true}
	for name, c := range map[string]struct {
		left    protocoltest.Process
		blocked bool
	}{
		"nothing":        {protocoltest.Process{}, false},
		"{}":             {protocoltest.Process{Stdout: "{}"}, true},
		"empty decision": {protocoltest.Process{Stdout: `{"decision":""}`}, true},
		"text":           {protocoltest.Process{Stdout: "ok"}, true},
		"exit 1":         {protocoltest.Process{Exit: 1}, true},
		"new key":        {protocoltest.Process{Stdout: `{"decision":"allow","more":1}`}, true},
		"ours":           {protocoltest.Of(agent.Answer("PreToolUse", hook.Verdict{}).Response), false},
		"ours, context":  {protocoltest.Of(agent.Answer("PreToolUse", hook.Verdict{Context: "x"}).Response), false},
		"ours, allow":    {protocoltest.Of(agent.Answer("PreToolUse", hook.Verdict{Effect: hook.Allow}).Response), false},
		"the shim's":     {protocoltest.Of(hookwire.Silent(agent.Name, "PreToolUse")), false},
		"alone":          {protocoltest.Of(hookwire.Alone(agent.Name, "PreToolUse", "no")), true},
	} {
		assert.Equal(t, c.blocked, antigravitytest.Run(at, c.left).Blocked, name)
	}
	for _, e := range agent.Events {
		assert.Empty(t, agent.Answer(e.Name, hook.Verdict{}).Response, e.Name)
		assert.Empty(t, hookwire.Silent(agent.Name, e.Name), e.Name)
	}
}

// What the person once always allowed does not answer our question.
func TestAskIsForced(t *testing.T) {
	t.Parallel()
	a := antigravity.New().Answer("PreToolUse", hook.Verdict{Effect: hook.Ask, Reason: "sure?"})
	assert.Equal(t, hookwire.Response{Stdout: []byte("{\"decision\":\"force_ask\",\"reason\":\"sure?\"}\n")}, a.Response)
	assert.True(t, antigravitytest.Run(protocoltest.Situation{Event: "PreToolUse", Approved: true}, protocoltest.Of(a.Response)).Asked)
}

// No payload says which event it is of: a tool call that comes to another hook
// must not pass unread, nor one of an event that is not known.
func TestACallUnderAnotherName(t *testing.T) {
	t.Parallel()
	agent := antigravity.New()
	const call = `{"conversationId":"c","stepIdx":7,"toolCall":{"name":"run_command","args":{"CommandLine":"ls"}}}`
	for _, event := range []string{"PreInvocation", "PostInvocation", "Stop", "SessionStart", "PreToolCall"} {
		c := protocoltest.Call(agent, event, []byte(call))
		_, err := agent.Event(c)
		require.ErrorIs(t, err, protocol.ErrPayload, event)
		r := agent.Refuse(c, err)
		assert.True(t, antigravitytest.Run(protocoltest.Situation{Event: "PreToolUse", Approved: true}, protocoltest.Of(r.Response)).Blocked, "%s: %s", event, r.Stdout)
	}
	for _, event := range []string{"PreToolUse", "PostToolUse"} {
		e, err := agent.Event(protocoltest.Call(agent, event, []byte(call)))
		require.NoError(t, err, event)
		assert.Equal(t, hook.Tool{Name: "run_command", Kind: hook.KindShell, Input: []byte(`{"CommandLine":"ls"}`), CallID: "7"}, *e.Data.Tool)
	}
	e, err := agent.Event(protocoltest.Call(agent, "PostToolUse", []byte(`{"conversationId":"c","stepIdx":"7","error":"no"}`)))
	require.NoError(t, err)
	assert.Equal(t, hook.PostToolUseFailure, e.Name)
	assert.Equal(t, "7", e.Data.Tool.CallID, "which call it was")
}

func TestCallsThatCannotBeRead(t *testing.T) {
	t.Parallel()
	agent := antigravity.New()
	for _, stdin := range []string{
		`{}`, `{"toolCall":null}`, `{"toolCall":[]}`, `{"toolCall":{"name":"a"}}`, `{"toolCall":{"args":{}}}`, `{"toolCall":{"name":"a","args":"x"}}`,
		`{"toolCall":{"name":7,"args":{}}}`, `{"toolCall":{"name":"a","args":{},"args":{}}}`, `{"workspacePaths":"x","toolCall":{"name":"a","args":{}}}`,
	} {
		c := protocoltest.Call(agent, "PreToolUse", []byte(stdin))
		_, err := agent.Event(c)
		require.ErrorIs(t, err, protocol.ErrPayload, stdin)
		r := agent.Refuse(c, err)
		assert.Zero(t, r.Exit, stdin)
		assert.True(t, antigravitytest.Run(protocoltest.Situation{Event: "PreToolUse"}, protocoltest.Of(r.Response)).Blocked, stdin)
	}
}
