package edge_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/grapnel-dev/grapnel/bus/hook"
	"github.com/grapnel-dev/grapnel/internal/edge"
	"github.com/grapnel-dev/grapnel/internal/edge/copilot/copilottest"
	"github.com/grapnel-dev/grapnel/internal/edge/cursor/cursortest"
	"github.com/grapnel-dev/grapnel/internal/edge/hookwire"
	"github.com/grapnel-dev/grapnel/internal/edge/protocol/protocoltest"
	"github.com/grapnel-dev/grapnel/internal/edge/vscode/vscodetest"
)

// TestAgentsThatReadOthersSettings runs what stands in one agent's settings as
// others would, which read them as well.
func TestAgentsThatReadOthersSettings(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		registered, agent, files string
		client                   protocoltest.Client
	}{
		{hookwire.ClaudeCode, hookwire.Cursor, "cursor/testdata/written/preToolUse-*.json", cursortest.Run},
		{hookwire.ClaudeCode, hookwire.VSCode, "vscode/testdata/written/PreToolUse-*.json", vscodetest.Run},
		{hookwire.ClaudeCode, hookwire.Copilot, "copilot/testdata/recorded-pascal/P*e*.json", copilottest.Run},
		{hookwire.ClaudeCode, hookwire.Copilot, "copilot/testdata/written-pascal/PreToolUse-*.json", copilottest.Run},
		{hookwire.Copilot, hookwire.VSCode, "vscode/testdata/written/PreToolUse-*.json", vscodetest.Run},
		{hookwire.VSCode, hookwire.Copilot, "copilot/testdata/recorded-pascal/PreToolUse-*.json", copilottest.Run},
	} {
		names, err := filepath.Glob(c.files)
		require.NoError(t, err)
		require.NotEmpty(t, names, c.files)
		for _, name := range names {
			if strings.HasSuffix(name, ".out.json") || strings.Contains(name, "PostToolUse") {
				continue
			}
			stdin, err := os.ReadFile(name)
			require.NoError(t, err)
			event, _, _ := strings.Cut(filepath.Base(name), "-")
			registered := strings.ToUpper(event[:1]) + event[1:]
			if c.registered == hookwire.Copilot {
				registered = strings.ToLower(event[:1]) + event[1:]
			}
			var got hook.Event
			e := closing(t, edge.New(bus{request: func(_ context.Context, e hook.Event) (hook.Verdict, error) {
				got = e
				return hook.Verdict{EventID: e.ID, Effect: hook.Deny, Reason: "not here"}, nil
			}}, nil))
			r := e.Decide(t.Context(), hookwire.Request{Agent: c.registered, Event: registered, Stdin: stdin})
			assert.Equal(t, c.agent, got.Data.Native.Agent, name)
			assert.True(t, hookwire.Usable(c.registered, registered, r), "%s: the hook program passes it on: %s", name, show(r))
			out := c.client(protocoltest.Situation{Event: got.Data.Native.Event, Approved: true}, protocoltest.Of(r))
			assert.True(t, out.Blocked, "%s: %s", name, show(r))
		}
	}
}

func TestTheRegisteredAgentIsNoGuest(t *testing.T) {
	t.Parallel()
	for agent, files := range map[string]string{
		hookwire.ClaudeCode: "claudecode/testdata/recorded/*.json",
		hookwire.Copilot:    "copilot/testdata/recorded*/*.json",
		hookwire.VSCode:     "vscode/testdata/written/*.json",
	} {
		names, err := filepath.Glob(files)
		require.NoError(t, err)
		require.NotEmpty(t, names)
		for _, name := range names {
			if strings.HasSuffix(name, ".out.json") {
				continue
			}
			stdin, err := os.ReadFile(name)
			require.NoError(t, err)
			event, _, _ := strings.Cut(filepath.Base(name), "-")
			check := func(e hook.Event) { assert.Equal(t, agent, e.Data.Native.Agent, name) }
			e := closing(t, edge.New(bus{
				request: func(_ context.Context, e hook.Event) (hook.Verdict, error) {
					check(e)
					return hook.Verdict{EventID: e.ID}, nil
				},
				publish: func(_ context.Context, e hook.Event) (hook.Receipt, error) {
					check(e)
					return hook.Receipt{EventID: e.ID}, nil
				},
			}, nil))
			e.Decide(t.Context(), hookwire.Request{Agent: agent, Event: event, Stdin: stdin})
		}
	}
	// A text that only mentions the word is no field.
	e := closing(t, edge.New(says(hook.Verdict{Effect: hook.Deny, Reason: "no"}), nil))
	q := ask(t, "PreToolUse", map[string]any{"tool_input": map[string]any{"command": `echo '"timestamp"' "cursor_version"`}})
	mustDeny(t, "PreToolUse", e.Decide(t.Context(), q), "no")
}
