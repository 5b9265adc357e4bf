package gohook

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
)

// Options tune a [Manager]. The zero value works.
type Options struct {
	// Log defaults to discarding. Failures are warnings; calls are told at debug
	// level, with event and tool and nothing of what either holds.
	Log *slog.Logger
}

// Manager holds hooks and executes those that an input is for.
type Manager struct {
	log   *slog.Logger
	runs  runs
	mu    sync.RWMutex
	hooks []registered // in order of execution; replaced, never written to
}

type registered struct {
	Spec
	hook Hook
}

// NewManager makes a Manager without hooks.
func NewManager(o *Options) *Manager {
	m := &Manager{log: slog.New(slog.DiscardHandler)}
	if o != nil && o.Log != nil {
		m.log = o.Log
	}
	return m
}

// Register adds hooks, all of them or, with an error that wraps [ErrHook], none:
// each has a name of its own in this Manager, one known event at least and a
// time-out of at most [hook.MaxTimeout]. Calls that are under way go on with the
// hooks they began with.
func (m *Manager) Register(hooks ...Hook) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	all := slices.Clone(m.hooks)
	for _, h := range hooks {
		s, err := specOf(h)
		if err != nil {
			return err
		}
		if slices.ContainsFunc(all, func(r registered) bool { return r.Name == s.Name }) {
			return fmt.Errorf("%w: there is one named %.80q already", ErrHook, s.Name)
		}
		all = append(all, registered{Spec: s, hook: h})
	}
	// Stable, so that equal ones keep the order of registration.
	slices.SortStableFunc(all, func(a, b registered) int {
		switch {
		case a.Priority > b.Priority:
			return -1
		case a.Priority < b.Priority:
			return 1
		}
		return 0
	})
	m.hooks = all
	return nil
}

// Hooks says what is registered, in order of execution.
func (m *Manager) Hooks() []Spec {
	specs := make([]Spec, 0, len(m.current()))
	for _, r := range m.current() {
		s := r.Spec
		s.Events = slices.Clone(s.Events)
		specs = append(specs, s)
	}
	return specs
}

func (m *Manager) current() []registered {
	m.mu.RLock()
	defer m.mu.RUnlock()
	return m.hooks
}

// Execute executes the hooks that in is for and merges what they say. c may be
// nil. Without a hook for it the output is Allow().
//
// The error joins a [*Failure] for each hook that failed; the output is merged
// from all others, and blocks when the event can. An input that is none is an
// error that wraps [ErrInput], with an output that blocks.
//
// It returns within the sum of the hooks' time-outs, or when ctx ends.
func (m *Manager) Execute(ctx context.Context, in Input, c *Context) (Output, error) {
	r, err := m.execute(ctx, in, c)
	if err != nil {
		return Block(err.Error()), err
	}
	err = r.failure()
	if err != nil && in.Event().CanBlock() {
		out := r.output
		out.ContinueExecution = false
		if out.StopReason == "" {
			out.StopReason = err.Error()
		}
		return out, err
	}
	return r.output, err
}

// report is what one execution came to.
type report struct {
	output   Output
	blocked  []string // names of the hooks that blocked
	failures []error
}

func (r report) failure() error { return errors.Join(r.failures...) }

func (m *Manager) execute(ctx context.Context, in Input, c *Context) (report, error) {
	r := report{output: Allow()}
	if err := in.check(); err != nil {
		return r, err
	}
	executed := 0
	for _, h := range m.current() {
		if !h.wants(in) {
			continue
		}
		executed++
		out, err := m.call(ctx, h, in, c.clone(in.SessionID))
		if err != nil {
			m.log.WarnContext(ctx, "gohook: hook failed", "hook", h.Name, "event", string(in.Event()), "session", in.SessionID, "error", err)
			r.failures = append(r.failures, &Failure{Hook: h.Name, Err: err})
			continue
		}
		if !out.ContinueExecution {
			r.blocked = append(r.blocked, h.Name)
		}
		r.output = r.output.Merge(out)
	}
	if executed > 0 && !r.output.SuppressLogging {
		tool, _ := in.ToolName()
		m.log.DebugContext(ctx, "gohook: executed", "event", string(in.Event()), "tool", tool, "session", in.SessionID,
			"hooks", executed, "failed", len(r.failures), "continue", r.output.ContinueExecution)
	}
	return r, nil
}
