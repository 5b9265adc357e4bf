package main

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/grapnel-dev/grapnel/bus/hook"
	"github.com/grapnel-dev/grapnel/internal/edge"
	"github.com/grapnel-dev/grapnel/internal/edge/httpedge"
)

func (d *daemon) openEdge(ctx context.Context) error {
	var recording sync.WaitGroup
	d.onStop(recording.Wait)
	// Beside the agent's way: what must be on record before an answer leaves is
	// the verdict, and it is; a refusal lets nothing run.
	e := edge.New(d.gateway, &edge.Options{
		Log: d.log,
		OnFallback: func(_ context.Context, e hook.Event, v hook.Verdict, note string) {
			recording.Go(func() {
				d.record(hook.Record{Kind: hook.RecordFallback, Event: e, Verdict: &v, Note: note})
			})
		},
		OnRefusal: func(_ context.Context, e hook.Event, err error) {
			recording.Go(func() {
				d.record(hook.Record{Kind: hook.RecordRefused, Caller: "edge", Event: e, Note: err.Error()})
			})
		},
	})
	d.onStop(e.Close)
	server, err := edge.Listen(d.paths.socket, e, &edge.ListenOptions{Log: d.log})
	if err != nil {
		return err
	}
	d.background("hook socket", server.Run)
	return d.openHTTP(ctx, e)
}

// openHTTP opens the endpoint for agents that post, where one is configured.
func (d *daemon) openHTTP(ctx context.Context, e *edge.Edge) error {
	if d.http == "" {
		d.http = d.config.HTTP.Listen
	}
	if d.http == "" {
		return nil
	}
	token, err := httpToken(d.paths)
	if err != nil {
		return fmt.Errorf("token for HTTP: %w", err)
	}
	h, err := httpedge.NewHandler(e, d.gateway, token, d.log)
	if err != nil {
		return err
	}
	server, err := httpedge.Listen(ctx, d.http, h)
	if errors.Is(err, httpedge.ErrAddress) {
		return fail(exitUsage, "", err)
	}
	if err != nil {
		return fail(exitFailed, "name another address under http: listen: in the configuration, or with --http", err)
	}
	d.access.HTTP = "http://" + server.Addr()
	d.background("http endpoint", server.Run)
	return d.access.write(d.paths)
}

// httpToken is what callers over HTTP show. It stays the same, since it stands
// in agents' settings.
func httpToken(p paths) (string, error) {
	text, err := os.ReadFile(p.httpToken())
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", err
	}
	token := strings.TrimSpace(string(text))
	if len(token) < httpedge.MinToken {
		token = rand.Text() + rand.Text()
	}
	return token, writePrivate(p.httpToken(), []byte(token+"\n")) // for nobody else to read, whatever it was
}

// record appends what nobody waits for.
func (d *daemon) record(r hook.Record) {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	r.Time = time.Now().UTC()
	if _, err := d.journal.Append(ctx, r); err != nil {
		d.log.Error("edge: not recorded", "kind", string(r.Kind), "event", r.Event.ID, "note", r.Note, "error", err)
	}
}
