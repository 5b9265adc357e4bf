package protocoltest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/grapnel-dev/grapnel/bus/cloudevent"
	"github.com/grapnel-dev/grapnel/bus/hook"
	"github.com/grapnel-dev/grapnel/internal/edge/hookwire"
	"github.com/grapnel-dev/grapnel/internal/edge/protocol"
)

// Suite is an agent's protocol and what is known of the agent.
type Suite struct {
	Agent *protocol.Agent
	// Payloads are directories with what the agent sends, a file for each:
	// EVENT.json, EVENT-1.json, EVENT-1-label.json. Files that end in .out.json,
	// .out.txt or .env.json are something else.
	Payloads []string
	Client   Client
	// Plain are events on which the agent hands what a hook prints to the
	// model as it stands, so that an answer with exit code 0 need not be JSON.
	Plain map[string]bool
	// Valid says what is wrong with an answer by the agent's documentation:
	// keys that the event does not have, wrong types, missing ones.
	Valid func(event protocol.Event, r hookwire.Response) error
	// Golden is the directory of the snapshots events.golden and answers.golden;
	// with UPDATE_GOLDEN=1 in the environment they are written.
	Golden string
}

// Run runs everything.
func (s Suite) Run(t *testing.T) {
	t.Helper()
	t.Run("table", s.table)
	t.Run("payloads", s.payloads)
	t.Run("answers", s.answers)
	t.Run("failures", s.failures)
}

// Call is a call as it reaches the edge.
func Call(a *protocol.Agent, event string, stdin []byte) protocol.Call {
	return protocol.Call{
		Event: event, Stdin: stdin, Source: "/laptop/" + a.Name, Now: time.Date(2026, 11, 21, 9, 0, 0, 0, time.UTC), CWD: "/from/the/shim",
	}
}

// table holds the agent's rows against the classes that the hook program
// knows, and against themselves.
func (s Suite) table(t *testing.T) {
	t.Parallel()
	classes := map[hookwire.Class]hook.Class{hookwire.Gate: hook.Gate, hookwire.Lifecycle: hook.Lifecycle, hookwire.Notification: hook.Notify}
	seen := map[string]bool{}
	for _, e := range s.Agent.Events {
		for _, name := range append([]string{e.Name}, e.Aliases...) {
			assert.False(t, seen[name], "%s stands twice", name)
			seen[name] = true
			assert.Equal(t, e.Canonical.Class(), classes[hookwire.ClassOf(name)], "%s: the hook program sorts it otherwise", name)
		}
		assert.True(t, e.Canonical.Known(), "%s: %s is no canonical event", e.Name, e.Canonical)
		assert.NotZero(t, e.Evidence, "%s: how is it known?", e.Name)
		if e.Unregistered {
			assert.NotEmpty(t, e.Note, "%s: why is it not registered?", e.Name)
		}
		if e.Canonical.Class() == hook.Gate && !e.Block {
			assert.NotEmpty(t, e.Note, "%s: a gate that cannot block needs a word", e.Name)
		}
		assert.False(t, e.Grant && !e.Block, "%s: grants and does not block", e.Name)
	}
	m := s.Agent.Manner
	assert.True(t, m.Order != "" && m.Failure != "" && m.Unit != "" && m.Evidence != "", "how does it run hooks? %+v", m)
	assert.Len(t, s.Agent.Capabilities(), len(s.Agent.Events))
}

// payloads reads every payload.
func (s Suite) payloads(t *testing.T) {
	t.Parallel()
	var golden strings.Builder
	read := 0
	for _, dir := range s.Payloads {
		names, err := filepath.Glob(filepath.Join(dir, "*.json"))
		require.NoError(t, err)
		require.NotEmpty(t, names, dir)
		for _, name := range names {
			base := filepath.Base(name)
			if strings.HasSuffix(base, ".out.json") || strings.HasSuffix(base, ".env.json") {
				continue
			}
			event, _, _ := strings.Cut(strings.TrimSuffix(base, ".json"), "-")
			text, err := os.ReadFile(name)
			require.NoError(t, err)
			row, known := s.Agent.Lookup(event)
			require.True(t, known, "%s: %s has no event %s", base, s.Agent.Name, event)
			e, err := s.Agent.Event(Call(s.Agent, event, text))
			if !assert.NoError(t, err, base) {
				continue
			}
			read++
			assert.Equal(t, string(bytes.TrimSpace(text)), string(e.Data.Native.Payload), "%s: not a byte is lost", base)
			assert.Equal(t, s.Agent.Name, e.Data.Native.Agent, base)
			assert.Equal(t, row.Name, e.Data.Native.Event, base)
			encoded, err := cloudevent.Marshal(e)
			require.NoError(t, err, base)
			back, err := cloudevent.Unmarshal(encoded)
			require.NoError(t, err, base)
			assert.Equal(t, e.Data.Tool, back.Data.Tool, base)
			again, err := s.Agent.Event(Call(s.Agent, event, text))
			require.NoError(t, err, base)
			told := e.Data.Tool != nil && e.Data.Tool.CallID != "" || s.timed(text)
			assert.Equal(t, told, e.ID == again.ID, "%s: the same call has the same id, where the payload tells calls apart", base)
			e.Data.Native.Payload = nil
			summary, err := json.Marshal(struct {
				Name               hook.Name
				Subject            string `json:",omitempty"`
				Session, Turn      string `json:",omitempty"`
				Cause, TraceParent string `json:",omitempty"`
				Data               hook.Data
			}{e.Name, e.Subject, e.SessionID, e.CorrelationID, e.CausationID, e.TraceParent, e.Data})
			require.NoError(t, err)
			fmt.Fprintf(&golden, "%s/%s\n  %s\n", filepath.Base(dir), base, summary)
		}
	}
	assert.Positive(t, read)
	s.snapshot(t, "events.golden", golden.String())
}

// timed reports whether the payload says when.
func (s Suite) timed(text []byte) bool {
	f, _, err := protocol.Parse(text, protocol.MaxWhole)
	return err == nil && f.Raw(s.Agent.Keys.Time...) != nil
}

func (s Suite) snapshot(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join(s.Golden, name)
	if os.Getenv("UPDATE_GOLDEN") != "" {
		require.NoError(t, os.WriteFile(path, []byte(got), 0o644))
	}
	want, err := os.ReadFile(path)
	require.NoError(t, err, "write it with UPDATE_GOLDEN=1")
	assert.Equal(t, string(want), got, "%s: look at the difference, then write it with UPDATE_GOLDEN=1", name)
}
