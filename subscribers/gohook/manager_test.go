package gohook_test

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/grapnel-dev/grapnel/subscribers/gohook"
)

func TestB6NoHookAllows(t *testing.T) {
	t.Parallel()
	for e, in := range inputs() {
		out, err := gohook.NewManager(nil).Execute(t.Context(), in, nil)
		require.NoError(t, err, "%s", e)
		assert.Equal(t, gohook.Allow(), out, "%s", e)
	}
}

// drawn is a hook that a property test draws, and what it does.
type drawn struct {
	spec   gohook.Spec
	out    gohook.Output
	fails  bool
	panics bool
}

// TestB6ExecuteIsTheModel holds Execute to a naive reading of the document:
// sort, match, execute, merge.
func TestB6ExecuteIsTheModel(t *testing.T) {
	t.Parallel()
	failed := errors.New("failed")
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(0, 6).Draw(t, "hooks")
		m := gohook.NewManager(nil)
		var j journal
		var hooks []drawn
		for i := range n {
			d := drawn{out: anyOutput().Draw(t, "output")}
			d.spec = gohook.Spec{
				Name:     fmt.Sprint(i),
				Events:   rapid.SliceOfNDistinct(rapid.SampledFrom(gohook.Events()), 1, 10, rapid.ID).Draw(t, "events"),
				Priority: rapid.IntRange(-1, 2).Draw(t, "priority"),
			}
			if p := rapid.SampledFrom([]string{"", "Bash", "as", "^B.*h$", "Bash|Write", "(?i)BASH", "Write", "^ash$"}).Draw(t, "matcher"); p != "" {
				d.spec.ToolMatcher = regexp.MustCompile(p)
			}
			switch rapid.IntRange(0, 9).Draw(t, "does") {
			case 0:
				d.fails = true
			case 1:
				d.panics = true
			}
			hooks = append(hooks, d)
			require.NoError(t, m.Register(gohook.NewFunc(d.spec, func(context.Context, gohook.Input, *gohook.Context) (gohook.Output, error) {
				j.add("%s", d.spec.Name)
				switch {
				case d.panics:
					panic("at the " + d.spec.Name)
				case d.fails:
					return d.out, failed // beside an error nothing counts
				}
				return d.out, nil
			})))
		}
		in := inputs()[rapid.SampledFrom(gohook.Events()).Draw(t, "event")]

		slices.SortStableFunc(hooks, func(a, b drawn) int { return cmp.Compare(b.spec.Priority, a.spec.Priority) })
		var ran []string
		var outputs []gohook.Output
		failures := 0
		for _, d := range hooks {
			tool, isTool := in.ToolName()
			if !slices.Contains(d.spec.Events, in.Event()) || isTool && d.spec.ToolMatcher != nil && d.spec.ToolMatcher.FindStringIndex(tool) == nil {
				continue
			}
			ran = append(ran, d.spec.Name)
			if d.fails || d.panics {
				failures++
				continue
			}
			outputs = append(outputs, d.out)
		}
		want := model(outputs)

		out, err := m.Execute(context.Background(), in, nil)
		assert.Equal(t, strings.Join(ran, " "), j.String(), "order")
		if failures == 0 {
			assert.NoError(t, err)
		} else {
			var joined interface{ Unwrap() []error }
			require.ErrorAs(t, err, &joined)
			assert.Len(t, joined.Unwrap(), failures)
			if in.Event().CanBlock() {
				want.ContinueExecution = false
				want.StopReason = cmp.Or(want.StopReason, err.Error())
			}
		}
		assert.Equal(t, want, out)
	})
}

func TestB6EqualPrioritiesGoByRegistration(t *testing.T) {
	t.Parallel()
	var j journal
	m := gohook.NewManager(nil)
	for _, h := range []struct {
		name     string
		priority int
	}{{"c", 0}, {"a", 0}, {"last", -1}, {"first", 7}, {"b", 0}} {
		s := preToolUse(h.name)
		s.Priority = h.priority
		require.NoError(t, m.Register(gohook.NewFunc(s, j.notes(h.name))))
	}
	_, err := m.Execute(t.Context(), bash(t, "ls"), nil)
	require.NoError(t, err)
	assert.Equal(t, "first c a b last", j.String())
}

