//go:build unix

package trust_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/grapnel-dev/grapnel/runner/process"
	"github.com/grapnel-dev/grapnel/runner/trust"
)

// aged makes the workspace's files old enough to be told from changed ones.
func aged(b *testing.B, w *world, d trust.Definition) {
	b.Helper()
	for start := time.Now(); time.Since(start) < 3*time.Second; {
		m, err := w.gauge.Measure(d)
		require.NoError(b, err)
		require.NoError(b, m.Close())
	}
}

// BenchmarkHook is what trust adds to each run of a hook.
func BenchmarkHook(b *testing.B) {
	w := newWorld(b)
	w.write("a.sh", "#!/bin/sh\nexit 0\n")
	for name, d := range map[string]trust.Definition{
		"command": w.command("./a.sh"),
		"shell":   w.shell(`./a.sh "$x" && cat /dev/null | grep -q x || true`),
	} {
		m, err := w.gauge.Measure(d)
		require.NoError(b, err)
		require.NoError(b, w.store.Approve(m, "mia", anyTime()))
		require.NoError(b, m.Close())
		aged(b, w, d)
		spec := w.spec(d)
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				m, err := w.gauge.Measure(d)
				require.NoError(b, err)
				state, err := w.store.Check(m)
				require.NoError(b, err)
				require.True(b, state.Runs())
				_, err = m.Bind(spec)
				require.NoError(b, err)
				require.NoError(b, m.Close())
			}
		})
	}
}

// BenchmarkRun runs a script with and without its being bound.
func BenchmarkRun(b *testing.B) {
	w := newWorld(b)
	w.write("a.sh", "#!/bin/sh\nexit 0\n")
	d := w.command("./a.sh")
	plain := w.spec(d)
	plain.Command = []string{filepath.Join(w.dir, "a.sh")}
	m, err := w.gauge.Measure(d)
	require.NoError(b, err)
	defer m.Close()
	bound, err := m.Bind(w.spec(d))
	require.NoError(b, err)
	for name, s := range map[string]process.Spec{"plain": plain, "bound": bound} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				_, err := w.run.Run(b.Context(), s)
				require.NoError(b, err)
			}
		})
	}
}

// BenchmarkCheck is one look at a full store that did not change, and one at a
// store that did.
func BenchmarkCheck(b *testing.B) {
	w := newWorld(b)
	list := make([]trust.Approval, trust.MaxApprovals)
	for i := range list {
		list[i] = trust.Approval{Dialect: "d", File: "/f", ID: fmt.Sprint(i), Source: trust.User, Digest: trust.Digest{1}, At: anyTime(), Parts: make([]trust.Part, 3)}
	}
	text, err := trust.EncodeLedger(list)
	require.NoError(b, err)
	require.NoError(b, os.WriteFile(w.storePath(), text, 0o600))
	m, err := w.gauge.Measure(w.shell("true"))
	require.NoError(b, err)
	defer m.Close()
	check := func(b *testing.B) {
		for b.Loop() {
			_, err := w.store.Check(m)
			require.NoError(b, err)
		}
	}
	b.Run("changed", check)
	for start := time.Now(); time.Since(start) < 3*time.Second; {
		_, err := w.store.Check(m)
		require.NoError(b, err)
	}
	b.Run("unchanged", check)
}
