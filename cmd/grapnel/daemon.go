package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/grapnel-dev/grapnel/bus"
	"github.com/grapnel-dev/grapnel/bus/hook"
	"github.com/grapnel-dev/grapnel/bus/natsd"
	"github.com/grapnel-dev/grapnel/internal/redact"
	"github.com/grapnel-dev/grapnel/runner/process"
	"github.com/grapnel-dev/grapnel/subscribers/audit"
	"github.com/grapnel-dev/grapnel/subscribers/command"
	"github.com/grapnel-dev/grapnel/subscribers/command/dialect"
	"github.com/grapnel-dev/grapnel/subscribers/policy"
)

// superviseCommand is the hidden first argument with which this program is the
// supervisor of one hook command.
const superviseCommand = "supervise"

// daemon is one running bus: everything that `up` starts, in one process.
type daemon struct {
	paths   paths
	broker  string // URL of a broker of one's own; empty embeds one
	listen  string // loopback TCP address of the embedded broker
	http    string // loopback TCP address for agents that post
	log     *slog.Logger
	started time.Time

	config  *config
	connect func(ctx context.Context, r natsd.Role, name string) (*bus.Conn, error)
	access  access

	policy  *policy.Decider
	journal *audit.Log
	roster  *bus.Roster
	gateway *bus.Gateway
	runner  *process.Runner
	hooks   []*command.Command
	asker   *asker
	poster  *poster
	others  []subscriber // prompt hooks and webhooks
	sets    []*dialect.Set
	traces  *traces

	announcer *announcer

	mu    sync.Mutex
	stops []func()   // in order of starting
	ended chan error // what ended by itself
	down  chan struct{}
	once  sync.Once
}

// start brings everything up, or nothing: after an error it has cleaned up.
func (d *daemon) start(ctx context.Context) (err error) {
	d.started, d.ended, d.down = time.Now(), make(chan error, 8), make(chan struct{})
	defer func() {
		if err != nil {
			d.stop()
			d.access.remove(d.paths)
		}
	}()
	if d.config, err = loadConfig(d.paths); err != nil {
		return err
	}
	// A policy that cannot be read must not start a bus without one.
	if err := os.MkdirAll(d.paths.state, 0o700); err != nil {
		return fmt.Errorf("state directory: %w", err)
	}
	if err := makePrivate(d.paths.state); err != nil {
		return fmt.Errorf("state directory: %w", err)
	}
	redactor, err := newRedactor(d.paths)
	if err != nil {
		return err
	}
	d.log, d.traces = slog.New(cleanLog{d.log.Handler(), redactor}), &traces{redactor: redactor}
	if len(d.paths.socket) > maxSocketPath {
		return fail(exitUsage, "give a shorter one with --socket or XDG_RUNTIME_DIR", fmt.Errorf("the path of the hook socket %s has %d bytes, and systems take %d", d.paths.socket, len(d.paths.socket), maxSocketPath))
	}
	if err := d.openPolicy(ctx); err != nil {
		return err
	}
	for _, step := range []func(context.Context) error{
		d.openBroker, d.openJournal, d.openHooks, d.openSubscribers, d.openDialects, d.openGateway, d.openDeciders, d.openControl,
		// Whoever has an answer from the hook socket can ask for the status.
		func(context.Context) error { return d.access.write(d.paths) }, d.openEdge,
	} {
		if err := step(ctx); err != nil {
			return err
		}
	}
	d.saveBundleLater()
	return nil
}

// wait returns when ctx ends, somebody asks for `down`, or a part of the
// daemon fails.
func (d *daemon) wait(ctx context.Context) error {
	select {
	case <-ctx.Done():
		return nil
	case <-d.down:
		return nil
	case err := <-d.ended:
		return err
	}
}

// stop ends everything in the opposite order of starting: first nothing new
// comes in, then what is under way is finished.
func (d *daemon) stop() {
	d.mu.Lock()
	stops := d.stops
	d.stops = nil
	d.mu.Unlock()
	for i := len(stops) - 1; i >= 0; i-- {
		stops[i]()
	}
}

func (d *daemon) onStop(f func()) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.stops = append(d.stops, f)
}

// background runs part of the daemon; its end before stop is the daemon's.
func (d *daemon) background(name string, run func(context.Context) error) {
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		err := run(ctx)
		if ctx.Err() != nil {
			return
		}
		if err == nil {
			err = errors.New("ended by itself")
		}
		select {
		case d.ended <- fmt.Errorf("%s: %w", name, err):
		default:
		}
	}()
	d.onStop(func() {
		cancel()
		<-done
	})
}

