package main

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/grapnel-dev/grapnel/bus/hook"
	"github.com/grapnel-dev/grapnel/runner/process"
	"github.com/grapnel-dev/grapnel/runner/trust"
	"github.com/grapnel-dev/grapnel/subscribers/command"
	"github.com/grapnel-dev/grapnel/subscribers/command/claudeagent"
	"github.com/grapnel-dev/grapnel/subscribers/command/claudecode"
	"github.com/grapnel-dev/grapnel/subscribers/command/cliagent"
	"github.com/grapnel-dev/grapnel/subscribers/command/dialect"
	"github.com/grapnel-dev/grapnel/subscribers/command/dialects"
	"github.com/grapnel-dev/grapnel/subscribers/command/ollm"
	"github.com/grapnel-dev/grapnel/subscribers/command/pack"
	"github.com/grapnel-dev/grapnel/subscribers/policy"
)

// approvals is the file of what may run from workspaces and downloads.
func (p paths) approvals() string { return filepath.Join(p.state, "trust", "approvals.json") }

// openTrust opens the approvals and what measures hooks.
func openTrust(p paths) (*dialect.Trust, func(), error) {
	if err := os.MkdirAll(p.state, 0o700); err != nil {
		return nil, nil, fmt.Errorf("state directory: %w", err)
	}
	store, err := trust.Open(p.approvals())
	if err != nil {
		return nil, nil, fmt.Errorf("approvals: %w", err)
	}
	gauge := trust.NewGauge(&trust.Options{Dir: filepath.Join(p.state, "trust", "copies")})
	return &dialect.Trust{Gauge: gauge, Store: store}, func() {
		_ = gauge.Close()
		_ = store.Close()
	}, nil
}

// setOptions are what the dialects of one process share.
type setOptions struct {
	runner  *process.Runner
	trust   *dialect.Trust
	asker   *asker
	poster  *poster
	trace   func(command.Execution)
	publish func(hook.Event)
	log     *slog.Logger
}

// openSets makes the dialects ready that the configuration names. The caller
// closes them.
func openSets(c *config, p paths, o setOptions) (sets []*dialect.Set, err error) {
	defer func() {
		if err != nil {
			closeSets(sets)
		}
	}()
	when, err := policy.NewWhen(ptr(policyOptions(p)))
	if err != nil {
		return nil, err
	}
	for _, dc := range c.Dialects {
		d, err := newDialect(dc.Name)
		if err != nil {
			return sets, err
		}
		if dc.Timeout > 0 {
			d.Timeout = time.Duration(dc.Timeout)
		}
		trusts := c.Trust.trusts
		if d.Name == ollm.Name {
			trusts = func(workspace string) bool { return c.Trust.trusts(workspace) || ollmTrusts(home()) }
		}
		options := &dialect.Options{
			Home: home(), Env: dc.Env, Runner: o.runner, OnFailure: dc.OnFailure, Grants: dc.Grants, Rewrites: dc.Rewrites, Trust: o.trust,
			TrustWorkspace: trusts, SkipOwn: d.Name == claudeagent.Name && c.speaks(claudecode.Agent), Sandbox: dc.Sandbox,
			Ask: o.asker.ask, Post: o.poster.post, When: when.Compile,
			Publish: o.publish, Trace: o.trace, Subagents: dc.Subagents, Budget: dc.Budget, Log: o.log,
		}
		for _, name := range dc.Files {
			if rest, ok := strings.CutPrefix(name, "~/"); ok {
				name = filepath.Join(home(), rest)
			}
			options.Files = append(options.Files, dialect.File{Path: c.file(name), Source: trust.User})
		}
		options.Files = append(options.Files, pack.Files(p.packs(), d.Name)...)
		set, err := dialect.NewSet(d, options)
		if err != nil {
			return sets, err
		}
		sets = append(sets, set)
	}
	return sets, nil
}