func TestB6MatcherIsSearchedFor(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		matcher, tool string
		runs          bool
	}{
		{"Bash|Write", "Bash", true}, {"Bash|Write", "Read", false}, {"Write", "NotebookWrite", true}, {"^Write$", "NotebookWrite", false},
		{"mcp__.*__delete", "mcp__github__delete_repo", true}, {"bash", "Bash", false}, {"", "Bash", true}, {".", "", false}, {"", "", true},
	} {
		var j journal
		s := preToolUse("h")
		s.ToolMatcher = regexp.MustCompile(c.matcher)
		_, err := manager(t, gohook.NewFunc(s, j.notes("ran"))).Execute(t.Context(), gohook.NewPreToolUse("s", c.tool, nil), nil)
		require.NoError(t, err)
		assert.Equal(t, c.runs, j.String() != "", "%q on %q", c.matcher, c.tool)
	}
	// On an event without a tool there is nothing that a matcher could keep out.
	var j journal
	s := gohook.Spec{Name: "h", Events: gohook.Events(), ToolMatcher: regexp.MustCompile("^Write$")}
	_, err := manager(t, gohook.NewFunc(s, j.notes("ran"))).Execute(t.Context(), gohook.NewUserPromptSubmit("s", "hello"), nil)
	require.NoError(t, err)
	assert.Equal(t, "ran", j.String())
}

// TestB6TheOthersStillCount: whatever goes wrong with one hook, all others run
// and are merged.
func TestB6TheOthersStillCount(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		f    execute
		want error
		text string
	}{
		"error": {func(context.Context, gohook.Input, *gohook.Context) (gohook.Output, error) {
			return gohook.Allow(), assert.AnError
		}, assert.AnError, ""},
		"panic": {func(context.Context, gohook.Input, *gohook.Context) (gohook.Output, error) { panic("ouch") }, gohook.ErrPanic, "ouch"},
		"goexit": {func(context.Context, gohook.Input, *gohook.Context) (gohook.Output, error) {
			runtime.Goexit()
			return gohook.Allow(), nil
		}, gohook.ErrPanic, "ended its goroutine"},
		"no object": {says(gohook.Allow().WithUpdatedInput(json.RawMessage(`["ls"]`))), gohook.ErrOutput, "JSON object"},
		"null":      {says(gohook.Allow().WithUpdatedInput(json.RawMessage(`null`))), gohook.ErrOutput, "JSON object"},
		"no JSON":   {says(gohook.Allow().WithUpdatedInput(json.RawMessage(`{"a":`))), gohook.ErrOutput, "updated input"},
		"two keys":  {says(gohook.Allow().WithUpdatedInput(json.RawMessage(`{"a":1,"a":2}`))), gohook.ErrOutput, "updated input"},
		"too large": {says(gohook.Allow().WithUpdatedInput(json.RawMessage(`{"a":"` + strings.Repeat("x", gohook.MaxUpdatedInput) + `"}`))), gohook.ErrOutput, "too large"},
	} {
		events := gohook.Events()
		before := gohook.NewFunc(gohook.Spec{Name: "before", Events: events}, says(gohook.Allow().WithContext("before")))
		bad := gohook.NewFunc(gohook.Spec{Name: "bad", Events: events}, c.f)
		after := gohook.NewFunc(gohook.Spec{Name: "after", Events: events}, says(gohook.Allow().WithContext("after").WithUpdatedInput(json.RawMessage(`{"a":1}`))))
		m := manager(t, before, bad, after)
		for e, in := range inputs() {
			out, err := m.Execute(t.Context(), in, nil)
			assert.ErrorIs(t, err, c.want, "%s on %s", name, e)
			assert.ErrorContains(t, err, "hook bad failed", "%s on %s", name, e)
			assert.ErrorContains(t, err, c.text, "%s on %s", name, e)
			assert.Equal(t, "before\nafter", out.AdditionalContext, "%s on %s", name, e)
			assert.Equal(t, `{"a":1}`, string(out.UpdatedInput), "%s on %s", name, e)
			assert.Equal(t, !e.CanBlock(), out.ContinueExecution, "%s on %s", name, e)
			assert.Equal(t, e.CanBlock(), out.StopReason != "", "%s on %s", name, e)
		}
	}
}

