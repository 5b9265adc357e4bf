package claudecode_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/grapnel-dev/grapnel/bus/hook"
	edge "github.com/grapnel-dev/grapnel/internal/edge/claudecode"
	"github.com/grapnel-dev/grapnel/internal/edge/protocol"
	"github.com/grapnel-dev/grapnel/subscribers/command/claudecode"
	"github.com/grapnel-dev/grapnel/subscribers/command/dialect"
)

// recorded are inputs that Claude Code wrote, and those of its documentation.
func recorded(t *testing.T) map[string][]byte {
	t.Helper()
	inputs := make(map[string][]byte)
	for _, dir := range []string{"recorded", "written"} {
		files, err := filepath.Glob("../../../internal/edge/claudecode/testdata/" + dir + "/*.json")
		require.NoError(t, err)
		for _, f := range files {
			if strings.HasSuffix(f, ".out.json") {
				continue
			}
			text, err := os.ReadFile(f)
			require.NoError(t, err)
			inputs[f] = text
		}
	}
	require.Greater(t, len(inputs), 50)
	return inputs
}

// eventOf makes an event of an input, as the edge does.
func eventOf(t *testing.T, text []byte) hook.Event {
	t.Helper()
	var p struct {
		Event string `json:"hook_event_name"`
	}
	require.NoError(t, json.Unmarshal(text, &p))
	e, err := edge.Event(protocol.Call{Event: p.Event, Stdin: text})
	require.NoError(t, err)
	return e
}

func feedFor(t *testing.T, e hook.Event) dialect.Feed {
	t.Helper()
	d := claudecode.New()
	c, ok := d.Call(e)
	require.True(t, ok, e.Name)
	f, err := d.Feed(dialect.Hook{Shell: "true"}, c)
	require.NoError(t, err)
	return f
}

func TestClaudeCodesOwnInputIsPassedOnByteForByte(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for name, text := range recorded(t) {
		e := eventOf(t, text)
		c, ok := claudecode.New().Call(e)
		require.True(t, ok, name)
		assert.Equal(t, e.Data.Native.Event, c.Name, "the same name comes back")
		seen[c.Name] = true
		assert.Equal(t, strings.TrimSpace(string(text))+"\n", string(feedFor(t, e).Stdin), name)
	}
	assert.Len(t, seen, 33)
	assert.ElementsMatch(t, claudecode.New().Vocabulary.Names(), keys(seen))
}

func keys(m map[string]bool) []string {
	var list []string
	for k := range m {
		list = append(list, k)
	}
	return list
}

// TestTheInputThatWillRunIsShown: what another decider has changed is what this
// hook decides on.
func TestTheInputThatWillRunIsShown(t *testing.T) {
	t.Parallel()
	const before = `{"session_id":"s","hook_event_name":"PreToolUse", "tool_name":"Bash", "more":{"tool_input":1}, "tool_input": {"command":"ls"} ,"tool_use_id":"t"}`
	e := eventOf(t, []byte(before))
	changed := *e.Data.Tool
	changed.Input = json.RawMessage(`{"command":"rm -rf /"}`)
	e.Data.Tool = &changed
	assert.Equal(t, strings.Replace(before, `{"command":"ls"}`, `{"command":"rm -rf /"}`, 1)+"\n", string(feedFor(t, e).Stdin))

	// A payload about something else is not shown at all.
	changed.Name = "Write"
	var in map[string]any
	require.NoError(t, json.Unmarshal(feedFor(t, e).Stdin, &in))
	assert.Equal(t, "Write", in["tool_name"])
	assert.Equal(t, map[string]any{"command": "rm -rf /"}, in["tool_input"])
	assert.NotContains(t, in, "more")
}

