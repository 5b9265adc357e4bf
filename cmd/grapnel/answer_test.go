//go:build unix

package main_test

import (
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/grapnel-dev/grapnel/internal/edge/claudecode/claudecodetest"
	"github.com/grapnel-dev/grapnel/internal/edge/protocol/protocoltest"
)

// ways are the two programs that an agent can start for a hook.
var ways = []string{"grapnel-hook", "grapnel hook"}

// hook runs one of the ways for an event of Claude Code.
func (s *site) hook(way, event, stdin string, flags ...string) result {
	s.t.Helper()
	name, first, _ := strings.Cut(way, " ")
	var args []string
	if first != "" {
		args = append(args, first)
	}
	return s.run(stdin, name, append(append(args, flags...), "claude-code", event)...)
}

// call is what Claude Code writes for a call of a tool.
func call(event, tool string, input any) string {
	b, err := json.Marshal(map[string]any{
		"session_id": "attack", "cwd": "/tmp", "permission_mode": "default", "hook_event_name": event,
		"tool_name": tool, "tool_input": input, "tool_use_id": "toolu_" + rand.Text(),
	})
	if err != nil {
		panic(err) // what the tests pass in marshals
	}
	return string(b)
}

func bash(command string) string {
	return call("PreToolUse", "Bash", map[string]string{"command": command})
}

// happened is the payload of an event that has no tool.
func happened(event string) string {
	return fmt.Sprintf(`{"session_id":"attack","cwd":"/tmp","hook_event_name":%q,"prompt":"hello","reason":"clear","source":"startup","stop_hook_active":false}`, event)
}

// told is what Claude Code makes of an answer.
func told(event string, r result) protocoltest.Outcome {
	return claudecodetest.Run(protocoltest.Situation{Event: event, Approved: true}, protocoltest.Process{Stdout: r.stdout, Stderr: r.stderr, Exit: r.exit})
}

// denied asserts that Claude Code does not do it and that somebody is told why.
func denied(t testing.TB, event string, r result, reasons ...string) {
	t.Helper()
	oneDocument(t, r)
	got := told(event, r)
	assert.True(t, got.Blocked, "blocked: %s", r)
	assert.False(t, got.Dropped, "understood: %s", r)
	why := strings.Join(append(got.ToModel, got.ToUser...), "\n")
	assert.NotEmpty(t, why, "%s", r)
	for _, reason := range reasons {
		assert.Contains(t, why, reason)
	}
}

// passed asserts that Claude Code goes on as if there were no hook.
func passed(t testing.TB, event string, r result) {
	t.Helper()
	oneDocument(t, r)
	assert.Zero(t, r.exit, "%s", r)
	got := told(event, r)
	assert.False(t, got.Blocked || got.Asked || got.Granted || got.Continued || got.SessionEnds || got.Dropped, "%+v: %s", got, r)
}

// oneDocument asserts that stdout is one JSON object and nothing else.
func oneDocument(t testing.TB, r result) {
	t.Helper()
	d := json.NewDecoder(strings.NewReader(r.stdout))
	var object map[string]any
	require.NoError(t, d.Decode(&object), "%s", r)
	assert.ErrorIs(t, d.Decode(&object), io.EOF, "%s", r)
	assert.Contains(t, []int{0, 2}, r.exit, "%s", r)
}

// records reads the audit log.
func (s *site) records(filter ...string) []record {
	s.t.Helper()
	out := s.grapnel(append([]string{"audit", "list", "--json", "-n", "0"}, filter...)...)
	d := json.NewDecoder(strings.NewReader(out))
	var all []record
	for {
		var r record
		err := d.Decode(&r)
		if errors.Is(err, io.EOF) {
			return all
		}
		require.NoError(s.t, err)
		all = append(all, r)
	}
}

// record is the part of one that tests look at.
type record struct {
	Index    int64  `json:"index"`
	Kind     string `json:"kind"`
	Event    string `json:"event"`
	EventID  string `json:"event_id"`
	Subject  string `json:"subject"`
	Session  string `json:"session"`
	Effect   string `json:"effect"`
	Deciders []struct {
		Name    string `json:"name"`
		Outcome string `json:"outcome"`
	} `json:"deciders"`
	Content struct {
		Note string `json:"note"`
	} `json:"content"`
}

// verified asserts that the audit log is whole.
func (s *site) verified() {
	s.t.Helper()
	r := s.run("", "grapnel", "audit", "verify")
	assert.Zero(s.t, r.exit, "%s", r)
}
