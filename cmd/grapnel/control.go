package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/grapnel-dev/grapnel/bus"
	"github.com/grapnel-dev/grapnel/bus/hook"
	"github.com/grapnel-dev/grapnel/bus/natsd"
)

// What people may ask of a running daemon.
const (
	verbStatus       = "status"
	verbDown         = "down"
	verbReload       = "reload"
	verbTraces       = "traces"
	verbHookStats    = "hooks.stats"
	verbRosterList   = "roster.list"
	verbRosterSet    = "roster.set"
	verbRosterRemove = "roster.remove"
	verbRedact       = "audit.redact"
)

// openControl answers the command line.
func (d *daemon) openControl(ctx context.Context) error {
	conn, err := d.connection(ctx, natsd.Gateway, "control")
	if err != nil {
		return err
	}
	for verb, answer := range map[string]func(context.Context, []byte) (any, error){
		verbStatus: func(ctx context.Context, _ []byte) (any, error) { return d.status(ctx, conn), nil },
		verbDown: func(context.Context, []byte) (any, error) {
			d.once.Do(func() { close(d.down) })
			return struct{}{}, nil
		},
		verbReload: func(ctx context.Context, _ []byte) (any, error) {
			return struct{}{}, d.reload(ctx)
		},
		verbHookStats: func(context.Context, []byte) (any, error) { return d.hookMetrics(), nil },
		verbTraces:    func(context.Context, []byte) (any, error) { return d.traces.list(), nil },
		verbRosterList: func(context.Context, []byte) (any, error) {
			entries, revision := d.roster.Entries()
			return rosterList{entries, revision}, nil
		},
		verbRosterSet: func(ctx context.Context, body []byte) (any, error) {
			var e hook.Entry
			if err := json.Unmarshal(body, &e); err != nil {
				return nil, err
			}
			revision, err := d.roster.Set(ctx, e)
			return rosterList{Revision: revision}, err
		},
		verbRedact: func(ctx context.Context, body []byte) (any, error) {
			var r redaction
			if err := json.Unmarshal(body, &r); err != nil {
				return nil, err
			}
			return d.journal.Redact(ctx, r.Index, r.By, r.Reason)
		},
		verbRosterRemove: func(ctx context.Context, body []byte) (any, error) {
			revision, err := d.roster.Remove(ctx, string(body))
			return rosterList{Revision: revision}, err
		},
	} {
		s, err := conn.ServeControl(verb, func(ctx context.Context, body []byte) ([]byte, error) {
			v, err := answer(ctx, body)
			if err != nil {
				return nil, err
			}
			return json.Marshal(v)
		})
		if err != nil {
			return err
		}
		d.onStop(s.Close)
	}
	return nil
}

type rosterList struct {
	Entries  []bus.RosterEntry `json:"entries,omitempty"`
	Revision uint64            `json:"revision"`
}

// ask puts a question to the running daemon and decodes the answer into v.
func (a *app) ask(ctx context.Context, verb string, body []byte, v any) error {
	c, err := a.client(ctx, natsd.Gateway)
	if err != nil {
		return err
	}
	defer c.Close()
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	answer, err := c.Control(ctx, verb, body)
	if errors.Is(err, bus.ErrNoGateway) || errors.Is(err, context.DeadlineExceeded) {
		return fail(exitUnreachable, "see "+a.paths.daemonLog()+", or stop it with `kill` and start it again", fmt.Errorf("the daemon does not answer: %w", err))
	}
	if err != nil {
		return err
	}
	if v == nil {
		return nil
	}
	return json.Unmarshal(answer, v)
}

func (a *app) downCommand() *cobra.Command {
	return &cobra.Command{
		Use: "down", Short: "Stop the bus, after what is under way", Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			// The answer may get lost in the end that was asked for.
			if err := a.ask(c.Context(), verbDown, nil, nil); err != nil && !errors.Is(err, bus.ErrDisconnected) {
				return err
			}
			if err := a.awaitGone(c.Context(), 20*time.Second); err != nil {
				return err
			}
			fmt.Fprintln(a.out, "stopped")
			return nil
		},
	}
}

// awaitGone waits until the daemon has taken its access file away, which is the
// last thing that it does.
func (a *app) awaitGone(ctx context.Context, limit time.Duration) error {
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	timeout := time.After(limit)
	for exists(a.paths.access()) {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return ctx.Err()
		case <-timeout:
			return fmt.Errorf("the bus on %s has not stopped after %s", a.paths.state, limit)
		}
	}
	return nil
}

// printJSON writes v for programs.
func (a *app) printJSON(v any) error {
	enc := json.NewEncoder(a.out)
	enc.SetIndent("", "  ")
	enc.SetEscapeHTML(false)
	return enc.Encode(v)
}
