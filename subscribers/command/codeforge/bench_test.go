package codeforge_test

import (
	"fmt"
	"os/exec"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/grapnel-dev/grapnel/bus/hook"
	"github.com/grapnel-dev/grapnel/subscribers/command/codeforge"
	"github.com/grapnel-dev/grapnel/subscribers/command/dialect"
)

// registered puts n hooks for session:end into a set, and one for tools.
func registered(t testing.TB, s *dialect.Set, n int) {
	t.Helper()
	for i := range n {
		require.NoError(t, s.Register(dialect.Hook{Name: fmt.Sprint("hook-", i), Events: []string{codeforge.SessionEnd}, Shell: "true"}))
	}
}

// best is the shortest of twenty runs.
func best(f func()) time.Duration {
	best := time.Hour
	for range 20 {
		start := time.Now()
		f()
		best = min(best, time.Since(start))
	}
	return best
}

func TestE10CostsWhatMatches(t *testing.T) {
	t.Parallel()
	w := world(t)
	s := w.Set(nil)
	registered(t, s, 10_000)
	require.NoError(t, s.Register(dialect.Hook{Name: "tool", Events: []string{codeforge.ToolPreExecute}, Shell: "true"}))
	assert.Equal(t, 10_001, s.Count())
	few := w.Set(nil)
	require.NoError(t, few.Register(dialect.Hook{Name: "tool", Events: []string{codeforge.ToolPreExecute}, Shell: "true"}))
	plan, ok := s.Plan(shell(w, "ls"))
	require.True(t, ok)
	assert.Len(t, plan.Steps, 1)
	assert.Empty(t, plan.Skipped, "hooks of other events are not looked at")
	look := func(s *dialect.Set) time.Duration { return best(func() { _, _ = s.Plan(shell(w, "ls")) }) }
	assert.Less(t, look(s), 10*look(few)+time.Millisecond, "a look-up costs what matches, not what there is")
	more := func(s *dialect.Set) time.Duration {
		i := 0
		return best(func() {
			i++
			require.NoError(t, s.Register(dialect.Hook{Name: fmt.Sprint("more-", i), Events: []string{codeforge.SessionEnd}, Shell: "true"}))
		})
	}
	assert.Less(t, more(s), 10*more(few)+time.Millisecond, "registering costs the same however many there are")
}

func TestE10OverheadOfARun(t *testing.T) {
	t.Parallel()
	w := world(t)
	s := w.Set(nil)
	require.NoError(t, s.Register(dialect.Hook{Name: "tool", Events: []string{codeforge.ToolPreExecute}, Shell: ":"}))
	run := best(func() { decide(t, s, shell(w, "ls")) })
	plain := best(func() { require.NoError(t, exec.CommandContext(t.Context(), "/bin/sh", "-c", ":").Run()) })
	t.Logf("a run %v, the command alone %v", run, plain)
	assert.Less(t, run-plain, 100*time.Millisecond)
}

func BenchmarkRegister(b *testing.B) {
	for _, n := range []int{0, 10_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			w := world(b)
			s := w.Set(nil)
			registered(b, s, n)
			for i := 0; b.Loop(); i++ {
				name := fmt.Sprint("more-", i%5000)
				if i >= 5000 {
					b.StopTimer()
					s.Unregister(name)
					b.StartTimer()
				}
				if err := s.Register(dialect.Hook{Name: name, Events: []string{codeforge.ToolPreExecute}, Shell: "true"}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkLookup(b *testing.B) {
	for _, n := range []int{0, 10_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			w := world(b)
			s := w.Set(nil)
			registered(b, s, n)
			require.NoError(b, s.Register(dialect.Hook{Name: "tool", Events: []string{codeforge.ToolPreExecute}, Shell: "true"}))
			e := w.Event(hook.PreToolUse, "Bash", hook.KindShell, map[string]string{"command": "ls"})
			for b.Loop() {
				if p, ok := s.Plan(e); !ok || len(p.Steps) != 1 {
					b.Fatal("not planned")
				}
			}
		})
	}
}