func (d *daemon) openJournal(context.Context) error {
	host, _ := os.Hostname()
	key, err := audit.LoadKey(d.paths.nodeKey(), "grapnel."+hook.Token(host))
	if err != nil {
		return fmt.Errorf("this node's signing key: %w", err)
	}
	redactor, err := newRedactor(d.paths)
	if err != nil {
		return err
	}
	d.journal, err = audit.Open(d.paths.auditDir(), key, &audit.Options{Redactor: redactor, Logger: d.log})
	if err != nil {
		return fmt.Errorf("audit log: %w", err)
	}
	d.onStop(func() {
		if err := d.journal.Close(); err != nil {
			d.log.Error("daemon: the audit log did not close cleanly", "error", err)
		}
	})
	return nil
}

func (d *daemon) openGateway(ctx context.Context) error {
	conn, err := d.connection(ctx, natsd.Gateway, "gateway")
	if err != nil {
		return err
	}
	conditions, err := d.conditions()
	if err != nil {
		return err
	}
	if d.roster, err = bus.OpenRoster(ctx, conn, conditions); err != nil {
		return err
	}
	d.onStop(d.roster.Close)
	redactor, err := newRedactor(d.paths)
	if err != nil {
		return err
	}
	fallback, err := d.config.defaultFor()
	if err != nil {
		return err
	}
	local := map[string]hook.Decider{policyDecider: d.policy, policyRewriter: d.policy}
	for _, s := range d.deciders() {
		local[s.entry.Name] = s.decider
	}
	d.gateway, err = bus.NewGateway(conn, d.roster, &bus.GatewayOptions{
		Local: local, Journal: d.journal, OnJournalFailure: d.config.Audit.OnFailure, Default: fallback, Log: d.log,
		Redact: func(b []byte) []byte { clean, _ := redactor.Bytes(b); return clean },
	})
	return err
}

// openDeciders puts everyone who decides on the bus, then into the roster, and
// only then lets the gateway answer.
func (d *daemon) openDeciders(ctx context.Context) error {
	conn, err := d.connection(ctx, natsd.Decider, "decider "+policyDecider)
	if err != nil {
		return err
	}
	for _, name := range []string{policyDecider, policyRewriter} {
		if err := d.respond(conn, name, d.policy); err != nil {
			return err
		}
	}
	for _, s := range d.deciders() {
		conn, err := d.connection(ctx, natsd.Decider, "decider "+s.entry.Name)
		if err != nil {
			return err
		}
		if err := d.respond(conn, s.entry.Name, s.decider); err != nil {
			return err
		}
	}
	if err := d.syncRoster(ctx); err != nil {
		return err
	}
	d.background("gateway", d.gateway.Run)
	select {
	case <-d.gateway.Ready():
	case err := <-d.ended:
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
	if d.announcer != nil {
		d.background("announcer", func(ctx context.Context) error { return d.announcer.run(ctx, d.gateway.Publish) })
	}
	return d.openHandlers(ctx)
}

// syncRoster writes who must be heard by the configuration.
func (d *daemon) syncRoster(ctx context.Context) error {
	entries := []hook.Entry{{Name: policyDecider, Filter: ">", Priority: 1000, Grants: true}}
	if d.policy.Policy().Rewrites() {
		// Twice: what other deciders make of the input after it must be judged
		// by the rules too, and nobody may rewrite then.
		entries = append(entries, hook.Entry{Name: policyRewriter, Filter: ">", Priority: 1000, Rewrites: true})
	}
	for _, s := range d.deciders() {
		entries = append(entries, s.entry)
	}
	_, err := d.roster.Sync(ctx, append(entries, d.config.Roster...))
	return err
}

// reload reads the policy anew. A bad one changes nothing but the health.
func (d *daemon) reload(ctx context.Context) error {
	if err := d.policy.Reload(ctx); err != nil {
		return err
	}
	d.saveBundle()
	return d.syncRoster(ctx)
}

func (d *daemon) respond(conn *bus.Conn, name string, decider hook.Decider) error {
	s, err := conn.Respond(name, decider, nil)
	if err != nil {
		return err
	}
	d.onStop(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
		defer cancel()
		s.Drain(ctx)
	})
	return nil
}

// conditions compiles the conditions of roster entries, all in one
// environment.
func (d *daemon) conditions() (func(string) (bus.Predicate, error), error) {
	o := policyOptions(d.paths)
	when, err := policy.NewWhen(&o)
	if err != nil {
		return nil, err
	}
	return func(expression string) (bus.Predicate, error) {
		f, err := when.Compile(expression)
		return bus.Predicate(f), err
	}, nil
}

func newRedactor(p paths) (*redact.Redactor, error) {
	key, err := secretFile(filepath.Join(p.state, "redact.key"), 32)
	if err != nil {
		return nil, err
	}
	return redact.New(&redact.Options{Key: key})
}

// wantsClass reports whether a filter can match events that block, or
// that do not.
func wantsClass(filter string, blocking bool) bool {
	for part := range strings.SplitSeq(filter, ",") {
		name, _, _ := strings.Cut(strings.TrimSpace(part), ".")
		if name == "" || name == "*" || name == ">" || hook.Name(name).Blocking() == blocking {
			return true
		}
	}
	return false
}
