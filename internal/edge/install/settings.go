package install

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"

	"github.com/grapnel-dev/grapnel/bus/hook"
	"github.com/grapnel-dev/grapnel/internal/edge"
	"github.com/grapnel-dev/grapnel/internal/edge/hookwire"
)

// Settings are one agent's settings of one scope, with the hook program that
// is or is not registered in them.
type Settings struct {
	target target
	scope  Scope
	path   string
	binary string
	flags  []string
	http   *HTTP // nil when all are commands
	wanted []registration
}

// registration is one event's entry in the settings.
type registration struct {
	event string
	// seconds is the agent's time-out for the hook, longer than the hook's own.
	seconds int
	// gate: a hook that fails must not let the action through.
	gate bool
}

// New names an agent's settings of a scope. binary is the absolute path of
// grapnel-hook; it may be empty when nothing is going to be installed.
func New(agent string, scope Scope, binary string, o *Options) (*Settings, error) {
	if o == nil {
		o = &Options{}
	}
	t, ok := targetOf(agent)
	wanted := registrations(agent, o.MessageDisplay)
	if !ok || len(wanted) == 0 {
		return nil, fmt.Errorf("there is no agent %.40q whose settings are known; they are %v", agent, Agents())
	}
	if o.HTTP != nil {
		if err := errors.Join(CheckHTTP(agent, scope), o.HTTP.check()); err != nil {
			return nil, err
		}
	}
	path, err := t.path(scope, o.place())
	if err != nil {
		return nil, err
	}
	if runtime.GOOS == "windows" {
		// The hook runs in a shell to which a backslash means something else.
		binary = filepath.ToSlash(binary)
	}
	return &Settings{target: t, scope: scope, path: path, binary: binary, flags: o.Flags, http: o.HTTP, wanted: wanted}, nil
}

func (t target) path(scope Scope, p place) (string, error) {
	switch scope {
	case User:
		return t.user(p)
	case Project:
		if t.project == "" {
			return "", fmt.Errorf("%s reads hooks from the user's settings alone", t.agent)
		}
		return p.within(t.project)
	}
	return "", fmt.Errorf("there is no scope %q; it is user or project", string(scope))
}

// Agent is the agent's name on the command line.
func (s *Settings) Agent() string { return s.target.agent }

// Path is the path of the settings file, or of the directory of hook files,
// as Cline has it. It need not exist.
func (s *Settings) Path() string { return s.path }

// Note is what somebody who has installed it should know; empty when there is
// nothing.
func (s *Settings) Note() string {
	if s.http != nil {
		return httpNote
	}
	if s.target.note == nil {
		return ""
	}
	return s.target.note(s.scope)
}

// PlanInstall returns the change after which every event in [Events] is
// registered with this binary, once, and nothing of ours besides. Entries of
// ours that stand there already and do the same stay as they are.
func (s *Settings) PlanInstall() (*Plan, error) {
	if !filepath.IsAbs(s.binary) {
		return nil, fmt.Errorf("the hook binary %q must be an absolute path", s.binary)
	}
	if info, err := os.Stat(s.binary); err != nil {
		return nil, fmt.Errorf("the hook binary is not there (%w); build it first: without it, %s", err, s.target.without)
	} else if info.IsDir() || (runtime.GOOS != "windows" && info.Mode()&0o111 == 0) {
		return nil, fmt.Errorf("the hook binary %s is not an executable file", s.binary)
	}
	return s.plan(s.wanted)
}

// PlanUninstall returns the change after which nothing of ours is registered,
// with this binary or another. What is empty then, groups, events and the
// object around them, goes too; and a file that was ours alone.
func (s *Settings) PlanUninstall() (*Plan, error) { return s.plan(nil) }

func (s *Settings) plan(wanted []registration) (*Plan, error) {
	changes, left, err := s.target.format.plan(s, s.path, wanted)
	if err != nil {
		return nil, err
	}
	p := &Plan{Changes: changes, Left: left}
	if s.http != nil && len(wanted) > 0 {
		for _, c := range changes {
			p.Notes = append(p.Notes, c.tighten()...)
		}
	}
	return p, nil
}

// line is what the agent gives to a shell to start the hook.
func (s *Settings) line(event string) string {
	return commandLine(s.binary, s.flags, s.target.agent, event)
}

const (
	waitedFor = 30 // seconds; the agent waits for a verdict
	notWaited = 10 // it waits for a receipt
	atItsEnd  = 2  // its end waits for the longest one registered
)

// registrations lists the entries to have, in the order of an agent's life.
func registrations(agent string, streams bool) []registration {
	var list []registration
	for _, c := range edge.Capabilities() {
		if c.Agent != agent || !registered(c, streams) {
			continue
		}
		r := registration{event: c.Event, seconds: waitedFor, gate: hookwire.ClassOf(c.Event) == hookwire.Gate}
		switch {
		case c.Canonical == hook.SessionEnd && agent == hookwire.ClaudeCode,
			(c.Canonical == hook.SessionEnd || c.Canonical == hook.Interrupt) && agent == hookwire.Codex:
			r.seconds = atItsEnd
		case hookwire.ClassOf(c.Event) == hookwire.Notification:
			r.seconds = notWaited
		}
		list = append(list, r)
	}
	return list
}

// registered reports whether an event gets an entry.
func registered(c edge.Capability, streams bool) bool {
	if c.Canonical == hook.ModelStreamChunk {
		return streams
	}
	return c.Installed
}

// Events lists the events of an agent that an installation registers when
// nothing else is asked for.
func Events(agent string) []string {
	var names []string
	for _, r := range registrations(agent, false) {
		names = append(names, r.event)
	}
	return names
}
