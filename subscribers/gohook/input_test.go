package gohook_test

import (
	"context"
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/grapnel-dev/grapnel/subscribers/gohook"
)

func TestB3Constructors(t *testing.T) {
	t.Parallel()
	before := time.Now()
	want := map[gohook.Event]gohook.Data{
		gohook.PreToolUse:         gohook.PreToolUseData{ToolName: "Bash", ToolInput: json.RawMessage(`{"command":"ls"}`)},
		gohook.PostToolUse:        gohook.PostToolUseData{ToolName: "Bash", ToolResult: json.RawMessage(`"done"`)},
		gohook.PostToolUseFailure: gohook.PostToolUseFailureData{ToolName: "Bash", Error: "exit 1"},
		gohook.UserPromptSubmit:   gohook.UserPromptSubmitData{Prompt: "hello"},
		gohook.Stop:               gohook.StopData{},
		gohook.SubagentStart:      gohook.SubagentStartData{SubagentID: "a1", SubagentType: "explore", Description: "look around"},
		gohook.SubagentStop:       gohook.SubagentStopData{SubagentID: "a1", Error: "lost"},
		gohook.PreCompact:         gohook.PreCompactData{},
		gohook.SessionStart:       gohook.SessionStartData{},
		gohook.SessionEnd:         gohook.SessionEndData{},
	}
	made := inputs()
	require.Len(t, made, 10)
	for e, in := range made {
		assert.Equal(t, want[e], in.Data, "data of %s", e)
		assert.Equal(t, e, in.Event())
		assert.Equal(t, "s", in.SessionID)
		assert.WithinRange(t, in.Timestamp, before, time.Now())
		assert.Equal(t, time.UTC, in.Timestamp.Location())
		assert.Nil(t, in.Metadata)
	}
}

func TestB3Accessors(t *testing.T) {
	t.Parallel()
	for e, in := range inputs() {
		tool, hasTool := in.ToolName()
		agent, hasAgent := in.SubagentID()
		input, hasInput := in.ToolInput()
		switch e {
		case gohook.PreToolUse, gohook.PostToolUse, gohook.PostToolUseFailure:
			assert.True(t, hasTool, "%s has a tool", e)
			assert.Equal(t, "Bash", tool)
		default:
			assert.False(t, hasTool, "%s has a tool", e)
			assert.Empty(t, tool)
		}
		switch e {
		case gohook.SubagentStart, gohook.SubagentStop:
			assert.True(t, hasAgent, "%s has a sub-agent", e)
			assert.Equal(t, "a1", agent)
		default:
			assert.False(t, hasAgent, "%s has a sub-agent", e)
			assert.Empty(t, agent)
		}
		assert.Equal(t, e == gohook.PreToolUse, hasInput, "%s has a tool input", e)
		assert.Equal(t, hasInput, input != nil)
	}
	var none gohook.Input
	assert.Empty(t, none.Event())
}

// TestB3ToolInputIsReadStrictly has the hook read the key that the tool reads.
func TestB3ToolInputIsReadStrictly(t *testing.T) {
	t.Parallel()
	read := func(input string) (string, error) {
		var v struct {
			Command string `json:"command"`
		}
		err := gohook.NewPreToolUse("s", "Bash", json.RawMessage(input)).DecodeToolInput(&v)
		return v.Command, err
	}
	for input, want := range map[string]string{
		`{"command":"rm -rf /"}`:                               "rm -rf /",
		`{"command":"rm -rf /","COMMAND":"ls","Command":"ls"}`: "rm -rf /",
		"{\"command\":\"rm\",\"ſ\":1,\"timeout\":3}":           "rm",
		`{}`: "",
	} {
		got, err := read(input)
		require.NoError(t, err, "%s", input)
		assert.Equal(t, want, got, "%s", input)
	}
	for _, bad := range []string{
		``, `{`, `[]`, `"ls"`, `{"command":"ls","command":"rm"}`, `{"command":1}`, `{"command":"ls"} {}`, "{\"command\":\"\xff\"}",
	} {
		_, err := read(bad)
		assert.ErrorIs(t, err, gohook.ErrInput, "%s", bad)
	}
	var v struct{}
	assert.ErrorIs(t, gohook.NewStop("s").DecodeToolInput(&v), gohook.ErrInput)
}

// TestB3InputsThatAreNone block, and reach no hook.
func TestB3InputsThatAreNone(t *testing.T) {
	t.Parallel()
	m := manager(t, gohook.NewFunc(gohook.Spec{Name: "all", Events: gohook.Events()}, says(gohook.Allow())))
	for _, in := range []gohook.Input{{}, {Data: (*gohook.PreToolUseData)(nil)}, {Data: &gohook.PreToolUseData{ToolName: "Bash"}}} {
		out, err := m.Execute(context.Background(), in, nil)
		assert.ErrorIs(t, err, gohook.ErrInput, "%T", in.Data)
		assert.False(t, out.ContinueExecution, "%T", in.Data)
		out, err = gohook.NewFirer(m, "s", nil).Fire(context.Background(), in)
		assert.ErrorIs(t, err, gohook.ErrInput, "%T", in.Data)
		assert.False(t, out.ContinueExecution, "%T", in.Data)
	}
}
