package cline_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/grapnel-dev/grapnel/bus/hook"
	"github.com/grapnel-dev/grapnel/internal/edge/cline"
	"github.com/grapnel-dev/grapnel/internal/edge/cline/clinetest"
	"github.com/grapnel-dev/grapnel/internal/edge/hookwire"
	"github.com/grapnel-dev/grapnel/internal/edge/protocol"
	"github.com/grapnel-dev/grapnel/internal/edge/protocol/protocoltest"
)

func suite() protocoltest.Suite {
	return protocoltest.Suite{Agent: cline.New(), Payloads: []string{"testdata/written"}, Client: clinetest.Run, Golden: "testdata"}
}

func TestProtocol(t *testing.T) {
	t.Parallel()
	suite().Run(t)
}

func FuzzEvent(f *testing.F) { suite().Fuzz(f) }

func read(t *testing.T, event, stdin string) (hook.Event, error) {
	t.Helper()
	return cline.New().Event(protocoltest.Call(cline.New(), event, []byte(stdin)))
}

// A gate whose object is not there, is no object or says nothing is closed.
func TestGatesWithoutTheirObject(t *testing.T) {
	t.Parallel()
	for event, list := range map[string][]string{
		"PreToolUse": {
			`{"hookName":"PreToolUse"}`, `{"preToolUse":null}`, `{"preToolUse":"x"}`, `{"preToolUse":{"toolName":"read_file"}}`,
			`{"preToolUse":{"parameters":{}}}`, `{"preToolUse":{"toolName":7,"parameters":{}}}`, `{"preToolUse":{"toolName":"a","parameters":"b"}}`,
			`{"postToolUse":{"toolName":"read_file","parameters":{}}}`,
		},
		"UserPromptSubmit": {`{}`, `{"prompt":"x"}`, `{"userPromptSubmit":{}}`, `{"userPromptSubmit":{"prompt":[]}}`},
		"PreSomething":     {`{"preToolUse":{"toolName":"execute_command","parameters":{}}}`},
	} {
		for _, stdin := range list {
			_, err := read(t, event, stdin)
			require.ErrorIs(t, err, protocol.ErrPayload, "%s: %s", event, stdin)
			r := cline.New().Refuse(protocoltest.Call(cline.New(), event, []byte(stdin)), err).Response
			assert.True(t, clinetest.Run(protocoltest.Situation{Event: event}, protocoltest.Of(r)).Blocked, "%s: %s", event, r.Stdout)
		}
	}
}

// Nothing that is said to let an action pass may look like a failure, since
// Cline fails closed.
func TestWhatCrashesBlocks(t *testing.T) {
	t.Parallel()
	at := protocoltest.Situation{Event: "PreToolUse"}
	for name, c := range map[string]struct {
		left    protocoltest.Process
		blocked bool
	}{
		"silent":          {protocoltest.Of(hookwire.Silent(hookwire.Cline, "PreToolUse")), false},
		"nothing":         {protocoltest.Process{}, false},
		"crash":           {protocoltest.Process{Exit: 1, Stderr: "panic"}, true},
		"text":            {protocoltest.Process{Stdout: "hello"}, true},
		"no cancel":       {protocoltest.Process{Stdout: "{}"}, true},
		"pass and exit 1": {protocoltest.Process{Stdout: `{"cancel":false}`, Exit: 1}, false},
		"log, then deny":  {protocoltest.Process{Stdout: `log {x} {"cancel":true,"errorMessage":"no"}`}, true},
		"timeout":         {protocoltest.Process{Stdout: `{"cancel":false}`, Ending: protocoltest.TimedOut}, true},
		"alone":           {protocoltest.Of(hookwire.Alone(hookwire.Cline, "PreToolUse", "no")), true},
	} {
		assert.Equal(t, c.blocked, clinetest.Run(at, c.left).Blocked, name)
	}
	for _, e := range cline.New().Events {
		r := cline.New().Answer(e.Name, hook.Verdict{})
		assert.Equal(t, "{\"cancel\":false}\n", string(r.Stdout), e.Name)
		assert.Zero(t, r.Exit, e.Name)
	}
}

func TestFailedTools(t *testing.T) {
	t.Parallel()
	e, err := read(t, "PostToolUse", `{"postToolUse":{"toolName":"read_file","parameters":{"path":"a"},"result":"no such file","success":false,"executionTimeMs":7}}`)
	require.NoError(t, err)
	assert.Equal(t, hook.PostToolUseFailure, e.Name)
	assert.Equal(t, "no such file", e.Data.Error)
	assert.EqualValues(t, 7, e.Data.DurationMS)
	e, err = read(t, "PostToolUse", `{"postToolUse":{"toolName":"read_file","parameters":{"path":"a"},"result":[1]}}`)
	require.NoError(t, err)
	assert.Equal(t, hook.PostToolUse, e.Name, "success is not there, and nobody says that it failed")
}
