package trust_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/grapnel-dev/grapnel/runner/process"
	"github.com/grapnel-dev/grapnel/runner/trust"
)

const searchPath = "/usr/local/bin:/usr/bin:/bin"

func anyTime() time.Time { return time.Date(2026, 11, 21, 10, 0, 0, 0, time.UTC) }

// world is a workspace, and what runs its hooks.
type world struct {
	t     testing.TB
	dir   string // the workspace
	gauge *trust.Gauge
	store *trust.Store
	run   *process.Runner
}

func newWorld(t testing.TB) *world {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	w := &world{t: t, dir: filepath.Join(dir, "work space")}
	require.NoError(t, os.Mkdir(w.dir, 0o755))
	w.gauge = trust.NewGauge(&trust.Options{Dir: filepath.Join(dir, "pins")})
	w.store, err = trust.Open(filepath.Join(dir, "state", "approvals.json"))
	require.NoError(t, err)
	w.run = process.New(&process.Options{Supervisor: []string{"/proc/self/exe", "supervise"}})
	t.Cleanup(func() {
		require.NoError(t, w.run.Close())
		require.NoError(t, w.gauge.Close())
		require.NoError(t, w.store.Close())
	})
	return w
}

// write puts an executable file into the workspace.
func (w *world) write(name, text string) string {
	w.t.Helper()
	path := filepath.Join(w.dir, name)
	require.NoError(w.t, os.MkdirAll(filepath.Dir(path), 0o755))
	require.NoError(w.t, os.WriteFile(path, []byte(text), 0o755))
	return path
}

// privateShell puts a copy of /bin/sh into the workspace.
func (w *world) privateShell(name string) string {
	w.t.Helper()
	b, err := os.ReadFile("/bin/sh")
	require.NoError(w.t, err)
	return w.write(name, string(b))
}

func (w *world) hook(d trust.Definition) trust.Definition {
	d.Dialect, d.File, d.Source = "ollm", filepath.Join(w.dir, "hooks.json"), trust.Workspace
	if d.ID == "" {
		d.ID = "hook-1"
	}
	d.Workspace, d.Dir, d.SearchPath = w.dir, w.dir, searchPath
	return d
}

func (w *world) command(words ...string) trust.Definition {
	return w.hook(trust.Definition{Command: words})
}

func (w *world) shell(text string) trust.Definition {
	return w.hook(trust.Definition{Shell: text})
}

func (w *world) measure(d trust.Definition) *trust.Measurement {
	w.t.Helper()
	m, err := w.gauge.Measure(d)
	require.NoError(w.t, err)
	w.t.Cleanup(func() { require.NoError(w.t, m.Close()) })
	return m
}

func (w *world) approve(d trust.Definition) {
	w.t.Helper()
	require.NoError(w.t, w.store.Approve(w.measure(d), "mia", anyTime()))
}

// spec is what a dialect would run for the definition.
func (w *world) spec(d trust.Definition) process.Spec {
	s := process.Spec{
		Command: d.Command, Shell: d.Shell, Dir: d.Dir, Timeout: 30 * time.Second,
		Env: []string{"PATH=" + searchPath},
	}
	for k, v := range d.Vars {
		s.Env = append(s.Env, k+"="+v)
	}
	return s
}

// bound is the command bound to what was measured, run, and its output.
func (w *world) bound(m *trust.Measurement, edits ...func(*process.Spec)) process.Result {
	w.t.Helper()
	s := w.spec(m.Definition())
	for _, edit := range edits {
		edit(&s)
	}
	s, err := m.Bind(s)
	require.NoError(w.t, err)
	result, err := w.run.Run(w.t.Context(), s)
	require.NoError(w.t, err, "%v %s %s", s.Command, s.Shell, result.Stderr.Bytes)
	return result
}

// output runs the command by the whole road, with its approval.
func (w *world) output(d trust.Definition) string {
	w.t.Helper()
	r := w.bound(w.measure(d))
	require.Zero(w.t, r.ExitCode, "%s", r.Stderr.Bytes)
	return string(r.Stdout.Bytes)
}

// roles are the parts but the definition, "role name" each.
func roles(m *trust.Measurement) string {
	var list []string
	for _, p := range m.Parts()[1:] {
		list = append(list, string(p.Role)+" "+p.Name)
	}
	return strings.Join(list, "\n")
}
