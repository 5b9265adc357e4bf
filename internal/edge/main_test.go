package edge_test

import (
	"context"
	"encoding/json"
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/grapnel-dev/grapnel/bus/hook"
	"github.com/grapnel-dev/grapnel/internal/edge"
	"github.com/grapnel-dev/grapnel/internal/edge/claudecode/claudecodetest"
	"github.com/grapnel-dev/grapnel/internal/edge/hookwire"
	"github.com/grapnel-dev/grapnel/internal/edge/protocol/protocoltest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// bus is a Bus of two functions; a nil one fails the test when it is called.
type bus struct {
	request func(context.Context, hook.Event) (hook.Verdict, error)
	publish func(context.Context, hook.Event) (hook.Receipt, error)
}

func (b bus) Request(ctx context.Context, e hook.Event) (hook.Verdict, error) {
	if b.request == nil {
		panic("a request for " + string(e.Name))
	}
	return b.request(ctx, e)
}

func (b bus) Publish(ctx context.Context, e hook.Event) (hook.Receipt, error) {
	if b.publish == nil {
		panic("a notification of " + string(e.Name))
	}
	return b.publish(ctx, e)
}

// says is a bus that gives every blocking event the same verdict.
func says(v hook.Verdict) bus {
	return bus{request: func(_ context.Context, e hook.Event) (hook.Verdict, error) {
		v := v
		v.EventID = e.ID
		return v, nil
	}}
}

// ask is a request of Claude Code's for one event.
func ask(t testing.TB, event string, members map[string]any) hookwire.Request {
	t.Helper()
	payload := map[string]any{"session_id": "s1", "hook_event_name": event, "cwd": "/home/dev/shop"}
	if event == "PreToolUse" || event == "PermissionRequest" || event == "PostToolUse" {
		payload["tool_name"], payload["tool_input"], payload["tool_use_id"] = "Bash", map[string]any{"command": "ls"}, "t1"
	}
	for k, v := range members {
		payload[k] = v
	}
	stdin, err := json.Marshal(payload)
	require.NoError(t, err)
	return hookwire.Request{Agent: "claude-code", Event: event, CWD: "/home/dev/shop", Stdin: append(stdin, '\n')}
}

// runs reports what Claude Code does with an answer.
func runs(event string, r hookwire.Response) protocoltest.Outcome {
	return claudecodetest.Run(protocoltest.Situation{Event: event, Approved: true},
		protocoltest.Process{Stdout: string(r.Stdout), Stderr: string(r.Stderr), Exit: r.Exit})
}

// mustPass asserts that an answer lets the agent go on and says nothing.
func mustPass(t testing.TB, r hookwire.Response, note string) {
	t.Helper()
	assert.Equal(t, 0, r.Exit, note)
	assert.Equal(t, "{}\n", string(r.Stdout), note)
}

// mustDeny asserts that an answer blocks a tool, with a reason.
func mustDeny(t testing.TB, event string, r hookwire.Response, reason string) {
	t.Helper()
	assert.True(t, runs(event, r).Blocked, "blocked; got %s", show(r))
	assert.Contains(t, string(r.Stdout)+string(r.Stderr), reason)
}

func show(r hookwire.Response) string {
	return fmt.Sprintf("exit %d, stdout %q, stderr %q", r.Exit, r.Stdout, r.Stderr)
}

func closing(t testing.TB, e *edge.Edge) *edge.Edge {
	t.Cleanup(e.Close)
	return e
}
