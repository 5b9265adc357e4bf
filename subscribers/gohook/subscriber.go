package gohook

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"

	"github.com/grapnel-dev/grapnel/bus/hook"
)

// ErrRewrite is wrapped by the error about an updated input that may not be
// given.
var ErrRewrite = errors.New("gohook: an updated input that is not permitted")

// SubscriberOptions tune a [Subscriber]. The zero value works.
type SubscriberOptions struct {
	// ToolName is what the hooks know a tool as. Hooks of this dialect expect
	// Claude's names (Bash, Read, Write, Edit). Defaults to the agent's own
	// name, which is these only where Claude is the agent. An empty name is a
	// failure of the event.
	ToolName func(hook.Tool) string
	// Blocks says whether a block counts on an event. Defaults to
	// [Event.CanBlock].
	Blocks func(Event) bool
	// Rewrites permits hooks to update a tool's input. Without it an updated
	// input is a failure. Entry passes it on to the roster, which must permit it
	// as well.
	Rewrites bool
	// Env is what hooks find in their Context. Defaults to nothing.
	Env map[string]string
	// Log defaults to the Manager's.
	Log *slog.Logger
}

// Subscriber is a [Manager] on the bus.
type Subscriber struct {
	name    string
	manager *Manager
	opts    SubscriberOptions
}

var (
	_ hook.Decider = (*Subscriber)(nil)
	_ hook.Handler = (*Subscriber)(nil)
)

// NewSubscriber makes a Subscriber. name is its name in the roster: 1 to 64 of
// a-z, 0-9, '_' and '-'; the error wraps [hook.ErrEntry].
func NewSubscriber(name string, m *Manager, o *SubscriberOptions) (*Subscriber, error) {
	if err := (hook.Entry{Name: name}).Validate(); err != nil {
		return nil, err
	}
	s := &Subscriber{name: name, manager: m}
	if o != nil {
		s.opts = *o
	}
	if s.opts.ToolName == nil {
		s.opts.ToolName = func(t hook.Tool) string { return t.Name }
	}
	if s.opts.Blocks == nil {
		s.opts.Blocks = Event.CanBlock
	}
	if s.opts.Log == nil {
		s.opts.Log = m.log
	}
	return s, nil
}

// Entry is the Subscriber's place in the roster, for the events of the hooks that
// are registered by now; false when no agent waits for any of these, and there is
// nothing to be put into the roster. Priority, failure policy and the rest are
// the caller's to add. Grants would be without effect: a hook of this dialect never allows.
func (s *Subscriber) Entry() (hook.Entry, bool) {
	filter := s.filter(true)
	return hook.Entry{Name: s.name, Filter: filter, Rewrites: s.opts.Rewrites}, filter != ""
}

// NotifyFilter selects the notification events of the hooks that are registered
// by now, as bus.ConsumeOptions take it; false when there are none.
func (s *Subscriber) NotifyFilter() (string, bool) {
	filter := s.filter(false)
	return filter, filter != ""
}

func (s *Subscriber) filter(blocking bool) string {
	var names []string
	for _, e := range Events() {
		if !slices.ContainsFunc(s.manager.current(), func(r registered) bool { return slices.Contains(r.Events, e) }) {
			continue
		}
		for _, n := range e.Names() {
			if n.Blocking() == blocking {
				names = append(names, string(n))
			}
		}
	}
	return strings.Join(names, ",")
}

// Decide executes the hooks for an event, see the package documentation for what
// becomes of their output. It abstains on an event that the dialect does not
// know. The error joins a [*Failure] for each hook that failed, or wraps
// [ErrInput] or [ErrRewrite]. A block counts although other hooks failed: no
// failure policy is stricter.
func (s *Subscriber) Decide(ctx context.Context, e hook.Event) (hook.Decision, error) {
	in, known, err := inputOf(e, s.opts.ToolName)
	if err != nil || !known {
		return hook.Decision{}, err
	}
	r, err := s.manager.execute(ctx, in, s.context(e))
	if err != nil {
		return hook.Decision{}, err
	}
	d := hook.Decision{Context: join(r.output.SystemMessage, r.output.AdditionalContext)}
	failure := r.failure()
	if !s.opts.Blocks(in.Event()) {
		return s.remark(ctx, d, in, r, failure), nil
	}
	if !r.output.ContinueExecution {
		d.Effect, d.Reason, d.Rules = hook.Deny, r.output.StopReason, r.blocked
		if d.Reason == "" {
			d.Reason = fmt.Sprintf("hook %s blocked it and gave no reason", strings.Join(r.blocked, ", "))
		}
		return d, nil
	}
	if failure != nil {
		return hook.Decision{}, failure
	}
	if len(r.output.UpdatedInput) == 0 {
		return d, nil
	}
	switch {
	case in.Event() != PreToolUse:
		return hook.Decision{}, fmt.Errorf("%w: %s has no tool input", ErrRewrite, in.Event())
	case !s.opts.Rewrites:
		return hook.Decision{}, fmt.Errorf("%w: %s was not made with SubscriberOptions.Rewrites", ErrRewrite, s.name)
	}
	d.Rewrite = r.output.UpdatedInput
	return d, nil
}

// remark puts on record what counts for nothing on an event that cannot block.
func (s *Subscriber) remark(ctx context.Context, d hook.Decision, in Input, r report, failure error) hook.Decision {
	if !r.output.ContinueExecution {
		why := r.output.StopReason
		if why == "" {
			why = "no reason given"
		}
		d.Reason = fmt.Sprintf("hook %s blocked %s, which cannot be blocked: %s", strings.Join(r.blocked, ", "), in.Event(), why)
		s.opts.Log.WarnContext(ctx, "gohook: a block counts for nothing on this event; see SubscriberOptions.Blocks",
			"subscriber", s.name, "hooks", r.blocked, "event", string(in.Event()), "session", in.SessionID)
	}
	if failure != nil {
		d.Reason = join(d.Reason, failure.Error())
	}
	return d
}

// Handle executes the hooks for a notification event. Their output counts for
// nothing. The error is that of Decide; an event that fails is delivered again,
// to all hooks: one that must not see it twice looks at event_id in the
// metadata, or is registered with a Manager of its own. An event that the
// dialect does not know is done with.
func (s *Subscriber) Handle(ctx context.Context, e hook.Event) error {
	in, known, err := inputOf(e, s.opts.ToolName)
	if err != nil || !known {
		return err
	}
	r, err := s.manager.execute(ctx, in, s.context(e))
	if err != nil {
		return err
	}
	return r.failure()
}

func (s *Subscriber) context(e hook.Event) *Context {
	return &Context{SessionID: e.SessionID, CWD: e.Data.CWD, Env: s.opts.Env}
}
