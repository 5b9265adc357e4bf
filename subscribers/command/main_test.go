package command_test

import (
	"encoding/json"
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/grapnel-dev/grapnel/bus/hook"
	"github.com/grapnel-dev/grapnel/runner/process"
	"github.com/grapnel-dev/grapnel/subscribers/command"
)

// TestMain makes the test binary a supervisor, as the real one is.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == "supervise" {
		if err := process.Supervise(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	goleak.VerifyTestMain(m)
}

func runner(t testing.TB) *process.Runner {
	t.Helper()
	r := process.New(&process.Options{Supervisor: []string{"/proc/self/exe", "supervise"}, Limit: 8})
	t.Cleanup(func() { require.NoError(t, r.Close()) })
	return r
}

func ready(t testing.TB, h command.Hook, o *command.Options) *command.Command {
	t.Helper()
	if o == nil {
		o = new(command.Options)
	}
	if o.Runner == nil {
		o.Runner = runner(t)
	}
	if h.Name == "" {
		h.Name = "tested"
	}
	if len(h.On) == 0 {
		h.On = []string{"pre_tool_use"}
	}
	c, err := command.New(h, o)
	require.NoError(t, err)
	return c
}

func event(t testing.TB) hook.Event {
	t.Helper()
	return hook.Event{
		ID: "event-1", Source: "/host/claude-code", Name: hook.PreToolUse, Subject: "Bash",
		Time: time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC), SessionID: "session-1", CorrelationID: "turn-1", Hops: 1,
		Data: hook.Data{
			CWD: t.TempDir(),
			Tool: &hook.Tool{
				Name: "Bash", Kind: hook.KindShell, CallID: "call-1",
				Input: json.RawMessage(`{"command":"ls -l","deep":{"list":[1, 2],"empty":"","none":null},"n":1.50}`),
			},
			Native: hook.Native{Agent: "claude-code", Event: "PreToolUse", Payload: json.RawMessage(`{"tool_name":"Bash"}`)},
		},
	}
}
