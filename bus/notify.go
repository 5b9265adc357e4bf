package bus

import (
	"context"
	"fmt"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/grapnel-dev/grapnel/bus/cloudevent"
	"github.com/grapnel-dev/grapnel/bus/hook"
)

// notifier puts notification events into the stream.
type notifier struct {
	conn   *Conn
	redact func([]byte) []byte
}

// setup makes the stream where it is not there yet.
func (n *notifier) setup(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	_, err := n.conn.js.CreateOrUpdateStream(ctx, jetstream.StreamConfig{
		Name: NotifyStream, Description: "notification events, for handlers",
		Subjects: []string{notifyPrefix + ">"}, Retention: jetstream.LimitsPolicy, Discard: jetstream.DiscardOld,
		MaxAge: 7 * 24 * time.Hour, MaxBytes: 1 << 30, Duplicates: 10 * time.Minute,
	})
	if err != nil {
		return fmt.Errorf("make stream %s: %w", NotifyStream, err)
	}
	return nil
}

// store puts e into the stream; the same event (source and id) only once.
func (n *notifier) store(ctx context.Context, e hook.Event) (hook.Receipt, error) {
	e.Raw = n.redact(e.Raw)
	if len(e.Raw) > inlineData {
		ref, err := n.conn.storeBlob(ctx, e.Raw)
		if err != nil {
			return hook.Receipt{}, err
		}
		e.DataRef, e.Raw = ref, nil
		e.Data = hook.Data{Native: hook.Native{Agent: e.Data.Native.Agent, Event: e.Data.Native.Event}}
	}
	header, body, err := cloudevent.Encode(e)
	if err != nil {
		return hook.Receipt{}, err
	}
	ack, err := n.conn.js.PublishMsg(ctx, &nats.Msg{Subject: notifySubject(e), Header: header, Data: body},
		jetstream.WithMsgID(hook.Digest([]byte(e.Source+"\x00"+e.ID))), jetstream.WithExpectStream(NotifyStream))
	if err != nil {
		return hook.Receipt{}, fmt.Errorf("store the event: %w", err)
	}
	return hook.Receipt{EventID: e.ID, Stream: ack.Stream, Sequence: ack.Sequence, Duplicate: ack.Duplicate}, nil
}

// accept stores one notification event, answers with a receipt, and has it
// recorded and shown to watchers.
func (g *Gateway) accept(ctx context.Context, m *nats.Msg, e hook.Event) {
	bounded, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	receipt, err := g.notify.store(bounded, e)
	if err != nil {
		g.refuse(m, e, err)
		return
	}
	g.stats.notifications.Add(1)
	if err := g.conn.nc.PublishMsg(&nats.Msg{Subject: m.Reply, Data: marshal(receipt)}); err != nil {
		g.log.Error("bus: receipt could not be sent", "event", e.ID, "error", err)
	}
	g.record(ctx, hook.Record{Kind: hook.RecordNotification, Time: time.Now().UTC(), Caller: caller(m), Event: e})
	g.live(e, nil)
}
