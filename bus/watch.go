package bus

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"strings"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/grapnel-dev/grapnel/bus/cloudevent"
	"github.com/grapnel-dev/grapnel/bus/hook"
	"github.com/grapnel-dev/grapnel/internal/strictjson"
)

// Observation is one event as watchers see it, secrets removed, with its
// verdict if it was a blocking one.
type Observation struct {
	Event   hook.Event
	Verdict *hook.Verdict
}

type wireObservation struct {
	Event   json.RawMessage `json:"event"`
	Verdict *hook.Verdict   `json:"verdict,omitempty"`
}

// MarshalJSON writes the event as a structured CloudEvent beside the verdict.
func (o Observation) MarshalJSON() ([]byte, error) {
	event, err := cloudevent.Marshal(o.Event)
	if err != nil {
		return nil, err
	}
	return json.Marshal(wireObservation{Event: event, Verdict: o.Verdict})
}

// A watcher says every aliveEvery that it is there, and is believed for
// aliveFor.
const (
	aliveEvery = 5 * time.Second
	aliveFor   = 4 * aliveEvery
)

func (g *Gateway) watcherAlive(m *nats.Msg) {
	g.watched.Store(time.Now().Add(aliveFor).UnixNano())
	// A watcher chooses its reply subject, and we may publish anywhere: it
	// gets its answer in an inbox, which must not be ours, or nowhere.
	if strings.HasPrefix(m.Reply, "_INBOX_") && !strings.HasPrefix(m.Reply, InboxPrefix(g.conn.user)) {
		_ = m.Respond([]byte("ok")) // else the watcher asks again
	}
}

func (g *Gateway) someoneWatches() bool { return time.Now().UnixNano() <= g.watched.Load() }

// live shows an event to watchers, if there are any. Nobody waits for it, and
// a slow watcher loses events rather than hold anybody up.
func (g *Gateway) live(e hook.Event, v *hook.Verdict) {
	if !g.someoneWatches() {
		return
	}
	e.Raw = g.redact(e.Raw)
	if len(e.Raw) > inlineData {
		e.Raw = nil
		e.Data = hook.Data{CWD: e.Data.CWD, Native: hook.Native{Agent: e.Data.Native.Agent, Event: e.Data.Native.Event}}
	}
	event, err := cloudevent.Marshal(e)
	if err != nil {
		g.log.Error("bus: event cannot be shown to watchers", "event", e.ID, "error", err)
		return
	}
	if v != nil {
		copied := *v
		copied.Input = nil // it may hold what was redacted from the event
		v = &copied
	}
	body := g.redact(marshal(wireObservation{Event: event, Verdict: v}))
	if err := g.conn.nc.PublishMsg(&nats.Msg{Subject: liveSubject(e), Data: body}); err != nil {
		g.log.Warn("bus: event not shown to watchers", "event", e.ID, "error", err)
	}
}

// Watch yields events with their verdicts as they happen, those whose key
// ("pre_tool_use.bash") matches pattern, until ctx ends or the loop breaks. It
// yields an error and ends when the connection does. What happens while the
// consumer of the sequence is busy waits in a bounded queue; beyond that it is
// lost.
func (c *Conn) Watch(ctx context.Context, pattern hook.Pattern) (iter.Seq2[Observation, error], error) {
	sub, err := c.nc.SubscribeSync(eventsPrefix + ">")
	if err != nil {
		return nil, fmt.Errorf("watch: %w", err)
	}
	// Gateways make live copies only while somebody says that it watches. The
	// answer means that one has heard it.
	first, cancel := context.WithTimeout(ctx, aliveEvery)
	defer cancel()
	if _, err := c.request(first, &nats.Msg{Subject: aliveSubject}); err != nil {
		_ = sub.Unsubscribe()
		return nil, fmt.Errorf("watch: %w", err)
	}
	return func(yield func(Observation, error) bool) {
		defer func() { _ = sub.Unsubscribe() }()
		// A broken connection is not waited for: what happened meanwhile would
		// be missing without a word.
		failed, stop := c.failures()
		defer stop()
		if !c.nc.IsConnected() { // it broke before anybody listened for that
			yield(Observation{}, fmt.Errorf("watch: %w", ErrDisconnected))
			return
		}
		ctx, cancel := context.WithCancelCause(ctx)
		defer cancel(nil)
		broken := make(chan struct{})
		defer func() { cancel(nil); <-broken }()
		go func() {
			defer close(broken)
			select {
			case err := <-failed:
				cancel(err)
			case <-ctx.Done():
			}
		}()
		said := time.Now()
		for {
			if time.Since(said) >= aliveEvery {
				said = time.Now()
				_ = c.nc.Publish(aliveSubject, nil) // a broken connection shows below
			}
			m, err := nextWithin(ctx, sub, aliveEvery)
			if cause := context.Cause(ctx); errors.Is(cause, ErrDisconnected) || errors.Is(cause, ErrForbidden) {
				yield(Observation{}, fmt.Errorf("watch: %w", cause))
				return
			}
			if ctx.Err() != nil {
				return
			}
			if errors.Is(err, context.DeadlineExceeded) {
				continue
			}
			if err != nil {
				yield(Observation{}, fmt.Errorf("watch: %w", err))
				return
			}
			o, err := decodeObservation(m.Data)
			if err == nil && !pattern.Match(o.Event.Name, o.Event.Subject) {
				continue
			}
			if !yield(o, err) {
				return
			}
		}
	}, nil
}

func nextWithin(ctx context.Context, sub *nats.Subscription, d time.Duration) (*nats.Msg, error) {
	ctx, cancel := context.WithTimeout(ctx, d)
	defer cancel()
	return sub.NextMsgWithContext(ctx)
}

func decodeObservation(b []byte) (Observation, error) {
	var w wireObservation
	if err := strictjson.Unmarshal(b, &w, maxVerdict); err != nil {
		return Observation{}, fmt.Errorf("watch: unreadable: %w", err)
	}
	e, err := cloudevent.Unmarshal(w.Event)
	if err != nil {
		return Observation{}, fmt.Errorf("watch: %w", err)
	}
	return Observation{Event: e, Verdict: w.Verdict}, nil
}
