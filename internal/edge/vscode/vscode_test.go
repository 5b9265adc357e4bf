package vscode_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/grapnel-dev/grapnel/bus/hook"
	"github.com/grapnel-dev/grapnel/internal/edge/protocol/protocoltest"
	"github.com/grapnel-dev/grapnel/internal/edge/vscode"
	"github.com/grapnel-dev/grapnel/internal/edge/vscode/vscodetest"
)

func suite() protocoltest.Suite {
	return protocoltest.Suite{Agent: vscode.New(), Payloads: []string{"testdata/written"}, Client: vscodetest.Run, Golden: "testdata"}
}

func TestProtocol(t *testing.T) {
	t.Parallel()
	suite().Run(t)
}

func FuzzEvent(f *testing.F) { suite().Fuzz(f) }

func TestKeysAreReadInBothCases(t *testing.T) {
	t.Parallel()
	a := vscode.New()
	read := func(payload string) hook.Event {
		e, err := a.Event(protocoltest.Call(a, "PreToolUse", []byte(payload)))
		require.NoError(t, err)
		return e
	}
	common := `"tool_name":"run_in_terminal","tool_input":{"command":"ls"},"tool_use_id":"c1"}`
	camel := read(`{"hookEventName":"PreToolUse","sessionId":"s","cwd":"/w",` + common)
	snake := read(`{"hook_event_name":"PreToolUse","session_id":"s",` + common)
	assert.Equal(t, "s", camel.SessionID)
	assert.Equal(t, "s", snake.SessionID)
	assert.Equal(t, camel.ID, snake.ID, "the same call")
	assert.Equal(t, hook.KindShell, snake.Data.Tool.Kind)
	assert.Equal(t, "/from/the/shim", snake.Data.CWD)
	for _, payload := range []string{`{"hookEventName":"Stop",` + common, `{"hook_event_name":"Stop",` + common} {
		_, err := a.Event(protocoltest.Call(a, "PreToolUse", []byte(payload)))
		assert.Error(t, err, "%s", payload)
	}
}

// TestADenyNeedsNoJSON: with exit code 2 stdout is not read.
func TestADenyNeedsNoJSON(t *testing.T) {
	t.Parallel()
	a := vscode.New()
	for _, event := range []string{"PreToolUse", "UserPromptSubmit", "Stop", "SubagentStop"} {
		r := a.Answer(event, hook.Verdict{Effect: hook.Deny, Reason: "frozen"}).Response
		assert.Equal(t, 2, r.Exit, event)
		assert.Equal(t, "frozen\n", string(r.Stderr), event)
		r.Stdout = nil
		out := vscodetest.Run(protocoltest.Situation{Event: event, Approved: true}, protocoltest.Of(r))
		assert.True(t, out.Blocked || out.Continued, event)
	}
}

// TestAHaltIsSaidInJSON: which is read with exit code 0 alone.
func TestAHaltIsSaidInJSON(t *testing.T) {
	t.Parallel()
	r := vscode.New().Answer("PreToolUse", hook.Verdict{Effect: hook.Halt, Reason: "enough"})
	assert.Zero(t, r.Exit)
	assert.JSONEq(t, `{"continue":false,"stopReason":"enough","hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny",`+
		`"permissionDecisionReason":"enough"}}`, string(r.Stdout))
}

func TestNoChangedInputIsHandedOver(t *testing.T) {
	t.Parallel()
	a := vscode.New()
	for _, v := range protocoltest.Verdicts() {
		r := a.Answer("PreToolUse", v.Verdict)
		assert.NotContains(t, string(r.Stdout), "updatedInput", v.Name)
		if len(v.Input) > 0 {
			assert.Contains(t, string(r.Stdout), `"permissionDecision":"deny"`, v.Name)
		}
	}
}

func TestKindsOfTools(t *testing.T) {
	t.Parallel()
	for kind, tools := range map[hook.Kind]string{
		hook.KindShell: "run_in_terminal runTerminalCommand run_task", hook.KindFileRead: "read_file", hook.KindFileWrite: "create_file createFile",
		hook.KindFileEdit: "replace_string_in_file editFiles apply_patch", hook.KindSearch: "grep_search list_dir", hook.KindWeb: "fetch_webpage",
		hook.KindSubagent: "runSubagent", hook.KindMCP: "mcp_github_create_issue", hook.KindOther: "manage_todo_list",
	} {
		for tool := range strings.FieldsSeq(tools) {
			assert.Equal(t, kind, vscode.Kind(tool), tool)
		}
	}
}