func closeSets(sets []*dialect.Set) {
	for _, s := range sets {
		_ = s.Close()
	}
}

// newDialect makes a dialect. The cli-agent's has settings in the environment;
// it is this process's own, which a daemon that a hook starts does not have from
// the agent.
func newDialect(name string) (*dialect.Dialect, error) {
	if name == cliagent.Name {
		settings, err := cliagent.ReadEnvironment(os.Environ())
		if err != nil {
			return nil, err
		}
		return cliagent.New(settings), nil
	}
	d, ok := dialects.Find(name)
	if !ok {
		return nil, fmt.Errorf("there is no hook dialect %q", name)
	}
	return d, nil
}

// ollmTrusts reports whether the person's own ollm configuration says that
// workspaces need no approval (D3).
func ollmTrusts(home string) bool {
	names, err := filepath.Glob(filepath.Join(home, ".ollm", "hooks", "*.json"))
	if err != nil {
		return false
	}
	return slices.ContainsFunc(names, func(name string) bool {
		info, err := os.Stat(name)
		if err != nil || !info.Mode().IsRegular() || info.Size() > dialect.MaxFile {
			return false
		}
		text, err := os.ReadFile(name)
		return err == nil && ollm.TrustsWorkspaces(text)
	})
}

// speaks reports whether a dialect is switched on.
func (c *config) speaks(name string) bool {
	return slices.ContainsFunc(c.Dialects, func(d dialectConfig) bool { return d.Name == name })
}

// home is the person's home directory, where dialects have their files.
func home() string {
	dir, err := os.UserHomeDir()
	if err != nil {
		return string(filepath.Separator)
	}
	return dir
}

func ptr[T any](v T) *T { return &v }

// openDialects makes the dialects ready, and what tells about their runs.
func (d *daemon) openDialects(context.Context) error {
	if len(d.config.Dialects) == 0 {
		return nil
	}
	tr, closeTrust, err := openTrust(d.paths)
	if err != nil {
		return err
	}
	d.onStop(closeTrust)
	d.announcer = newAnnouncer(d.log)
	d.sets, err = openSets(d.config, d.paths, setOptions{
		runner: d.runner, trust: tr, asker: d.asker, poster: d.poster, trace: d.traces.add, publish: d.announcer.announce, log: d.log,
	})
	if err != nil {
		return err
	}
	d.onStop(func() { closeSets(d.sets) })
	return nil
}

// notificationFilter selects the notification events that a dialect has a name
// for.
func notificationFilter(d *dialect.Dialect) string {
	var list []string
	for _, e := range d.Vocabulary.Events {
		if !e.Canonical.Blocking() {
			list = append(list, string(e.Canonical)+".*")
		}
	}
	return strings.Join(list, ",")
}

// announcer publishes the runs of hooks as events. What tells about hooks must
// not hold them up, so there is a queue, and what does not fit is logged.
type announcer struct {
	queue chan hook.Event
	log   *slog.Logger
}

func newAnnouncer(log *slog.Logger) *announcer {
	return &announcer{queue: make(chan hook.Event, 1024), log: log}
}

func (a *announcer) announce(e hook.Event) {
	select {
	case a.queue <- e:
	default:
		a.log.Warn("daemon: an execution event was dropped, there are too many", "event", string(e.Name), "hook", e.Data.Message)
	}
}

// run publishes until ctx ends, and then what is left.
func (a *announcer) run(ctx context.Context, publish func(context.Context, hook.Event) (hook.Receipt, error)) error {
	one := func(ctx context.Context, e hook.Event) {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
		defer cancel()
		if _, err := publish(ctx, e); err != nil {
			a.log.Warn("daemon: an execution event was not published", "event", string(e.Name), "error", err)
		}
	}
	for {
		select {
		case e := <-a.queue:
			one(ctx, e)
		case <-ctx.Done():
			for {
				select {
				case e := <-a.queue:
					one(ctx, e)
				default:
					return nil
				}
			}
		}
	}
}
