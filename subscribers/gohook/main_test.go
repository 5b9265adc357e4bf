package gohook_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/grapnel-dev/grapnel/subscribers/gohook"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

type execute = func(context.Context, gohook.Input, *gohook.Context) (gohook.Output, error)

// says is a hook function that always says the same.
func says(o gohook.Output) execute {
	return func(context.Context, gohook.Input, *gohook.Context) (gohook.Output, error) { return o, nil }
}

func manager(t testing.TB, hooks ...gohook.Hook) *gohook.Manager {
	t.Helper()
	m := gohook.NewManager(nil)
	require.NoError(t, m.Register(hooks...))
	return m
}

// preToolUse is a spec for PreToolUse alone.
func preToolUse(name string) gohook.Spec {
	return gohook.Spec{Name: name, Events: []gohook.Event{gohook.PreToolUse}}
}

// bash is a Bash call about to run.
func bash(t testing.TB, command string) gohook.Input {
	t.Helper()
	input, err := json.Marshal(map[string]string{"command": command})
	require.NoError(t, err)
	return gohook.NewPreToolUse("session-1", "Bash", input)
}

// inputs are one of each, by event.
func inputs() map[gohook.Event]gohook.Input {
	return map[gohook.Event]gohook.Input{
		gohook.PreToolUse:         gohook.NewPreToolUse("s", "Bash", json.RawMessage(`{"command":"ls"}`)),
		gohook.PostToolUse:        gohook.NewPostToolUse("s", "Bash", json.RawMessage(`"done"`)),
		gohook.PostToolUseFailure: gohook.NewPostToolUseFailure("s", "Bash", "exit 1"),
		gohook.UserPromptSubmit:   gohook.NewUserPromptSubmit("s", "hello"),
		gohook.Stop:               gohook.NewStop("s"),
		gohook.SubagentStart:      gohook.NewSubagentStart("s", "a1", "explore", "look around"),
		gohook.SubagentStop:       gohook.NewSubagentStop("s", "a1", false, "lost"),
		gohook.PreCompact:         gohook.NewPreCompact("s"),
		gohook.SessionStart:       gohook.NewSessionStart("s"),
		gohook.SessionEnd:         gohook.NewSessionEnd("s"),
	}
}

// journal is what hooks have written down, in order.
type journal struct {
	mu    sync.Mutex
	lines []string
}

func (j *journal) add(format string, args ...any) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.lines = append(j.lines, fmt.Sprintf(format, args...))
}

func (j *journal) String() string {
	j.mu.Lock()
	defer j.mu.Unlock()
	return strings.Join(j.lines, " ")
}

// notes is a hook function that writes its name down and allows.
func (j *journal) notes(name string) execute {
	return func(context.Context, gohook.Input, *gohook.Context) (gohook.Output, error) {
		j.add("%s", name)
		return gohook.Allow(), nil
	}
}

// logs is a place for a slog handler to write to.
type logs struct {
	mu sync.Mutex
	b  strings.Builder
}

func (l *logs) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *logs) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}
