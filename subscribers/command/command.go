package command

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"runtime"
	"strings"
	"time"

	"github.com/grapnel-dev/grapnel/bus/hook"
	"github.com/grapnel-dev/grapnel/runner/process"
)

// Options tune a [Command]. The zero value works.
type Options struct {
	// Runner starts the command. Defaults to one without a supervisor, see
	// [process.Options].
	Runner *process.Runner
	// Environ is what the environment is taken from; defaults to os.Environ
	// at the time of New.
	Environ []string
	// Grace is the time between SIGTERM and SIGKILL; defaults to
	// [process.DefaultGrace].
	Grace time.Duration
	// Trace is called after each run, from the goroutine of the run; it must
	// not block. Defaults to none.
	Trace func(Execution)
	// Log defaults to none.
	Log *slog.Logger
}

// Command is one hook command, ready to be run. It is a [hook.Decider] and a
// [hook.Handler]; all methods may be called concurrently.
type Command struct {
	hook      Hook
	arguments []argument
	runner    *process.Runner
	environ   []string
	path      string
	grace     time.Duration
	trace     func(Execution)
	log       *slog.Logger
}

var (
	_ hook.Decider = (*Command)(nil)
	_ hook.Handler = (*Command)(nil)
)

// New makes a hook ready: it validates the configuration and finds the program.
// The error wraps [ErrConfig]. Nothing is started.
func New(h Hook, o *Options) (*Command, error) {
	if o == nil {
		o = new(Options)
	}
	if err := h.Validate(); err != nil {
		return nil, err
	}
	c := &Command{
		hook: h, runner: o.Runner, environ: o.Environ, grace: o.Grace, trace: o.Trace, log: o.Log,
	}
	if c.runner == nil {
		c.runner = process.New(nil)
	}
	if c.environ == nil {
		c.environ = os.Environ()
	}
	if c.log == nil {
		c.log = slog.New(slog.DiscardHandler)
	}
	if h.Shell != "" && runtime.GOOS == "windows" {
		return nil, fmt.Errorf("%w: hook %q: shell: there is no POSIX shell on Windows; write the command as a list", ErrConfig, h.Name)
	}
	path := ""
	for _, entry := range c.environ {
		if v, ok := strings.CutPrefix(entry, "PATH="); ok {
			path = v
		}
	}
	c.path = process.CleanPath(path)
	if len(h.Command) > 0 {
		program, err := process.Lookup(h.Command[0], path)
		if err != nil {
			return nil, fmt.Errorf("%w: hook %q: command: %w", ErrConfig, h.Name, err)
		}
		if c.arguments, err = parseArguments(h.Command); err != nil {
			return nil, fmt.Errorf("%w: hook %q: command: %w", ErrConfig, h.Name, err)
		}
		c.arguments[0].text = program
	}
	return c, nil
}

// Hook returns the configuration.
func (c *Command) Hook() Hook { return c.hook }

// Entry is the hook's place in the roster.
func (c *Command) Entry() hook.Entry { return c.hook.Entry() }

// Decide runs the command for a blocking event and reads its answer. When ctx
// ends, the command and all that it started are ended first; that takes the
// grace and a second at most.
//
// Every failure is an error: one of package process, or one that wraps
// [ErrFeed], [ErrTemplate], [ErrExit] or [ErrAnswer].
func (c *Command) Decide(ctx context.Context, e hook.Event) (hook.Decision, error) {
	report, err := c.run(ctx, e, true)
	if err != nil {
		return hook.Decision{}, err
	}
	return *report.Decision, nil
}

// Handle runs the command for a notification event. Exit code 0 is success,
// whatever the command wrote. The rules of Decide hold otherwise.
func (c *Command) Handle(ctx context.Context, e hook.Event) error {
	_, err := c.run(ctx, e, false)
	return err
}

// Test runs the command for an event as the bus would, and reports everything.
// The error is the one that Decide or Handle would return; the report says how
// far it went.
func (c *Command) Test(ctx context.Context, e hook.Event) (Report, error) {
	return c.run(ctx, e, e.Name.Blocking())
}

func (c *Command) run(ctx context.Context, e hook.Event, decide bool) (Report, error) {
	report := Report{Execution: Execution{
		Hook: c.hook.Name, EventID: e.ID, Event: e.Key(), SessionID: e.SessionID, Hops: e.Hops,
		Started: time.Now(), ExitCode: -1,
	}}
	err := c.execute(ctx, e, decide, &report)
	report.DurationMS = float64(time.Since(report.Started)) / float64(time.Millisecond)
	if err != nil {
		err = fmt.Errorf("hook %s: %w", c.hook.Name, err)
		report.Outcome, report.Error = OutcomeOf(err, report.Confinement), err.Error()
		c.log.WarnContext(ctx, "command: hook failed", "hook", c.hook.Name, "event", report.Event, "event_id", e.ID,
			"outcome", string(report.Outcome), "error", err)
	}
	if c.trace != nil {
		c.trace(report.Execution)
	}
	return report, err
}

func (c *Command) execute(ctx context.Context, e hook.Event, decide bool, report *Report) error {
	f, err := c.feed(e)
	report.Omitted = f.omitted
	if err != nil {
		return err
	}
	result, err := report.Run(ctx, c.runner, f.spec)
	if err != nil {
		return err
	}
	if !decide {
		if result.ExitCode != 0 {
			return exitError(result)
		}
		report.Outcome = Handled
		return nil
	}
	d, err := c.read(result)
	if err != nil {
		return err
	}
	report.Outcome, report.Decision = Decided, &d
	report.Effect, report.Reason = &d.Effect, d.Reason
	return nil
}
