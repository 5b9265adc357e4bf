package gohook

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"time"

	"github.com/grapnel-dev/grapnel/bus/hook"
)

// DefaultTimeout is how long a hook may take that does not say otherwise.
const DefaultTimeout = 60 * time.Second

// ErrHook is wrapped by every error about what a hook says of itself.
var ErrHook = errors.New("gohook: not a usable hook")

// Hook is one hook. Embed [Defaults] for what the document gives a default.
//
// Execute may be called from many goroutines at once. It should return soon when
// ctx ends, which is when the time-out has passed or nobody waits any more; what
// it returns later does not count. An error is a failure, see the package
// documentation. All other methods are called once, by [Manager.Register].
type Hook interface {
	// Name tells it apart from the Manager's other hooks, in logs and errors.
	Name() string
	// Events are those it is executed for, one at least.
	Events() []Event
	// ToolMatcher is found somewhere in the names of the tools that it is for;
	// nil means all tools.
	ToolMatcher() *regexp.Regexp
	// Timeout is how long one call may take; zero means DefaultTimeout.
	Timeout() time.Duration
	// Priority orders hooks, high first.
	Priority() int
	// Execute looks at one event.
	Execute(ctx context.Context, in Input, c *Context) (Output, error)
}

// Defaults are the document's defaults, for embedding in a [Hook]: every tool,
// 60 seconds, priority 0.
type Defaults struct{}

// ToolMatcher is nil: every tool.
func (Defaults) ToolMatcher() *regexp.Regexp { return nil }

// Timeout is [DefaultTimeout].
func (Defaults) Timeout() time.Duration { return DefaultTimeout }

// Priority is 0.
func (Defaults) Priority() int { return 0 }

// Spec is what a hook says of itself. See [Hook] for the fields.
type Spec struct {
	Name        string
	Events      []Event
	ToolMatcher *regexp.Regexp
	Timeout     time.Duration
	Priority    int
}

// Func is a function as a [Hook].
type Func struct {
	spec    Spec
	execute func(context.Context, Input, *Context) (Output, error)
}

// NewFunc makes a hook of a function. Name and Events of s are required, which
// [Manager.Register] checks; the rest may be zero.
func NewFunc(s Spec, execute func(ctx context.Context, in Input, c *Context) (Output, error)) *Func {
	return &Func{spec: s, execute: execute}
}

// Name implements [Hook].
func (f *Func) Name() string { return f.spec.Name }

// Events implements [Hook].
func (f *Func) Events() []Event { return f.spec.Events }

// ToolMatcher implements [Hook].
func (f *Func) ToolMatcher() *regexp.Regexp { return f.spec.ToolMatcher }

// Timeout implements [Hook].
func (f *Func) Timeout() time.Duration { return f.spec.Timeout }

// Priority implements [Hook].
func (f *Func) Priority() int { return f.spec.Priority }

// Execute calls the function.
func (f *Func) Execute(ctx context.Context, in Input, c *Context) (Output, error) {
	return f.execute(ctx, in, c)
}

// specOf asks a hook about itself. The error wraps ErrHook.
func specOf(h Hook) (Spec, error) {
	if h == nil {
		return Spec{}, fmt.Errorf("%w: it is nil", ErrHook)
	}
	if f, ok := h.(*Func); ok && (f == nil || f.execute == nil) {
		return Spec{}, fmt.Errorf("%w: it has no function", ErrHook)
	}
	s := Spec{
		Name: h.Name(), Events: slices.Clone(h.Events()),
		ToolMatcher: h.ToolMatcher(), Timeout: h.Timeout(), Priority: h.Priority(),
	}
	if s.Timeout == 0 {
		s.Timeout = DefaultTimeout
	}
	if s.Name == "" {
		return s, fmt.Errorf("%w: it has no name", ErrHook)
	}
	if len(s.Events) == 0 {
		return s, fmt.Errorf("%w: %.80q is for no event; name one of %v", ErrHook, s.Name, Events())
	}
	for _, e := range s.Events {
		if !e.Known() {
			return s, fmt.Errorf("%w: %.80q is for %.40q; it is one of %v", ErrHook, s.Name, string(e), Events())
		}
	}
	if s.Timeout < 0 || s.Timeout > hook.MaxTimeout {
		return s, fmt.Errorf("%w: %.80q: timeout %s must be between 0 and %s", ErrHook, s.Name, s.Timeout, hook.MaxTimeout)
	}
	return s, nil
}

// wants reports whether the hook is for this input.
func (s Spec) wants(in Input) bool {
	if !slices.Contains(s.Events, in.Event()) {
		return false
	}
	tool, has := in.ToolName()
	return s.ToolMatcher == nil || !has || s.ToolMatcher.MatchString(tool)
}
