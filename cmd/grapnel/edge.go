package main

import (
	"context"
	"sync"
	"time"

	"github.com/grapnel-dev/grapnel/bus/hook"
	"github.com/grapnel-dev/grapnel/internal/edge"
)

func (d *daemon) openEdge(context.Context) error {
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
	return nil
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
