package dialect

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"

	"github.com/grapnel-dev/grapnel/bus/hook"
	"github.com/grapnel-dev/grapnel/runner/process"
	"github.com/grapnel-dev/grapnel/subscribers/command"
)

// Options tune a [Set]. The zero value works: command hooks of the person's
// own files run; what needs approval, a model or an endpoint does not.
type Options struct {
	// Home is what "~" stands for; defaults to os.UserHomeDir.
	Home string
	// Files are read before the dialect's own, such as a configuration that was
	// moved here from an agent.
	Files []File
	// Environ is what the environment of hooks is taken from; defaults to
	// os.Environ at the time of New.
	Environ []string
	// Env names variables of Environ that hooks get besides the usual ones.
	Env []string
	// Runner starts hook commands. Defaults to one without a supervisor.
	Runner *process.Runner
	// OnFailure is what the failure of a hook counts as that says nothing else.
	// Empty means the dialect's own rule: it is gone on from.
	OnFailure hook.FailurePolicy
	// Grants overrides [Dialect.Grants], Rewrites [Dialect.Rewrites]. Hooks that
	// may not rewrite are asked at the same time as everybody else, about the
	// input as others left it.
	Grants, Rewrites *bool
	// Trust knows the approvals. Without one, hooks that need approval do not
	// run.
	Trust *Trust
	// TrustWorkspace reports whether a workspace's hooks need no approval.
	TrustWorkspace func(workspace string) bool
	// Sandbox is what hooks run in that say nothing about it, and all those that
	// others wrote.
	Sandbox process.Sandbox
	// Ask asks a language model; without it prompt hooks fail.
	Ask func(context.Context, Question) (Answer, error)
	// Post sends a request to an HTTP hook; without it those fail.
	Post func(context.Context, Request) (Output, error)
	// When compiles a condition; without it hooks that have one fail.
	When func(expression string) (func(hook.Event) (bool, error), error)
	// Publish takes execution events (A8). It must not block.
	Publish func(hook.Event)
	// Trace is called after each run and must not block.
	Trace func(command.Execution)
	// SkipOwn leaves out the hooks of the agent's own files ([Origin.Own]): the
	// agent's own dialect is switched on as well and runs them.
	SkipOwn bool
	// Subagents lets the events of sub-agents run hooks in dialects that leave
	// them out (A10).
	Subagents bool
	// Budget is how often one hook may run for one session within a minute;
	// defaults to 600.
	Budget int
	// Log defaults to none.
	Log *slog.Logger
}

// Set is the hooks of one dialect on one machine. It is a [hook.Decider] and a
// [hook.Handler]. All methods may be called concurrently.
type Set struct {
	dialect *Dialect
	o       Options
	path    string // for looking up programs

	grants, rewrites bool

	loader     *loader
	registry   *registry
	conditions *conditions
	cache      *cache
	once       *seen
	budget     *budget
	meter      *meter
	background *background
	prompts    *prompts
}

var (
	_ hook.Decider = (*Set)(nil)
	_ hook.Handler = (*Set)(nil)
)

// NewSet makes a dialect ready to run. Nothing is read or started yet. Close
// it when it is not needed any more.
func NewSet(d *Dialect, o *Options) (*Set, error) {
	if o == nil {
		o = new(Options)
	}
	s := &Set{dialect: d, o: *o}
	if s.o.Home == "" {
		home, err := os.UserHomeDir()
		if err != nil {
			return nil, fmt.Errorf("dialect %s: its files are in the home directory, and there is none: %w", d.Name, err)
		}
		s.o.Home = home
	}
	if s.o.Environ == nil {
		s.o.Environ = os.Environ()
	}
	if s.o.Runner == nil {
		s.o.Runner = process.New(nil)
	}
	if s.o.Budget == 0 {
		s.o.Budget = 600
	}
	if s.o.Log == nil {
		s.o.Log = slog.New(slog.DiscardHandler)
	}
	for _, entry := range s.o.Environ {
		if v, ok := strings.CutPrefix(entry, "PATH="); ok {
			s.path = process.CleanPath(v)
		}
	}
	s.grants, s.rewrites = d.Grants, d.Rewrites
	if s.o.Grants != nil {
		s.grants = *s.o.Grants
	}
	if s.o.Rewrites != nil {
		s.rewrites = *s.o.Rewrites
	}
	s.loader = newLoader(d, s.o.Files, s.o.Home, s.o.Log)
	s.registry = new(registry)
	s.conditions = &conditions{compile: s.o.When}
	s.cache, s.once = newCache(), newSeen()
	s.budget, s.meter = newBudget(s.o.Budget), newMeter()
	s.background = newBackground()
	s.prompts = newPrompts()
	return s, nil
}

// Close ends the hooks that run in the background and waits for them.
func (s *Set) Close() error {
	s.background.close()
	return nil
}

// Dialect returns the dialect; it must not be changed.
func (s *Set) Dialect() *Dialect { return s.dialect }

// Entry is the set's place in the roster. Its hooks have their own time-outs.
func (s *Set) Entry() hook.Entry {
	var events []string
	for _, e := range s.dialect.Vocabulary.Events {
		if e.Canonical.Blocking() {
			events = append(events, string(e.Canonical)+".*")
		}
	}
	if _, named := s.dialect.Vocabulary.Event(hook.UserPromptSubmit); s.dialect.LastPrompt && !named {
		events = append(events, string(hook.UserPromptSubmit)+".*")
	}
	return hook.Entry{
		Name: s.dialect.Name, Filter: strings.Join(events, ","), Rewrites: s.rewrites, Grants: s.grants,
	}
}

// Decide runs the hooks for a blocking event. An event that no hook is for is
// abstained from.
//
// The error wraps one of this package's or of package process's errors when a
// hook failed in a way that must not be gone on from.
func (s *Set) Decide(ctx context.Context, e hook.Event) (hook.Decision, error) {
	sum := s.Run(ctx, e)
	return sum.Decision, sum.Err
}

// Handle runs the hooks for a notification event. What went wrong with a hook is
// traced and no error, whatever it was: the event would come again, and with it
// the hooks that did their part. The error is that of ctx.
func (s *Set) Handle(ctx context.Context, e hook.Event) error {
	s.Run(ctx, e)
	return ctx.Err()
}

// Run plans and executes the hooks for an event, and says everything there is
// to know about it.
func (s *Set) Run(ctx context.Context, e hook.Event) Summary {
	if s.dialect.LastPrompt && e.Name == hook.UserPromptSubmit && e.Data.Subagent == nil {
		s.prompts.note(e.SessionID, e.Data.Prompt)
	}
	p, ok := s.Plan(e)
	if !ok {
		return Summary{}
	}
	return s.Execute(ctx, p)
}

// Hooks returns the hooks that there are for a workspace ("" for none), in the
// order of files, and what is wrong in these. Registered ones come last.
func (s *Set) Hooks(workspace string) ([]Hook, []Problem) {
	l := s.loader.load(workspace)
	return append(append([]Hook(nil), l.hooks...), s.registry.all()...), l.problems
}

// dir is where a hook runs.
func (s *Set) dir(h Hook, c *Call, fed string) string {
	dir := fed
	if dir == "" {
		dir = h.Dir
	}
	if rest, ok := strings.CutPrefix(dir, "~/"); ok {
		return filepath.Join(s.o.Home, rest)
	}
	if filepath.IsAbs(dir) {
		return filepath.Clean(dir)
	}
	base := c.Workspace
	if base == "" {
		base = string(filepath.Separator)
	}
	return filepath.Join(base, dir)
}
