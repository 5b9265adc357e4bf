package goose_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/grapnel-dev/grapnel/bus/hook"
	"github.com/grapnel-dev/grapnel/internal/edge/goose"
	"github.com/grapnel-dev/grapnel/internal/edge/goose/goosetest"
	"github.com/grapnel-dev/grapnel/internal/edge/hookwire"
	"github.com/grapnel-dev/grapnel/internal/edge/protocol"
	"github.com/grapnel-dev/grapnel/internal/edge/protocol/protocoltest"
)

func suite() protocoltest.Suite {
	return protocoltest.Suite{Agent: goose.New(), Payloads: []string{"testdata/written"}, Client: goosetest.Run, Golden: "testdata"}
}

func TestProtocol(t *testing.T) {
	t.Parallel()
	suite().Run(t)
}

func FuzzEvent(f *testing.F) { suite().Fuzz(f) }

// With on_failure "block" all that is no decision denies, {} included.
func TestNoOpinionIsADecision(t *testing.T) {
	t.Parallel()
	at := protocoltest.Situation{Event: "PreToolUse", Approved: true}
	for name, c := range map[string]struct {
		left    protocoltest.Process
		blocked bool
	}{
		"ours":             {protocoltest.Of(goose.New().Answer("PreToolUse", hook.Verdict{}).Response), false},
		"ours, allowed":    {protocoltest.Of(goose.New().Answer("PreToolUse", hook.Verdict{Effect: hook.Allow, Grant: true}).Response), false},
		"the shim's":       {protocoltest.Of(hookwire.Silent(hookwire.Goose, "PreToolUse")), false},
		"the shim's deny":  {protocoltest.Of(hookwire.Alone(hookwire.Goose, "PreToolUse", "no")), true},
		"no decision":      {protocoltest.Process{Stdout: "{}"}, true},
		"a log line":       {protocoltest.Process{Stdout: "checking"}, true},
		"exit 1":           {protocoltest.Process{Exit: 1}, true},
		"killed":           {protocoltest.Process{Ending: protocoltest.Killed}, true},
		"block and exit 1": {protocoltest.Process{Stdout: `{"decision":"block"}`, Exit: 1}, true},
		"half":             {protocoltest.Process{Stdout: `{"decision":"allow"`}, true},
		"allow and exit 1": {protocoltest.Process{Stdout: `{"decision":"allow"}`, Exit: 1}, true},
		"not UTF-8":        {protocoltest.Process{Stdout: "{\"decision\":\"allow\",\"reason\":\"\xff\"}"}, true},
	} {
		assert.Equal(t, c.blocked, goosetest.Run(at, c.left).Blocked, name)
	}
}

// What other events are answered is never looked at, so nothing is said.
func TestOnlyTwoEventsAreAnswered(t *testing.T) {
	t.Parallel()
	for _, e := range goose.New().Events {
		a := goose.New().Answer(e.Name, hook.Verdict{Effect: hook.Deny, Reason: "no"})
		switch e.Name {
		case "PreToolUse":
			assert.Equal(t, hookwire.Response{Exit: 2, Stdout: []byte("{\"decision\":\"block\",\"reason\":\"no\"}\n"), Stderr: []byte("no\n")}, a.Response)
		case "Stop":
			assert.Equal(t, hookwire.Response{Stdout: []byte("{\"decision\":\"block\",\"reason\":\"no\"}\n")}, a.Response)
		default:
			assert.Empty(t, a.Response, e.Name)
			assert.NotEmpty(t, a.Note, e.Name)
		}
	}
}

func TestTools(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]hook.Kind{
		"developer__shell": hook.KindShell, "shell": hook.KindShell, "developer__write": hook.KindFileWrite, "developer__edit": hook.KindFileEdit,
		"developer__tree": hook.KindSearch, "developer__read_image": hook.KindFileRead, "developer__other": hook.KindOther,
		"github__create_issue": hook.KindMCP, "evil__shell": hook.KindMCP,
	} {
		assert.Equal(t, want, goose.Kind(name), name)
	}
}

func TestAPromptIsNeeded(t *testing.T) {
	t.Parallel()
	for _, stdin := range []string{`{}`, `{"message":7}`, `{"prompt":"x"}`} {
		_, err := goose.New().Event(protocoltest.Call(goose.New(), "UserPromptSubmit", []byte(stdin)))
		require.ErrorIs(t, err, protocol.ErrPayload, stdin)
	}
}
