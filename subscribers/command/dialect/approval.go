package dialect

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/grapnel-dev/grapnel/bus/hook"
	"github.com/grapnel-dev/grapnel/runner/process"
	"github.com/grapnel-dev/grapnel/runner/trust"
)

// Trust decides on hooks that need approval. All sets of a process share one;
// whoever made it closes both parts when the sets are closed.
type Trust struct {
	Gauge *trust.Gauge
	Store *trust.Store
}

// approved says whether a hook may run: the reason why it does not, or an
// error when it was approved and cannot run as it was. The measurement holds
// the bytes that run; nil means that there is nothing to hold on to.
//
// A hook of the person's own configuration that runs a file of the workspace
// runs what the workspace says: it needs approval for that workspace, too.
func (s *Set) approved(h Hook, c *Call) (reason string, m *trust.Measurement, blocked error) {
	own := loosens(h.Origin.Source)
	if own && (h.Type != TypeCommand || c.Workspace == "" || h.Origin.Source == trust.Builtin || s.o.Trust == nil) {
		return "", nil, nil
	}
	d := s.definition(h, c)
	if own && !s.mayTouch(d) {
		return "", nil, nil
	}
	// Asked last: it looks at files.
	if (own || h.Origin.Source == trust.Workspace) && s.trusted(c.Workspace) {
		return "", nil, nil
	}
	if s.o.Trust == nil {
		return notApproved(h), nil, nil
	}
	m, err := s.o.Trust.Gauge.Measure(d)
	switch {
	case err == nil:
	case own && errors.Is(err, process.ErrNotFound):
		return "", nil, nil // fails when it is run, and says so
	default:
		return s.unmeasured(d, h, err)
	}
	if own {
		if !inside(m, c.Workspace) {
			return "", s.release(m), nil
		}
		_ = m.Close()
		// Once more as what it is: a hook of this workspace.
		d.Source, d.ID = trust.Workspace, d.ID+"@"+c.Workspace
		if m, err = s.o.Trust.Gauge.Measure(d); err != nil {
			return s.unmeasured(d, h, err)
		}
	}
	state, err := s.o.Trust.Store.Check(m)
	switch {
	case err != nil:
		return "", s.release(m), fmt.Errorf("%w: %w", ErrChanged, err)
	case state.Runs():
		return "", m, nil
	case state == trust.Changed:
		return "", s.release(m), fmt.Errorf("%w (%s); look at it with `grapnel trust list` and approve it again with `grapnel trust add`", ErrChanged, h.Origin.File)
	case state == trust.Refused:
		return "it was refused: `grapnel trust list` says by whom", s.release(m), nil
	}
	return notApproved(h), s.release(m), nil
}

func notApproved(h Hook) string {
	why := "it comes from a " + string(h.Origin.Source)
	switch {
	case loosens(h.Origin.Source):
		why = "it runs a file of the workspace"
	case h.Origin.Source == trust.Downloaded:
		why = "it was downloaded"
	case h.Origin.Source == trust.Extension:
		why = "it comes from an extension"
	}
	return why + " and is not approved; look at it with `grapnel trust list`, approve it with `grapnel trust add`"
}

func (s *Set) release(m *trust.Measurement) *trust.Measurement {
	_ = m.Close()
	return nil
}

// unmeasured decides on a hook whose bytes cannot be read: one that was
// approved is missed.
func (s *Set) unmeasured(d trust.Definition, h Hook, err error) (reason string, m *trust.Measurement, blocked error) {
	if _, had, findErr := s.o.Trust.Store.Find(d); had || findErr != nil {
		return "", nil, fmt.Errorf("%w: %w", ErrChanged, errors.Join(err, findErr))
	}
	return "it is not approved and cannot be: " + err.Error(), nil, nil
}

// definition is what an approval of the hook is about.
func (s *Set) definition(h Hook, c *Call) trust.Definition {
	d := trust.Definition{
		Dialect: s.dialect.Name, File: h.Origin.File, ID: strings.TrimPrefix(h.ID(), h.Origin.File+"#"), Name: h.Label(),
		Source: h.Origin.Source, Workspace: c.Workspace, Config: h.Definition, SearchPath: s.path, Files: h.Files, Env: s.o.Env,
	}
	if h.Type != TypeCommand {
		d.Dir = c.Workspace
		return d
	}
	// What is run does not depend on the event.
	feed, err := s.dialect.Feed(h, &Call{Name: c.Name, Workspace: c.Workspace, Event: hook.Event{Name: c.Event.Name}})
	if err != nil {
		feed = Feed{Shell: h.Shell, Command: h.Command}
	}
	d.Shell, d.Dir = feed.Shell, s.dir(h, c, feed.Dir)
	if argv, err := s.program(h, c, feed.Command); err == nil {
		d.Command = argv
	} else {
		d.Command = feed.Command
	}
	return d
}

