package geminicli_test

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/grapnel-dev/grapnel/bus/hook"
	"github.com/grapnel-dev/grapnel/internal/edge/geminicli"
	"github.com/grapnel-dev/grapnel/internal/edge/geminicli/geminiclitest"
	"github.com/grapnel-dev/grapnel/internal/edge/hookwire"
	"github.com/grapnel-dev/grapnel/internal/edge/protocol/protocoltest"
)

func suite() protocoltest.Suite {
	return protocoltest.Suite{
		Agent: geminicli.New(), Payloads: []string{"testdata/written", "testdata/recorded"}, Client: geminiclitest.Run, Golden: "testdata",
	}
}

func TestProtocol(t *testing.T) {
	t.Parallel()
	suite().Run(t)
}

func FuzzEvent(f *testing.F) { suite().Fuzz(f) }

// TestStdoutIsNeverEmpty: with nothing there, Gemini CLI would read stderr.
func TestStdoutIsNeverEmpty(t *testing.T) {
	t.Parallel()
	agent := geminicli.New()
	for _, e := range agent.Events {
		for _, v := range protocoltest.Verdicts() {
			assert.NotEmpty(t, agent.Answer(e.Name, v.Verdict).Stdout, "%s, %s", e.Name, v.Name)
		}
		assert.NotEmpty(t, hookwire.Alone(agent.Name, e.Name, "the daemon hung up").Stdout, e.Name)
		assert.NotEmpty(t, hookwire.Silent(agent.Name, e.Name).Stdout, e.Name)
	}
}

// TestAKeyCannotBeTakenOut: Gemini CLI lays a changed input over the call's.
func TestAKeyCannotBeTakenOut(t *testing.T) {
	t.Parallel()
	agent := geminicli.New()
	text, err := os.ReadFile("testdata/written/BeforeTool-1-shell-deny.json")
	require.NoError(t, err)
	e, err := agent.Event(protocoltest.Call(agent, "BeforeTool", text))
	require.NoError(t, err)
	run := func(input string) protocoltest.Outcome {
		a := agent.AnswerTo(e, hook.Verdict{Input: json.RawMessage(input)})
		return geminiclitest.Run(protocoltest.Situation{Event: "BeforeTool", Approved: true}, protocoltest.Of(a.Response))
	}
	kept := run(`{"command":"ls","description":"clean"}`)
	assert.False(t, kept.Blocked)
	assert.JSONEq(t, `{"command":"ls","description":"clean"}`, string(kept.Changed))
	dropped := run(`{"command":"ls"}`)
	assert.True(t, dropped.Blocked)
	assert.Contains(t, strings.Join(dropped.ToModel, "\n"), "description")
}

func TestAFailedToolIsAFailure(t *testing.T) {
	t.Parallel()
	agent := geminicli.New()
	for response, want := range map[string]struct {
		name hook.Name
		text string
	}{
		`{"llmContent":"ok"}`:              {hook.PostToolUse, ""},
		`{"llmContent":"ok","error":null}`: {hook.PostToolUse, ""},
		`"plain"`:                          {hook.PostToolUse, ""},
		`{"error":"no such file"}`:         {hook.PostToolUseFailure, "no such file"},
		`{"error":{"message":"no such file","type":"enoent"}}`: {hook.PostToolUseFailure, "no such file"},
		`{"error":{"message":7}}`:                              {hook.PostToolUseFailure, `{"message":7}`},
		`{"error":true}`:                                       {hook.PostToolUseFailure, "true"},
	} {
		stdin := `{"session_id":"s","cwd":"/","hook_event_name":"AfterTool","timestamp":"t","tool_name":"read_file","tool_input":{},"tool_response":` + response + `}`
		e, err := agent.Event(protocoltest.Call(agent, "AfterTool", []byte(stdin)))
		require.NoError(t, err, response)
		assert.Equal(t, want.name, e.Name, response)
		assert.Equal(t, want.text, e.Data.Error, response)
		assert.JSONEq(t, response, string(e.Data.Result))
	}
}

func TestResumedSession(t *testing.T) {
	t.Parallel()
	agent := geminicli.New()
	for source, want := range map[string]hook.Name{"startup": hook.SessionStart, "resume": hook.SessionResume, "clear": hook.SessionStart} {
		e, err := agent.Event(protocoltest.Call(agent, "SessionStart", []byte(`{"session_id":"s","hook_event_name":"SessionStart","source":"`+source+`"}`)))
		require.NoError(t, err)
		assert.Equal(t, want, e.Name)
		assert.Equal(t, source, e.Data.Reason)
	}
}