// TestB6EveryHookSeesTheOriginal input, also after one that updated it.
func TestB6EveryHookSeesTheOriginal(t *testing.T) {
	t.Parallel()
	var j journal
	update := func(text string) execute {
		return func(_ context.Context, in gohook.Input, _ *gohook.Context) (gohook.Output, error) {
			raw, _ := in.ToolInput()
			j.add("%s", raw)
			return gohook.Allow().WithUpdatedInput(json.RawMessage(text)), nil
		}
	}
	m := manager(t, gohook.NewFunc(preToolUse("a"), update(`{"command":"first"}`)), gohook.NewFunc(preToolUse("b"), update(`{"command":"second"}`)))
	out, err := m.Execute(t.Context(), bash(t, "ls"), nil)
	require.NoError(t, err)
	assert.Equal(t, `{"command":"ls"} {"command":"ls"}`, j.String())
	assert.Equal(t, `{"command":"second"}`, string(out.UpdatedInput), "the latest")
}

// TestB6EachHookHasItsOwnTimeout, and one that uses its up takes nothing from
// the next.
func TestB6EachHookHasItsOwnTimeout(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		takes := func(d time.Duration, out gohook.Output) execute {
			return func(ctx context.Context, _ gohook.Input, _ *gohook.Context) (gohook.Output, error) {
				select {
				case <-time.After(d):
					return out, nil
				case <-ctx.Done():
					return gohook.Block("too late to count"), nil
				}
			}
		}
		slow, enough := preToolUse("slow"), preToolUse("enough")
		slow.Timeout, enough.Timeout = 2*time.Second, 5*time.Second
		events := []gohook.Event{gohook.PostToolUse}
		slow.Events, enough.Events = events, events
		m := manager(t, gohook.NewFunc(slow, func(ctx context.Context, in gohook.Input, c *gohook.Context) (gohook.Output, error) {
			<-ctx.Done()
			return gohook.Output{}, ctx.Err()
		}), gohook.NewFunc(enough, takes(4*time.Second, gohook.Allow().WithContext("made it"))))
		out, err := m.Execute(t.Context(), gohook.NewPostToolUse("s", "Bash", nil), nil)
		assert.Equal(t, 6*time.Second, time.Since(began))
		assert.ErrorIs(t, err, gohook.ErrTimeout)
		assert.Equal(t, gohook.Allow().WithContext("made it"), out)
		require.NoError(t, m.Wait(t.Context()))
	})
}

