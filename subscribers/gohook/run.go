package gohook

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"time"
)

// MaxLeft is how many goroutines of one hook may be left behind before it is not
// started any more.
const MaxLeft = 16

// What a hook can do wrong, besides returning an error of its own.
var (
	// ErrTimeout: it took longer than its time-out.
	ErrTimeout = errors.New("it took longer than its time-out")
	// ErrPanic: it panicked or ended its goroutine. The stack is in the log.
	ErrPanic = errors.New("it panicked")
	// ErrLeft: too many of its earlier calls still run although nobody waits.
	ErrLeft = errors.New("too many of its earlier calls have not returned")
	// ErrOutput: its output is none.
	ErrOutput = errors.New("its output cannot be used")
)

// Failure is one hook's failure.
type Failure struct {
	Hook string
	Err  error
}

// Error names the hook.
func (f *Failure) Error() string { return fmt.Sprintf("hook %s failed: %v", f.Hook, f.Err) }

// Unwrap returns the cause.
func (f *Failure) Unwrap() error { return f.Err }

// run is one call of one hook.
type run struct {
	hook  string
	began time.Time
	ended chan struct{} // closed when the fields below hold
	out   Output
	err   error
}

// runs are the calls that nobody waits for any more.
type runs struct {
	mu   sync.Mutex
	left map[*run]struct{}
}

func (l *runs) count(hook string) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	n := 0
	for r := range l.left {
		if hook == "" || r.hook == hook {
			n++
		}
	}
	return n
}

// leave gives a call up, unless it has ended.
func (l *runs) leave(r *run) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	select {
	case <-r.ended:
		return false
	default:
	}
	if l.left == nil {
		l.left = make(map[*run]struct{})
	}
	l.left[r] = struct{}{}
	return true
}

// end marks a call as over and reports whether it had been given up.
func (l *runs) end(r *run) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	_, left := l.left[r]
	delete(l.left, r)
	close(r.ended)
	return left
}

// call executes one hook, for no longer than its time-out and ctx.
func (m *Manager) call(ctx context.Context, h registered, in Input, c *Context) (Output, error) {
	if ctx.Err() != nil {
		return Output{}, fmt.Errorf("it was not started: %w", context.Cause(ctx))
	}
	if n := m.runs.count(h.Name); n >= MaxLeft {
		return Output{}, fmt.Errorf("%w (%d)", ErrLeft, n)
	}
	ctx, cancel := context.WithTimeoutCause(ctx, h.Timeout, fmt.Errorf("%w of %s", ErrTimeout, h.Timeout))
	defer cancel()
	r := &run{hook: h.Name, began: time.Now(), ended: make(chan struct{})}
	go m.run(ctx, r, h.hook, in, c)
	select {
	case <-r.ended:
	case <-ctx.Done():
		if m.runs.leave(r) {
			return Output{}, context.Cause(ctx)
		}
	}
	if r.err != nil {
		if cause := context.Cause(ctx); cause != nil {
			return Output{}, fmt.Errorf("%w: %w", cause, r.err)
		}
		return Output{}, r.err
	}
	if err := r.out.check(); err != nil {
		return Output{}, fmt.Errorf("%w: %w", ErrOutput, err)
	}
	return r.out, nil
}

func (m *Manager) run(ctx context.Context, r *run, h Hook, in Input, c *Context) {
	// Anything but a return (a panic, also of nil, and runtime.Goexit) leaves
	// this error in place.
	r.err = fmt.Errorf("%w or ended its goroutine", ErrPanic)
	defer func() {
		if p := recover(); p != nil {
			r.err = fmt.Errorf("%w: %v", ErrPanic, p)
			m.log.ErrorContext(ctx, "gohook: hook panicked", "hook", r.hook, "panic", fmt.Sprint(p), "stack", string(debug.Stack()))
		}
		if m.runs.end(r) {
			m.log.WarnContext(ctx, "gohook: a hook that nobody waited for any more has returned", "hook", r.hook, "took", time.Since(r.began))
		}
	}()
	r.out, r.err = h.Execute(ctx, in, c)
}

// Left is how many calls still run although nobody waits for them any more. A
// number that grows is a hook that ignores its context.
func (m *Manager) Left() int { return m.runs.count("") }

// Wait waits until no call is left behind, or ctx ends; its error then names the
// hooks. Use it at the end of a program, after whatever calls Execute.
func (m *Manager) Wait(ctx context.Context) error {
	for {
		waiting := m.runs.some()
		if waiting == nil {
			return nil
		}
		select {
		case <-waiting:
		case <-ctx.Done():
			return fmt.Errorf("gohook: hooks still run that ignore their context: %s: %w", strings.Join(m.runs.names(), ", "), context.Cause(ctx))
		}
	}
}

// some is the end of one of the calls that are left, nil if none is.
func (l *runs) some() <-chan struct{} {
	l.mu.Lock()
	defer l.mu.Unlock()
	for r := range l.left {
		return r.ended
	}
	return nil
}

func (l *runs) names() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	var names []string
	for r := range l.left {
		if !slices.Contains(names, r.hook) {
			names = append(names, r.hook)
		}
	}
	slices.Sort(names)
	return names
}
