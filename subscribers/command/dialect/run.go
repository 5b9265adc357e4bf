package dialect

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/grapnel-dev/grapnel/runner/process"
	"github.com/grapnel-dev/grapnel/subscribers/command"
)

// hook runs one hook of a plan, or takes its answer from the cache, or starts
// it in the background.
func (s *Set) hook(ctx context.Context, step Step, c *Call) Result {
	h := step.Hook
	r := Result{Hook: h, Report: command.Report{Execution: command.Execution{
		Hook: h.Label(), Dialect: s.dialect.Name, Source: string(h.Origin.Source), File: h.Origin.File,
		EventID: c.Event.ID, Event: c.Event.Key(), SessionID: c.Event.SessionID, Hops: c.Event.Hops,
		Started: time.Now(), ExitCode: -1, Async: h.Async,
	}}}
	if step.Blocked != nil {
		r.Err = fmt.Errorf("hook %s: %w", h.Label(), step.Blocked)
		s.finish(c, &r)
		return r
	}
	feed, err := s.dialect.Feed(h, c)
	if err != nil {
		r.Err = fmt.Errorf("hook %s: %w", h.Label(), err)
		s.finish(c, &r)
		return r
	}
	if h.Async {
		bg := r
		// It decides nothing, so it lives as long as it may, not as long as the
		// agent waits.
		r.background = s.background.run(context.WithoutCancel(ctx), func(ctx context.Context) {
			defer step.close()
			s.ask(ctx, step, c, feed, &bg)
			s.finish(c, &bg)
		})
		if !r.background {
			r.Err = fmt.Errorf("hook %s: %w: %d others run in the background", h.Label(), ErrFailed, maxBackground)
			s.finish(c, &r)
		}
		return r
	}
	key := ""
	if h.Cache > 0 {
		key = cacheKey(s.dialect.Name, h, c, feed, s.dir(h, c, feed.Dir))
		if a, ok := s.cache.get(key); ok {
			r.Answer, r.Report.Cached = a, true
			s.answered(c, &r)
			s.finish(c, &r)
			return r
		}
	}
	s.ask(ctx, step, c, feed, &r)
	if key != "" && r.Err == nil {
		s.cache.put(key, r.Answer, h.Cache)
	}
	s.finish(c, &r)
	return r
}

// ask runs a hook and reads its answer.
func (s *Set) ask(ctx context.Context, step Step, c *Call, feed Feed, r *Result) {
	h := step.Hook
	s.announce(c, r)
	timeout := h.Timeout
	if timeout == 0 {
		timeout = s.dialect.Timeout
	}
	var out Output
	var err error
	switch h.Type {
	case TypePrompt:
		r.Answer, err = s.askModel(ctx, h, c, feed, timeout)
	case TypeHTTP:
		if out, err = s.post(ctx, h, c, feed, timeout); err == nil {
			r.Answer, err = s.dialect.Answer(h, c, out)
		}
	default:
		if out, err = s.start(ctx, step, c, feed, timeout, &r.Report); err == nil {
			r.Answer, err = s.dialect.Answer(h, c, out)
		}
	}
	if err != nil {
		r.Err = fmt.Errorf("hook %s: %w", h.Label(), err)
		return
	}
	s.answered(c, r)
}

// answered notes what a hook said.
func (s *Set) answered(c *Call, r *Result) {
	r.Report.Outcome = command.Handled
	if c.Event.Name.Blocking() {
		r.Report.Outcome = command.Decided
		effect := r.Answer.Effect
		r.Report.Effect, r.Report.Reason = &effect, r.Answer.Reason
	}
}