// TestB6HooksThatHang hold nobody up, are named and counted, and are not started
// again and again.
func TestB6HooksThatHang(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var log logs
		m := gohook.NewManager(&gohook.Options{Log: slog.New(slog.NewTextHandler(&log, nil))})
		release := make(chan struct{})
		var started atomic.Int32
		s := preToolUse("hangs")
		s.Timeout = time.Second
		require.NoError(t, m.Register(
			gohook.NewFunc(s, func(context.Context, gohook.Input, *gohook.Context) (gohook.Output, error) {
				started.Add(1)
				<-release
				return gohook.Allow(), nil
			}),
			gohook.NewFunc(preToolUse("other"), says(gohook.Allow().WithContext("heard")))))
		for i := range gohook.MaxLeft {
			began := time.Now()
			out, err := m.Execute(t.Context(), bash(t, "ls"), nil)
			require.Equal(t, time.Second, time.Since(began))
			require.ErrorIs(t, err, gohook.ErrTimeout)
			require.False(t, out.ContinueExecution)
			require.Equal(t, "heard", out.AdditionalContext)
			require.Equal(t, i+1, m.Left())
		}
		assert.Contains(t, log.String(), "hook=hangs")
		assert.Contains(t, log.String(), "it took longer than its time-out of 1s")

		began := time.Now()
		out, err := m.Execute(t.Context(), bash(t, "ls"), nil)
		assert.Zero(t, time.Since(began), "it is not tried again")
		assert.ErrorIs(t, err, gohook.ErrLeft)
		assert.False(t, out.ContinueExecution)
		assert.Equal(t, "heard", out.AdditionalContext, "the others run")
		assert.EqualValues(t, gohook.MaxLeft, started.Load())

		ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
		defer cancel()
		err = m.Wait(ctx)
		assert.ErrorIs(t, err, context.DeadlineExceeded)
		assert.ErrorContains(t, err, "hangs")
		close(release)
		require.NoError(t, m.Wait(t.Context()))
		assert.Zero(t, m.Left())
		synctest.Wait()
		assert.Contains(t, log.String(), "has returned")
		out, err = m.Execute(t.Context(), bash(t, "ls"), nil)
		require.NoError(t, err, "it is started again")
		assert.Equal(t, gohook.Allow().WithContext("heard"), out)
	})
}

// TestB6LatePanic is one of a hook that nobody waits for any more.
func TestB6LatePanic(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var log logs
		m := gohook.NewManager(&gohook.Options{Log: slog.New(slog.NewTextHandler(&log, nil))})
		s := preToolUse("late")
		s.Timeout = time.Second
		require.NoError(t, m.Register(gohook.NewFunc(s, func(context.Context, gohook.Input, *gohook.Context) (gohook.Output, error) {
			<-time.After(time.Minute)
			panic("late indeed")
		})))
		_, err := m.Execute(t.Context(), bash(t, "ls"), nil)
		require.ErrorIs(t, err, gohook.ErrTimeout)
		require.NoError(t, m.Wait(t.Context()))
		synctest.Wait()
		assert.Contains(t, log.String(), "late indeed")
	})
}

// TestB6SuppressLogging keeps a call out of the Manager's log, and the log holds
// nothing of what a tool is given.
func TestB6SuppressLogging(t *testing.T) {
	t.Parallel()
	for _, suppress := range []bool{false, true} {
		var log logs
		m := gohook.NewManager(&gohook.Options{Log: slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}))})
		out := gohook.Allow().WithContext("s3cret")
		if suppress {
			out = out.WithSuppressedLogging()
		}
		require.NoError(t, m.Register(gohook.NewFunc(preToolUse("h"), says(out))))
		_, err := m.Execute(t.Context(), bash(t, "echo s3cret"), nil)
		require.NoError(t, err)
		assert.Equal(t, suppress, log.String() == "", "log: %s", log.String())
		assert.NotContains(t, log.String(), "s3cret")
	}
}

// TestB6Concurrently executes and registers at the same time, for the race
// detector.
func TestB6Concurrently(t *testing.T) {
	t.Parallel()
	m := manager(t, gohook.NewFunc(preToolUse("always"), says(gohook.Block("always"))))
	var work sync.WaitGroup
	for i := range 8 {
		work.Go(func() {
			for k := range 50 {
				if k%10 == 0 {
					s := preToolUse(fmt.Sprint(i, "-", k))
					s.Priority = k
					assert.NoError(t, m.Register(gohook.NewFunc(s, says(gohook.Allow().WithContext("x")))))
				}
				out, err := m.Execute(t.Context(), bash(t, "ls"), &gohook.Context{Env: map[string]string{"A": "b"}})
				assert.NoError(t, err)
				assert.False(t, out.ContinueExecution)
			}
		})
	}
	work.Wait()
	assert.Len(t, m.Hooks(), 41)
}
