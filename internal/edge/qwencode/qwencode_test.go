package qwencode_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/grapnel-dev/grapnel/bus/hook"
	"github.com/grapnel-dev/grapnel/internal/edge/protocol/protocoltest"
	"github.com/grapnel-dev/grapnel/internal/edge/qwencode"
	"github.com/grapnel-dev/grapnel/internal/edge/qwencode/qwencodetest"
)

func suite() protocoltest.Suite {
	return protocoltest.Suite{
		Agent: qwencode.New(), Payloads: []string{"testdata/written", "testdata/recorded"}, Client: qwencodetest.Run, Golden: "testdata",
	}
}

func TestProtocol(t *testing.T) {
	t.Parallel()
	suite().Run(t)
}

func FuzzEvent(f *testing.F) { suite().Fuzz(f) }

// TestAHaltLetsItStop: continue:false would make it carry on.
func TestAHaltLetsItStop(t *testing.T) {
	t.Parallel()
	agent := qwencode.New()
	for _, e := range agent.Events {
		for _, v := range protocoltest.Verdicts() {
			assert.NotContains(t, string(agent.Answer(e.Name, v.Verdict).Stdout), `"continue"`, "%s, %s", e.Name, v.Name)
		}
	}
	for _, event := range []string{"Stop", "SubagentStop"} {
		a := agent.Answer(event, hook.Verdict{Effect: hook.Halt, Reason: "enough"})
		assert.JSONEq(t, "{}", string(a.Stdout))
		assert.Contains(t, a.Note, "let stop")
	}
}

// TestTheOriginalNeverRuns: a changed input would be passed over.
func TestTheOriginalNeverRuns(t *testing.T) {
	t.Parallel()
	agent := qwencode.New()
	for _, event := range []string{"PreToolUse", "PermissionRequest"} {
		a := agent.Answer(event, hook.Verdict{Effect: hook.Allow, Grant: true, Input: json.RawMessage(`{"command":"ls"}`)})
		got := qwencodetest.Run(protocoltest.Situation{Event: event, Approved: true}, protocoltest.Of(a.Response))
		assert.True(t, got.Blocked, event)
		assert.NotContains(t, string(a.Stdout), "updatedInput")
		assert.Contains(t, a.Note, "cannot change the input")
	}
}

func TestRoundsOfToolResults(t *testing.T) {
	t.Parallel()
	agent := qwencode.New()
	for members, want := range map[string]string{
		`"prompt":""`: "tool_result", `"prompt":"","submitted_prompt":""`: "", `"prompt":"hello"`: "",
	} {
		e, err := agent.Event(protocoltest.Call(agent, "UserPromptSubmit", []byte(`{"session_id":"s","hook_event_name":"UserPromptSubmit",`+members+`}`)))
		require.NoError(t, err)
		assert.Equal(t, hook.UserPromptSubmit, e.Name, "a gate in any case")
		assert.Equal(t, want, e.Data.Reason, members)
	}
}

func TestNamesThatThePayloadDecides(t *testing.T) {
	t.Parallel()
	agent := qwencode.New()
	for _, c := range []struct {
		event, members string
		want           hook.Name
	}{
		{"SessionStart", `"source":"startup"`, hook.SessionStart},
		{"SessionStart", `"source":"resume"`, hook.SessionResume},
		{"MessageDisplay", `"displayed_text":"Here","is_final":false`, hook.ModelStreamChunk},
		{"MessageDisplay", `"displayed_text":"Here it is","is_final":true`, hook.AgentMessage},
	} {
		e, err := agent.Event(protocoltest.Call(agent, c.event, []byte(`{"session_id":"s","hook_event_name":"`+c.event+`",`+c.members+`}`)))
		require.NoError(t, err)
		assert.Equal(t, c.want, e.Name, c.members)
	}
}

// TestAReasonAlwaysStandsOnStderr: exit code 2 without one lets the tool run.
func TestAReasonAlwaysStandsOnStderr(t *testing.T) {
	t.Parallel()
	agent := qwencode.New()
	for _, e := range agent.Events {
		for _, v := range protocoltest.Verdicts() {
			if a := agent.Answer(e.Name, v.Verdict); a.Exit == 2 {
				assert.NotEmpty(t, strings.TrimSpace(string(a.Stderr)), "%s, %s", e.Name, v.Name)
			}
		}
	}
}
