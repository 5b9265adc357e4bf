package bus

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/grapnel-dev/grapnel/bus/cloudevent"
	"github.com/grapnel-dev/grapnel/bus/hook"
)

// BeatInterval is how often a decider that is still working says so. The
// gateway gives up after three that did not come.
const BeatInterval = 2 * time.Second

// RespondOptions tune [Conn.Respond]. The zero value works.
type RespondOptions struct {
	// Workers is how many events are decided at the same time. Defaults to 64.
	Workers int
	// Log defaults to the connection's.
	Log *slog.Logger
}

// Subscription is a decider's or handler's place on the bus.
type Subscription struct {
	sub    *nats.Subscription
	cancel context.CancelFunc
	work   sync.WaitGroup
	once   sync.Once
	done   chan struct{}
	stop   func()
}

// Close stops taking events, cancels those being worked on and waits until
// they have returned. It is idempotent.
func (s *Subscription) Close() {
	s.once.Do(func() {
		if s.sub != nil {
			_ = s.sub.Unsubscribe() // on a closed connection there is nothing left to do
		}
		if s.stop != nil {
			s.stop()
		}
		s.cancel()
		s.work.Wait()
		close(s.done)
	})
	<-s.done
}

// Drain stops taking events and waits until those being worked on are
// finished, or ctx ends; then it closes.
func (s *Subscription) Drain(ctx context.Context) {
	if s.sub != nil {
		_ = s.sub.Unsubscribe()
	}
	if s.stop != nil {
		s.stop()
	}
	finished := make(chan struct{})
	go func() {
		s.work.Wait()
		close(finished)
	}()
	select {
	case <-finished:
	case <-ctx.Done():
	}
	s.Close()
}

// Done is closed when the subscription has ended.
func (s *Subscription) Done() <-chan struct{} { return s.done }

// Respond makes d the decider called name: it is asked about the events for
// which the roster has an entry of that name. Several processes may respond
// under one name; each event goes to one of them. The connection must be in
// account CONTROL, as a user that may subscribe to decide.<name>.>.
//
// A decider that panics or returns an error is recorded as crashed; it is
// asked again for the next event.
func (c *Conn) Respond(name string, d hook.Decider, o *RespondOptions) (*Subscription, error) {
	if err := (hook.Entry{Name: name}).Validate(); err != nil {
		return nil, err
	}
	if o == nil {
		o = new(RespondOptions)
	}
	workers := o.Workers
	if workers <= 0 {
		workers = 64
	}
	log := o.Log
	if log == nil {
		log = c.log
	}
	ctx, cancel := context.WithCancel(context.Background())
	s := &Subscription{cancel: cancel, done: make(chan struct{})}
	slots := make(chan struct{}, workers)
	r := responder{conn: c, name: name, decider: d, log: log}
	var err error
	s.sub, err = c.nc.QueueSubscribe(decidePrefix+name+".>", name, func(m *nats.Msg) {
		select {
		case slots <- struct{}{}:
		case <-ctx.Done():
			return
		}
		s.work.Go(func() {
			defer func() { <-slots }()
			r.answer(ctx, m)
		})
	})
	if err == nil {
		err = c.nc.FlushTimeout(5 * time.Second)
	}
	if err != nil {
		s.Close()
		return nil, fmt.Errorf("respond as %s: %w", name, err)
	}
	return s, nil
}

type responder struct {
	conn    *Conn
	name    string
	decider hook.Decider
	log     *slog.Logger
}

func (r responder) answer(ctx context.Context, m *nats.Msg) {
	reply := &nats.Msg{Subject: m.Reply}
	d, err := r.decide(ctx, m)
	if err != nil {
		r.log.Warn("bus: decider failed", "decider", r.name, "subject", m.Subject, "error", err)
		reply.Header = nats.Header{statusHeader: {statusError}}
		reply.Data = []byte(clip(err.Error()))
	} else {
		reply.Data = marshal(d)
	}
	if err := r.conn.nc.PublishMsg(reply); err != nil {
		r.log.Error("bus: decision could not be sent", "decider", r.name, "error", err)
	}
}

func (r responder) decide(ctx context.Context, m *nats.Msg) (hook.Decision, error) {
	var d hook.Decision
	e, err := cloudevent.DecodeAttributes(m.Header)
	if err != nil {
		return d, err
	}
	body := m.Data
	if e.DataRef != "" {
		if body, err = r.conn.fetchBlob(ctx, e.DataRef); err != nil {
			return d, err
		}
	}
	if err := cloudevent.DecodeData(&e, body); err != nil {
		return d, err
	}
	if !e.Deadline.IsZero() {
		var cancel context.CancelFunc
		ctx, cancel = context.WithDeadline(ctx, e.Deadline)
		defer cancel()
	}
	// The beat says that this process is alive and at it; it is no promise
	// that an answer will come.
	var beat *time.Timer
	var mu sync.Mutex
	stopped := false
	beat = time.AfterFunc(BeatInterval, func() {
		mu.Lock()
		defer mu.Unlock()
		if stopped {
			return
		}
		_ = r.conn.nc.PublishMsg(&nats.Msg{Subject: m.Reply, Header: nats.Header{statusHeader: {statusWorking}}})
		beat.Reset(BeatInterval)
	})
	defer func() {
		mu.Lock()
		stopped = true
		mu.Unlock()
		beat.Stop()
	}()
	return decideSafely(ctx, r.decider, e)
}
