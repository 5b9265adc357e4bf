package kirocli_test

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/grapnel-dev/grapnel/bus/hook"
	"github.com/grapnel-dev/grapnel/internal/edge/hookwire"
	"github.com/grapnel-dev/grapnel/internal/edge/kirocli"
	"github.com/grapnel-dev/grapnel/internal/edge/kirocli/kiroclitest"
	"github.com/grapnel-dev/grapnel/internal/edge/protocol"
	"github.com/grapnel-dev/grapnel/internal/edge/protocol/protocoltest"
)

func suite() protocoltest.Suite {
	s := protocoltest.Suite{
		Agent: kirocli.New(), Payloads: []string{"testdata/written"}, Client: kiroclitest.Run, Golden: "testdata", Plain: map[string]bool{},
		Valid: func(e protocol.Event, r hookwire.Response) error {
			if len(r.Stdout) > 0 && (!e.Context || r.Exit != 0) {
				return errors.New("nobody reads stdout")
			}
			return nil
		},
	}
	for _, e := range s.Agent.Events {
		s.Plain[e.Name] = e.Context
	}
	return s
}

func TestProtocol(t *testing.T) {
	t.Parallel()
	suite().Run(t)
}

func FuzzEvent(f *testing.F) { suite().Fuzz(f) }

// Version 3 sends version 2's names, and is answered as version 3.
func TestTwoVersions(t *testing.T) {
	t.Parallel()
	agent := kirocli.New()
	for _, c := range []struct {
		registered, says, native string
		blocked                  bool
	}{
		{"UserPromptSubmit", "userPromptSubmit", "UserPromptSubmit", true},
		{"UserPromptSubmit", "UserPromptSubmit", "UserPromptSubmit", true},
		{"userPromptSubmit", "userPromptSubmit", "userPromptSubmit", false},
		{"AgentSpawn", "agentSpawn", "SessionStart", false},
		{"agentSpawn", "agentSpawn", "agentSpawn", false},
	} {
		e, err := agent.Event(protocoltest.Call(agent, c.registered, []byte(`{"hook_event_name":"`+c.says+`","prompt":"x"}`)))
		require.NoError(t, err, "%v", c)
		assert.Equal(t, c.native, e.Data.Native.Event)
		a := agent.AnswerTo(e, hook.Verdict{Effect: hook.Deny, Reason: "no"})
		out := kiroclitest.Run(protocoltest.Situation{Event: c.native}, protocoltest.Of(a.Response))
		assert.Equal(t, c.blocked, out.Blocked, "%v", c)
		assert.Equal(t, !c.blocked, a.Note != "", "%v: what was lost is on record", c)
	}
	for registered, says := range map[string]string{"userPromptSubmit": "UserPromptSubmit", "PreToolUse": "userPromptSubmit", "UserPromptSubmit": "preToolUse"} {
		c := protocoltest.Call(agent, registered, []byte(`{"hook_event_name":"`+says+`","prompt":"x","tool_name":"a","tool_input":{}}`))
		_, err := agent.Event(c)
		require.ErrorIs(t, err, protocol.ErrPayload, "%s says %s", registered, says)
		assert.Equal(t, 2, agent.Refuse(c, err).Exit)
	}
}

// What is printed is given to the model, so nothing is printed but a context.
func TestNothingIsPrintedForNoOpinion(t *testing.T) {
	t.Parallel()
	for _, e := range kirocli.New().Events {
		for _, r := range []hookwire.Response{
			kirocli.New().Answer(e.Name, hook.Verdict{}).Response, kirocli.New().Answer(e.Name, hook.Verdict{Effect: hook.Allow, Grant: true, Reason: "ok"}).Response,
			hookwire.Silent(hookwire.KiroCLI, e.Name),
		} {
			assert.Empty(t, r, e.Name)
		}
		assert.Empty(t, hookwire.Alone(hookwire.KiroCLI, e.Name, "no").Stdout, e.Name)
	}
	a := kirocli.New().Answer("SessionStart", hook.Verdict{Context: "Use make test."})
	assert.Equal(t, hookwire.Response{Stdout: []byte("Use make test.\n")}, a.Response)
}

func TestTools(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]hook.Kind{
		"execute_bash": hook.KindShell, "fs_read": hook.KindFileRead, "fs_write": hook.KindFileEdit, "@github/create_issue": hook.KindMCP,
		"@builtin": hook.KindOther, "use_aws": hook.KindOther,
	} {
		assert.Equal(t, want, kirocli.Kind(name), name)
	}
}
