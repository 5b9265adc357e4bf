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
	e := edge.New(d.gateway, &edge.Options{Log: d.log, OnFallback: func(_ context.Context, e hook.Event, v hook.Verdict, note string) {
		// Beside the agent's way: it is the verdict that must be on record
		// before the answer leaves, and it is.
		recording.Go(func() { d.recordFallback(e, v, note) })
	}})
	d.onStop(e.Close)
	server, err := edge.Listen(d.paths.socket, e, &edge.ListenOptions{Log: d.log})
	if err != nil {
		return err
	}
	d.background("hook socket", server.Run)
	return nil
}

func (d *daemon) recordFallback(e hook.Event, v hook.Verdict, note string) {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	r := hook.Record{Kind: hook.RecordFallback, Time: time.Now().UTC(), Event: e, Verdict: &v, Note: note}
	if _, err := d.journal.Append(ctx, r); err != nil {
		d.log.Error("edge: not recorded that the agent was given another answer than the verdict", "event", e.ID, "note", note, "error", err)
	}
}
