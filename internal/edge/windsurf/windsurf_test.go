package windsurf_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/grapnel-dev/grapnel/bus/hook"
	"github.com/grapnel-dev/grapnel/internal/edge/hookwire"
	"github.com/grapnel-dev/grapnel/internal/edge/protocol"
	"github.com/grapnel-dev/grapnel/internal/edge/protocol/protocoltest"
	"github.com/grapnel-dev/grapnel/internal/edge/windsurf"
	"github.com/grapnel-dev/grapnel/internal/edge/windsurf/windsurftest"
)

func suite() protocoltest.Suite {
	return protocoltest.Suite{
		Agent: windsurf.New(), Payloads: []string{"testdata/written"}, Client: windsurftest.Run, Golden: "testdata",
		Valid: func(_ protocol.Event, r hookwire.Response) error {
			if len(r.Stdout) > 0 {
				return errors.New("stdout is never read")
			}
			return nil
		},
	}
}

func TestProtocol(t *testing.T) {
	t.Parallel()
	suite().Run(t)
}

func FuzzEvent(f *testing.F) { suite().Fuzz(f) }

func read(t *testing.T, event, stdin string) (hook.Event, error) {
	t.Helper()
	return windsurf.New().Event(protocoltest.Call(windsurf.New(), event, []byte(stdin)))
}

func TestTools(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		event, info, name, input, path string
		kind                           hook.Kind
	}{
		{"pre_run_command", `{"command_line":"ls","cwd":"/w"}`, "run_command", `{"command_line":"ls","cwd":"/w"}`, "", hook.KindShell},
		{"pre_read_code", `{"file_path":"/w/.env"}`, "read_code", `{"file_path":"/w/.env"}`, "/w/.env", hook.KindFileRead},
		{"post_write_code", `{"file_path":"/w/a.go","edits":[]}`, "write_code", `{"file_path":"/w/a.go","edits":[]}`, "/w/a.go", hook.KindFileEdit},
		{"pre_mcp_tool_use", `{"mcp_server_name":"git","mcp_tool_name":"push","mcp_tool_arguments":{"force":true}}`, "mcp__git__push", `{"force":true}`, "", hook.KindMCP},
		{"pre_mcp_tool_use", `{"mcp_server_name":"git","mcp_tool_name":"pull"}`, "mcp__git__pull", `{}`, "", hook.KindMCP},
	} {
		e, err := read(t, c.event, `{"agent_action_name":"`+c.event+`","tool_info":`+c.info+`}`)
		require.NoError(t, err, c.event)
		assert.Equal(t, hook.Tool{Name: c.name, Kind: c.kind, Input: []byte(c.input)}, *e.Data.Tool)
		assert.Equal(t, c.path, e.Data.Path)
		assert.Equal(t, c.name, e.Subject)
	}
}

// A gate that does not say what it is about is closed.
func TestGatesWithoutTheirSubject(t *testing.T) {
	t.Parallel()
	for event, info := range map[string]string{
		"pre_run_command":  `{"cwd":"/w"}`,
		"pre_read_code":    `{"file_path":""}`,
		"pre_write_code":   `{"file_path":7}`,
		"pre_mcp_tool_use": `{"mcp_tool_name":"push"}`,
		"pre_user_prompt":  `{}`,
		"pre_delete_code":  `{"file_path":"/w/a"}`, // of a later version
	} {
		for _, stdin := range []string{`{"tool_info":` + info + `}`, `{"tool_info":"x"}`} {
			_, err := read(t, event, stdin)
			require.ErrorIs(t, err, protocol.ErrPayload, "%s: %s", event, stdin)
			r := windsurf.New().Refuse(protocoltest.Call(windsurf.New(), event, []byte(stdin)), err)
			assert.Equal(t, 2, r.Exit, event)
			assert.Empty(t, r.Stdout, event)
			assert.Contains(t, string(r.Stderr), "grapnel refused this", event)
		}
	}
}

// Two calls of one turn are two events, unless nothing tells them apart.
func TestCallsOfOneTurn(t *testing.T) {
	t.Parallel()
	const first = `{"trajectory_id":"t","execution_id":"e","timestamp":"2026-11-20T08:00:00Z","tool_info":{"command_line":"make"}}`
	ids := map[string]bool{}
	for _, stdin := range []string{first, first, strings.Replace(first, "08:00:00", "08:00:09", 1), strings.Replace(first, "make", "make all", 1)} {
		e, err := read(t, "pre_run_command", stdin)
		require.NoError(t, err)
		assert.Equal(t, "t", e.SessionID)
		assert.Equal(t, "e", e.CorrelationID)
		ids[e.ID] = true
	}
	assert.Len(t, ids, 3)
}
