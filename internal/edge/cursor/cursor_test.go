package cursor_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/grapnel-dev/grapnel/bus/hook"
	"github.com/grapnel-dev/grapnel/internal/edge/cursor"
	"github.com/grapnel-dev/grapnel/internal/edge/cursor/cursortest"
	"github.com/grapnel-dev/grapnel/internal/edge/hookwire"
	"github.com/grapnel-dev/grapnel/internal/edge/protocol"
	"github.com/grapnel-dev/grapnel/internal/edge/protocol/protocoltest"
)

func suite() protocoltest.Suite {
	return protocoltest.Suite{Agent: cursor.New(), Payloads: []string{"testdata/written"}, Client: cursortest.Run, Golden: "testdata"}
}

func TestProtocol(t *testing.T) {
	t.Parallel()
	suite().Run(t)
}

func FuzzEvent(f *testing.F) { suite().Fuzz(f) }

func read(t *testing.T, event, stdin string) (hook.Event, error) {
	t.Helper()
	return cursor.New().Event(protocoltest.Call(cursor.New(), event, []byte(stdin)))
}

// TestNoOpinionIsSaid: an empty answer blocks.
func TestNoOpinionIsSaid(t *testing.T) {
	t.Parallel()
	agent := cursor.New()
	for _, e := range agent.Events {
		a := agent.Answer(e.Name, hook.Verdict{})
		assert.NotEmpty(t, a.Stdout, e.Name)
		assert.Equal(t, hookwire.Silent(hookwire.Cursor, e.Name), a.Response, "%s: the hook program alone says the same", e.Name)
		assert.Equal(t, hookwire.Silent(hookwire.Cursor, string(agent.Events[row(agent, e)].Canonical)), a.Response, "%s by its canonical name", e.Name)
		out := cursortest.Run(protocoltest.Situation{Event: e.Name, Approved: true}, protocoltest.Of(a.Response))
		assert.False(t, out.Granted, e.Name)
		assert.Equal(t, e.SilenceAsks, out.Blocked, "%s: blocked only where nobody is there to be asked", e.Name)
	}
	for _, event := range []string{"preToolUse", "beforeShellExecution", "beforeReadFile", "beforeSubmitPrompt", "subagentStart"} {
		assert.True(t, cursortest.Run(protocoltest.Situation{Event: event, Approved: true}, protocoltest.Process{}).Blocked, event)
	}
}

// row is where an event stands.
func row(a *protocol.Agent, e protocol.Event) int {
	for i := range a.Events {
		if a.Events[i].Name == e.Name {
			return i
		}
	}
	return -1
}

// TestThePersonsQuestionIsSkippedByGrantsAlone: nobody knows whether an allow
// on the last hook before Cursor's question skips it.
func TestThePersonsQuestionIsSkippedByGrantsAlone(t *testing.T) {
	t.Parallel()
	agent := cursor.New()
	for _, event := range []string{"beforeShellExecution", "beforeMCPExecution"} {
		capability, known := agent.Lookup(event)
		require.True(t, known)
		assert.True(t, capability.Unregistered, event)
		for _, v := range protocoltest.Verdicts() {
			a := agent.Answer(event, v.Verdict)
			grants := v.Grant && v.Effect == hook.Allow && len(v.Input) == 0
			assert.Equal(t, grants, strings.Contains(string(a.Stdout), `"permission":"allow"`), "%s, %s", event, v.Name)
		}
	}
	a := agent.Answer("preToolUse", hook.Verdict{Effect: hook.Ask, Reason: "really?"})
	assert.JSONEq(t, `{"permission":"deny","user_message":"really?","agent_message":"really?"}`, string(a.Stdout), "an ask is not enforced there")
	assert.Equal(t, 2, a.Exit)
}

func TestInputsOfMCPToolsAreTexts(t *testing.T) {
	t.Parallel()
	e, err := read(t, "beforeMCPExecution", `{"tool_name":"create_issue","tool_input":"{\"title\":\"bug\"}","url":"https://mcp.example.com"}`)
	require.NoError(t, err)
	assert.Equal(t, "MCP:create_issue", e.Data.Tool.Name, "as preToolUse calls it")
	assert.Equal(t, hook.KindMCP, e.Data.Tool.Kind)
	assert.JSONEq(t, `{"title":"bug"}`, string(e.Data.Tool.Input))
	for _, input := range []string{`"{\"title\":\"bug\",\"title\":\"other\"}"`, `"hello"`, `"[]"`, `""`, `null`} {
		_, err = read(t, "beforeMCPExecution", `{"tool_name":"create_issue","tool_input":`+input+`}`)
		assert.ErrorIs(t, err, protocol.ErrPayload, input)
	}
}

