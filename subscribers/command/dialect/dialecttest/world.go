package dialecttest

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/grapnel-dev/grapnel/bus/hook"
	"github.com/grapnel-dev/grapnel/subscribers/command/dialect"
)

// World is a machine for one test: a home directory, a workspace whose name is
// as bad as names can be, and a directory of programs.
type World struct {
	// Home, Workspace and Bin are absolute paths. Bin stands first in the PATH
	// of hooks. Out is a directory for what hooks write.
	Home, Workspace, Bin, Out string

	t       testing.TB
	dialect *dialect.Dialect
}

// NewWorld makes one for a dialect.
func NewWorld(t testing.TB, d *dialect.Dialect) *World {
	t.Helper()
	base, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	w := &World{
		Home: filepath.Join(base, "home"), Bin: filepath.Join(base, "bin"), Out: filepath.Join(base, "out"),
		Workspace: filepath.Join(base, "w \"'`$(touch canary)` ;touch canary #&|*%s {{message}} \n$x é"),
		t:         t, dialect: d,
	}
	for _, dir := range []string{w.Home, w.Workspace, w.Bin, w.Out} {
		require.NoError(t, os.MkdirAll(dir, 0o700))
	}
	return w
}

// User writes a file below the home directory, Project one below the
// workspace.
func (w *World) User(file, text string) { w.t.Helper(); w.write(w.Home, file, text) }

// Project is as [World.User] for the workspace.
func (w *World) Project(file, text string) { w.t.Helper(); w.write(w.Workspace, file, text) }

func (w *World) write(base, file, text string) {
	w.t.Helper()
	file = filepath.Join(base, filepath.FromSlash(file))
	require.NoError(w.t, os.MkdirAll(filepath.Dir(file), 0o700))
	require.NoError(w.t, os.WriteFile(file, []byte(text), 0o600))
}

// Program makes a program for the hooks' PATH, of text for sh, and returns its
// path.
func (w *World) Program(name, text string) string {
	w.t.Helper()
	file := filepath.Join(w.Bin, name)
	require.NoError(w.t, os.WriteFile(file, []byte("#!/bin/sh\n"+text+"\n"), 0o700))
	return file
}

// Output reads what hooks wrote to a file of Out; "" where there is none.
func (w *World) Output(name string) string {
	text, err := os.ReadFile(filepath.Join(w.Out, name))
	if err != nil {
		return ""
	}
	return string(text)
}

// Set makes the dialect's hooks ready. Home, Environ and, where it has none,
// Runner of the options are set; hooks find Out in their environment.
func (w *World) Set(o *dialect.Options) *dialect.Set {
	w.t.Helper()
	if o == nil {
		o = new(dialect.Options)
	}
	made := *o
	made.Home = w.Home
	made.Environ = []string{"PATH=" + w.Bin + ":/usr/local/bin:/usr/bin:/bin", "HOME=" + w.Home, "LANG=C", "OUT=" + w.Out}
	made.Env = append([]string{"OUT"}, o.Env...)
	if made.Runner == nil {
		made.Runner = Runner(w.t)
	}
	s, err := dialect.NewSet(w.dialect, &made)
	require.NoError(w.t, err)
	w.t.Cleanup(func() { require.NoError(w.t, s.Close()) })
	return s
}

// Trusting is an option: the world's workspace is trusted.
func (w *World) Trusting() *dialect.Options {
	return &dialect.Options{TrustWorkspace: func(dir string) bool { return dir == w.Workspace }}
}

// Event is a tool call of some agent in the workspace.
func (w *World) Event(n hook.Name, tool string, kind hook.Kind, input any) hook.Event {
	w.t.Helper()
	raw, err := json.Marshal(input)
	require.NoError(w.t, err)
	return hook.Event{
		ID: "event-1", Source: "/host/agent", Name: n, Subject: tool, Time: time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC), SessionID: "session-1", CorrelationID: "turn-1",
		Data: hook.Data{
			CWD: w.Workspace, Workspace: w.Workspace, Tool: &hook.Tool{Name: tool, Kind: kind, Input: raw, CallID: "call-1"},
			Native: hook.Native{Agent: "some-agent", Event: "Some", Payload: json.RawMessage(`{}`)},
		},
	}
}

// Plain is an event without a tool.
func (w *World) Plain(n hook.Name) hook.Event {
	e := w.Event(n, "", "", nil)
	e.Data.Tool = nil
	return e
}