// TestOtherAgentsEventsLookLikeClaudeCodes: the input that is put together has
// the fields that Claude Code's own has, of the same types.
func TestOtherAgentsEventsLookLikeClaudeCodes(t *testing.T) {
	t.Parallel()
	// What only Claude Code knows, by event; and what not every input has.
	unknown := map[string][]string{
		"SessionStart": {"agent_type", "session_title", "seconds_since_last_response", "context_tokens", "prompt_cache_likely_expired", "estimated_cache_write_usd"},
		"Stop":         {"background_tasks", "session_crons"}, "SubagentStop": {"agent_transcript_path", "background_tasks", "session_crons"},
		"UserPromptExpansion": {"command_args", "command_source"}, "PermissionRequest": {"permission_suggestions", "mcp_server"},
		"PostToolUseFailure": {"is_interrupt"}, "CwdChanged": {"old_cwd"}, "InstructionsLoaded": {"memory_type", "globs", "parent_file_path", "trigger_file_path"},
		"PreModelSwitch":  {"from_model", "requested_model", "context_tokens", "prompt_cache_warm", "cache_ttl", "estimated_cache_write_usd", "pricing", "permission_mode"},
		"PostModelSwitch": {"from_model", "requested_model", "context_tokens", "prompt_cache_warm", "cache_ttl", "estimated_cache_write_usd", "pricing", "permission_mode"},
		"Elicitation":     {"mode", "requested_schema"}, "ElicitationResult": {"mode", "content", "elicitation_id"}, "Notification": {"title"},
		"TaskCreated": {"task_description", "teammate_name", "team_name"}, "TaskCompleted": {"task_description", "teammate_name", "team_name"},
		"TeammateIdle": {"team_name"}, "PreToolUse": {"mcp_server"}, "PostToolUse": {"mcp_server"},
	}
	for name, text := range recorded(t) {
		e := eventOf(t, text)
		e.Data.Native.Agent = "somebody"
		var want, got map[string]any
		require.NoError(t, json.Unmarshal(text, &want))
		require.NoError(t, json.Unmarshal(feedFor(t, e).Stdin, &got), name)
		event := want["hook_event_name"].(string)
		for _, key := range append([]string{"effort", "scratchpad_dir", "prompt_id"}, unknown[event]...) {
			delete(want, key)
		}
		for key, value := range want {
			if value == nil {
				continue
			}
			if assert.Contains(t, got, key, name) {
				assert.IsType(t, value, got[key], "%s: %s", name, key)
			}
		}
		if want["permission_mode"] == nil {
			delete(got, "permission_mode")
		}
		for _, key := range []string{"session_id", "tool_name", "tool_input", "tool_response", "tool_use_id", "prompt", "source", "trigger", "last_assistant_message", "cwd", "transcript_path", "agent_type", "error"} {
			if want[key] != nil {
				assert.Equal(t, want[key], got[key], "%s: %s", name, key)
			}
		}
	}
}

func TestTheEnvironment(t *testing.T) {
	t.Parallel()
	m := newMachine(t)
	m.command("PreToolUse", `printf '%s|%s|%s' "$CLAUDE_PROJECT_DIR" "$CLAUDE_EFFORT" "${CLAUDE_PLUGIN_ROOT-none}" > seen; read -r line && test -n "$line" && echo whole > line`)
	m.decide(m.shell("ls"))
	assert.Equal(t, m.dir+"||none", m.read("seen"))
	assert.Equal(t, "whole\n", m.read("line"), "standard input ends with a newline")

	f := feedFor(t, claude(m.shell("ls"), "PreToolUse", `{"hook_event_name":"PreToolUse","effort":{"level":"high"}}`))
	assert.Contains(t, f.Env, "CLAUDE_EFFORT=high")

	d := claudecode.New()
	c, _ := d.Call(hook.Event{Name: hook.Stop})
	_, err := d.Feed(dialect.Hook{Command: []string{"${CLAUDE_PROJECT_DIR}/x"}}, c)
	assert.ErrorIs(t, err, dialect.ErrFeed, "no workspace is no path")
}

// TestValuesAreNoSyntax: nothing of an event stands in shell text.
func TestValuesAreNoSyntax(t *testing.T) {
	t.Parallel()
	m := newMachine(t)
	m.command("PreToolUse", `cat > input; echo "$CLAUDE_PROJECT_DIR" > dir`)
	s := m.loaded()
	for _, value := range []string{"$(touch pwned)", "`touch pwned`", "'; touch pwned; '", "\"; touch pwned; \"", "\n touch pwned\n", "-rf", "%s{{tool_name}}"} {
		e := m.shell(value)
		e.SessionID, e.CorrelationID = value, value
		_, err := s.Decide(t.Context(), e)
		require.NoError(t, err)
		var in map[string]any
		require.NoError(t, json.Unmarshal([]byte(m.read("input")), &in))
		assert.Equal(t, value, in["session_id"])
		assert.Equal(t, map[string]any{"command": value}, in["tool_input"])
		assert.Empty(t, m.read("pwned"))
	}
}