func TestEventsOfOneToolAreCallsOfIt(t *testing.T) {
	t.Parallel()
	e, err := read(t, "beforeShellExecution", `{"command":"ls \"<&>\"","cwd":"/w","sandbox":false,"workspace_roots":["/shop"]}`)
	require.NoError(t, err)
	assert.Equal(t, &hook.Tool{Name: "Shell", Kind: hook.KindShell, Input: []byte(`{"command":"ls \"<&>\"","working_directory":"/w"}`)}, e.Data.Tool)
	assert.Equal(t, "/w", e.Data.CWD)
	for _, payload := range []string{`{}`, `{"command":""}`, `{"command":["rm"]}`, `{"command":null}`} {
		_, err = read(t, "beforeShellExecution", payload)
		assert.ErrorIs(t, err, protocol.ErrPayload, payload)
	}
	e, err = read(t, "afterFileEdit", `{"file_path":"/w/a.go","edits":[{"old_string":"a","new_string":"b"}]}`)
	require.NoError(t, err)
	assert.Equal(t, hook.KindFileEdit, e.Data.Tool.Kind)
	assert.Equal(t, "/w/a.go", e.Data.Path)
}

func TestWholeFilesAreReadOrDenied(t *testing.T) {
	t.Parallel()
	payload := func(size int) string {
		return `{"file_path":"/w/big","content":"` + strings.Repeat("x", size) + `","workspace_roots":["/w"]}`
	}
	e, err := read(t, "beforeReadFile", payload(3<<20))
	require.NoError(t, err)
	assert.JSONEq(t, `{"file_path":"/w/big"}`, string(e.Data.Tool.Input), "the content is in the native payload alone")
	assert.Equal(t, "/w/big", e.Data.Path)
	assert.Greater(t, len(e.Data.Native.Payload), 3<<20)

	agent := cursor.New()
	for _, event := range []string{"beforeReadFile", "beforeTabFileRead"} {
		c := protocoltest.Call(agent, event, []byte(payload(protocol.MaxPayload)))
		_, err = agent.Event(c)
		require.ErrorIs(t, err, protocol.ErrPayload)
		out := cursortest.Run(protocoltest.Situation{Event: event, Approved: true}, protocoltest.Of(agent.Refuse(c, err).Response))
		assert.True(t, out.Blocked, event)
		assert.NotEmpty(t, out.ToUser, "%s: and says why", event)
	}
}

// TestWhereItHappened: a person's hooks run in ~/.cursor.
func TestWhereItHappened(t *testing.T) {
	t.Parallel()
	agent := cursor.New()
	c := protocoltest.Call(agent, "stop", []byte(`{"status":"completed","loop_count":0,"workspace_roots":["/shop","/other"]}`))
	e, err := agent.Event(c)
	require.NoError(t, err)
	assert.Equal(t, "/shop", e.Data.CWD)
	assert.Equal(t, "/shop", e.Data.Workspace)
	c.Stdin, c.Env = []byte(`{"status":"completed","workspace_roots":[]}`), []hookwire.Var{{Name: "CURSOR_PROJECT_DIR", Value: "/project"}}
	e, err = agent.Event(c)
	require.NoError(t, err)
	assert.Equal(t, "/project", e.Data.CWD)
	c.Env = nil
	e, err = agent.Event(c)
	require.NoError(t, err)
	assert.Equal(t, "/from/the/shim", e.Data.CWD)
}

func TestWhatStoppedIsTold(t *testing.T) {
	t.Parallel()
	for payload, name := range map[string]hook.Name{
		`{"status":"completed","loop_count":0}`: hook.Stop, `{"status":"aborted","loop_count":0}`: hook.Interrupt, `{"status":"error"}`: hook.StopFailure,
	} {
		e, err := read(t, "stop", payload)
		require.NoError(t, err)
		assert.Equal(t, name, e.Name, payload)
		assert.False(t, e.Data.StopActive)
	}
	e, err := read(t, "stop", `{"status":"completed","loop_count":2}`)
	require.NoError(t, err)
	assert.True(t, e.Data.StopActive, "a message of ours made it go on")
	e, err = read(t, "postToolUseFailure", `{"tool_name":"Shell","tool_input":{},"failure_type":"permission_denied","error_message":"no"}`)
	require.NoError(t, err)
	assert.Equal(t, hook.PermissionDenied, e.Name)
	assert.Equal(t, "no", e.Data.Error)
}

// TestAChangedInputTakesNothingOut: whether it is merged is not documented.
func TestAChangedInputTakesNothingOut(t *testing.T) {
	t.Parallel()
	agent := cursor.New()
	e, err := read(t, "preToolUse", `{"tool_name":"Shell","tool_input":{"command":"npm i","working_directory":"/w"},"tool_use_id":"t"}`)
	require.NoError(t, err)
	a := agent.AnswerTo(e, hook.Verdict{Input: []byte(`{"command":"npm ci","working_directory":"/w"}`)})
	assert.JSONEq(t, `{"permission":"allow","updated_input":{"command":"npm ci","working_directory":"/w"}}`, string(a.Stdout))
	a = agent.AnswerTo(e, hook.Verdict{Input: []byte(`{"command":"npm ci"}`)})
	assert.Equal(t, 2, a.Exit)
	assert.Contains(t, string(a.Stdout), `"permission":"deny"`)
}