// start runs a hook command.
func (s *Set) start(ctx context.Context, step Step, c *Call, feed Feed, timeout time.Duration, report *command.Report) (Output, error) {
	h := step.Hook
	spec := process.Spec{
		Name: s.dialect.Name, Shell: feed.Shell, Command: feed.Command, Dir: s.dir(h, c, feed.Dir),
		Stdin: feed.Stdin, Timeout: timeout, MaxOutput: s.dialect.MaxOutput, Sandbox: h.Sandbox,
	}
	// Somebody else's hook cannot leave the configuration's sandbox by having
	// one of its own.
	outer := s.o.Sandbox.Mode != "" && s.o.Sandbox.Mode != process.SandboxOff
	if spec.Sandbox.Mode == "" || outer && !loosens(h.Origin.Source) {
		spec.Sandbox = s.o.Sandbox
	}
	set, omitted, err := s.variables(h, c, feed)
	report.Omitted = omitted
	if err != nil {
		return Output{}, err
	}
	spec.Env = process.Environment(s.o.Environ, s.path, s.o.Env, set)
	if spec.Command, err = s.program(h, c, spec.Command); err != nil {
		return Output{}, err
	}
	if step.measured != nil {
		if spec, err = step.measured.Bind(spec); err != nil {
			return Output{}, fmt.Errorf("%w: %w", ErrChanged, err)
		}
	}
	result, err := report.Run(ctx, s.o.Runner, spec)
	if err != nil {
		return Output{}, err
	}
	return Output{
		ExitCode: result.ExitCode, Stdout: result.Stdout.Bytes, Stderr: result.Stderr.Bytes, Truncated: result.Stdout.Truncated,
	}, nil
}

// variables are what the hook finds in its environment besides the usual.
func (s *Set) variables(h Hook, c *Call, feed Feed) (set, omitted []string, err error) {
	set = append(set, feed.Env...)
	for name, value := range h.Env {
		set = append(set, name+"="+value)
	}
	for _, v := range h.Variables {
		value, err := v.Value(c)
		if err != nil {
			return nil, nil, fmt.Errorf("%w: %w", ErrFeed, err)
		}
		if len(value) > command.MaxVariable || strings.IndexByte(value, 0) >= 0 {
			return nil, []string{v.Name}, fmt.Errorf("%w: a value that the command names is longer than %d bytes or has a NUL byte in it; read it from standard input", ErrFeed, command.MaxVariable)
		}
		set = append(set, v.Name+"="+value)
	}
	set = append(set, marks(h, c.Event)...)
	set, omitted = command.FitVariables(set)
	if len(omitted) > 0 {
		if name := command.BlindTo(feed.Shell, omitted); name != "" {
			return nil, omitted, fmt.Errorf("%w: $%s is too large for an environment variable (at most %d bytes) or has a NUL byte in it; read the event from standard input, or look at $GRAPNEL_OMITTED", ErrFeed, name, command.MaxVariable)
		}
		set = append(set, "GRAPNEL_OMITTED="+strings.Join(omitted, " "))
	}
	return set, omitted, nil
}

// program finds what a command's first word means: an absolute path, a name in
// PATH, or a path below where the hook's definition belongs.
func (s *Set) program(h Hook, c *Call, argv []string) ([]string, error) {
	if len(argv) == 0 {
		return nil, nil
	}
	name := argv[0]
	if rest, ok := strings.CutPrefix(name, "~/"); ok {
		name = filepath.Join(s.o.Home, rest)
	}
	if !filepath.IsAbs(name) && strings.ContainsRune(name, '/') {
		base := h.Origin.Base
		if base == "" {
			base = c.Workspace
		}
		if base == "" {
			return nil, fmt.Errorf("%w: the command %.200q is relative, and the event has no workspace", process.ErrNotFound, name)
		}
		name = filepath.Join(base, name)
	}
	found, err := process.Lookup(name, s.path)
	if err != nil {
		return nil, err
	}
	return append([]string{found}, argv[1:]...), nil
}

// finish counts, traces and publishes what became of a run.
func (s *Set) finish(c *Call, r *Result) {
	x := &r.Report.Execution
	x.DurationMS = float64(time.Since(x.Started)) / float64(time.Millisecond)
	if r.Err != nil {
		x.Error = r.Err.Error()
		x.Outcome = command.OutcomeOf(r.Err, x.Confinement)
		switch {
		case errors.Is(r.Err, ErrFailed):
			x.Outcome = command.Failed
		case r.Hook.Type != TypeCommand && x.Outcome == command.NotRun:
			x.Outcome = command.Failed
		}
		s.o.Log.Warn("dialect: hook failed", "dialect", s.dialect.Name, "hook", x.Hook, "event", x.Event, "event_id", x.EventID,
			"outcome", string(x.Outcome), "error", r.Err)
	}
	x.Quiet = r.Answer.Quiet
	s.meter.count(x)
	if s.o.Trace != nil {
		s.o.Trace(*x)
	}
	s.report(c, r)
}