// mayTouch reports whether a hook of the person's own could run a file of the
// workspace: a word of it names one, or has a variable in a path. It spares the
// measuring of those that do not, which is most of them.
func (s *Set) mayTouch(d trust.Definition) bool {
	text := d.Shell
	if text == "" {
		text = strings.Join(d.Command, " ")
	}
	if variablePath.MatchString(text) || len(d.Files) > 0 {
		return true
	}
	for word := range strings.FieldsFuncSeq(text, func(r rune) bool { return strings.ContainsRune(" \t\n;&|<>()`'\"$={}", r) }) {
		path := word
		if rest, ok := strings.CutPrefix(word, "~/"); ok {
			path = filepath.Join(s.o.Home, rest)
		}
		if filepath.IsAbs(path) {
			if within(d.Workspace, path) {
				return true
			}
			continue
		}
		if word == "cd" || strings.Contains(word, "/") || strings.ContainsAny(word, "*?[\\") {
			return true
		}
		if _, err := os.Lstat(filepath.Join(d.Dir, path)); err == nil {
			return true
		}
	}
	return false
}

// variablePath is a variable that a path goes on after.
var variablePath = regexp.MustCompile(`\$\{?[A-Za-z_][A-Za-z0-9_]*\}?["']?/|\$\(.*\)["']?/`)

// inside reports whether a file of the workspace is part of what runs.
func inside(m *trust.Measurement, workspace string) bool {
	return slices.ContainsFunc(m.Parts(), func(p trust.Part) bool {
		return p.Role != trust.RoleDefinition && p.Path != "" && within(workspace, p.Path)
	})
}

// within reports whether a path lies in a directory, as it is written or where
// symbolic links lead.
func within(dir, path string) bool {
	for _, real := range []bool{false, true} {
		for _, p := range []*string{&dir, &path} {
			if resolved, err := filepath.EvalSymlinks(*p); real && err == nil {
				*p = resolved
			}
		}
		if rel, err := filepath.Rel(dir, path); err == nil && filepath.IsLocal(rel) {
			return true
		}
	}
	return false
}

// Candidate is a hook that needs approval, and what approvals say about it.
type Candidate struct {
	Hook  Hook
	State trust.State
	// Measurement is what would be approved; the caller closes it. Nil where
	// Err says why there is none.
	Measurement *trust.Measurement
	Err         error
}

// Candidates lists the hooks of a workspace that need approval. Nothing is
// run.
func (s *Set) Candidates(ctx context.Context, workspace string) ([]Candidate, error) {
	if s.o.Trust == nil {
		return nil, fmt.Errorf("%w: there are no approvals here", ErrUnavailable)
	}
	var list []Candidate
	hooks, _ := s.Hooks(workspace)
	for _, h := range hooks {
		if err := ctx.Err(); err != nil {
			return list, err
		}
		switch own := loosens(h.Origin.Source); {
		case h.Disabled, own && (h.Type != TypeCommand || workspace == ""),
			s.trusted(workspace) && (own || h.Origin.Source == trust.Workspace):
			continue
		}
		c := &Call{Name: h.Events[0], Workspace: workspace}
		if names := s.dialect.Vocabulary.Canonical(c.Name); len(names) > 0 {
			c.Event.Name = names[0]
		}
		d := s.definition(h, c)
		m, err := s.o.Trust.Gauge.Measure(d)
		if loosens(h.Origin.Source) {
			if err != nil || !inside(m, workspace) {
				if m != nil {
					_ = m.Close()
				}
				continue
			}
			_ = m.Close()
			d.Source, d.ID = trust.Workspace, d.ID+"@"+workspace
			m, err = s.o.Trust.Gauge.Measure(d)
		}
		candidate := Candidate{Hook: h, Measurement: m, Err: err, State: trust.New}
		if err == nil {
			candidate.State, candidate.Err = s.o.Trust.Store.Check(m)
		} else if _, had, findErr := s.o.Trust.Store.Find(d); had && findErr == nil {
			candidate.State = trust.Changed // it is missed
		}
		list = append(list, candidate)
	}
	return list, nil
}
