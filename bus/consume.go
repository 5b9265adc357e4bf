package bus

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/grapnel-dev/grapnel/bus/cloudevent"
	"github.com/grapnel-dev/grapnel/bus/hook"
)

// ConsumeOptions tune [Conn.Consume]. The zero value works.
type ConsumeOptions struct {
	// Filter selects events, see [hook.Pattern]; empty means all.
	Filter string
	// Workers is how many events are handled at the same time. Defaults to 8.
	Workers int
	// MaxDeliveries is how often an event is tried. Defaults to 5.
	MaxDeliveries int
	// AckWait is how long a handler that shows no sign of life is waited for
	// before the event is given to somebody else. Defaults to 30 s; while the
	// handler runs, signs of life are sent.
	AckWait time.Duration
}

// Consume makes h the handler called name: every matching notification event
// reaches it at least once, also those that come while nobody runs it, from
// the first event after name was first used. Processes under one name share
// the events. An error from h has the event delivered again, later each time;
// after the last delivery it is given up and logged.
//
// The connection must be in account CONTROL.
func (c *Conn) Consume(ctx context.Context, name string, h hook.Handler, o *ConsumeOptions) (*Subscription, error) {
	if err := (hook.Entry{Name: name}).Validate(); err != nil {
		return nil, err
	}
	if o == nil {
		o = new(ConsumeOptions)
	}
	pattern, err := hook.ParsePattern(o.Filter)
	if err != nil {
		return nil, err
	}
	opts := *o
	if opts.Workers <= 0 {
		opts.Workers = 8
	}
	if opts.MaxDeliveries <= 0 {
		opts.MaxDeliveries = 5
	}
	if opts.AckWait <= 0 {
		opts.AckWait = 30 * time.Second
	}
	consumer, err := c.js.CreateOrUpdateConsumer(ctx, NotifyStream, jetstream.ConsumerConfig{
		Durable: name, AckPolicy: jetstream.AckExplicitPolicy, DeliverPolicy: jetstream.DeliverNewPolicy,
		AckWait: opts.AckWait, MaxDeliver: opts.MaxDeliveries, MaxAckPending: 4 * opts.Workers,
	})
	if err != nil {
		return nil, fmt.Errorf("consume as %s: %w", name, err)
	}
	messages, err := consumer.Messages(jetstream.PullMaxMessages(opts.Workers))
	if err != nil {
		return nil, fmt.Errorf("consume as %s: %w", name, err)
	}
	run, cancel := context.WithCancel(context.Background())
	s := &Subscription{cancel: cancel, done: make(chan struct{}), stop: messages.Stop}
	w := consumerWork{conn: c, name: name, handler: h, pattern: pattern, opts: opts}
	slots := make(chan struct{}, opts.Workers)
	s.work.Go(func() {
		var handling sync.WaitGroup
		defer handling.Wait()
		for {
			m, err := messages.Next()
			if errors.Is(err, jetstream.ErrMsgIteratorClosed) {
				return
			}
			if err != nil {
				c.log.Warn("bus: handler cannot fetch events", "handler", name, "error", err)
				continue
			}
			select {
			case slots <- struct{}{}:
			case <-run.Done():
				return
			}
			handling.Go(func() {
				defer func() { <-slots }()
				w.handle(run, m)
			})
		}
	})
	return s, nil
}

type consumerWork struct {
	conn    *Conn
	name    string
	handler hook.Handler
	pattern hook.Pattern
	opts    ConsumeOptions
}

func (w consumerWork) handle(ctx context.Context, m jetstream.Msg) {
	e, err := w.event(ctx, m)
	if err == nil && !w.pattern.Match(e.Name, e.Subject) {
		_ = m.Ack() // a lost ack only means another look
		return
	}
	if err == nil {
		err = w.call(ctx, e, m)
	}
	if err == nil {
		if err := m.DoubleAck(ctx); err != nil {
			w.conn.log.Warn("bus: handled event not acknowledged", "handler", w.name, "event", e.ID, "error", err)
		}
		return
	}
	var tries uint64 = 1
	if meta, metaErr := m.Metadata(); metaErr == nil {
		tries = meta.NumDelivered
	}
	if tries >= uint64(w.opts.MaxDeliveries) || errors.Is(err, cloudevent.ErrEvent) {
		w.conn.log.Error("bus: event given up", "handler", w.name, "event", e.ID, "tries", tries, "error", err)
		_ = m.TermWithReason(oneLine(clip(err.Error())))
		return
	}
	w.conn.log.Warn("bus: handler failed, will be tried again", "handler", w.name, "event", e.ID, "tries", tries, "error", err)
	_ = m.NakWithDelay(min(time.Second<<(tries-1), time.Minute))
}

func (w consumerWork) event(ctx context.Context, m jetstream.Msg) (hook.Event, error) {
	e, err := cloudevent.DecodeAttributes(m.Headers())
	if err != nil {
		return e, err
	}
	body := m.Data()
	if e.DataRef != "" {
		if body, err = w.conn.fetchBlob(ctx, e.DataRef); err != nil {
			return e, err
		}
	}
	return e, cloudevent.DecodeData(&e, body)
}

// call runs the handler with signs of life, and turns a panic into an error.
func (w consumerWork) call(ctx context.Context, e hook.Event, m jetstream.Msg) (err error) {
	stop := make(chan struct{})
	var beating sync.WaitGroup
	beating.Go(func() {
		tick := time.NewTicker(w.opts.AckWait / 3)
		defer tick.Stop()
		for {
			select {
			case <-tick.C:
				_ = m.InProgress()
			case <-stop:
				return
			}
		}
	})
	defer beating.Wait()
	defer close(stop)
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v", p)
		}
	}()
	return w.handler.Handle(ctx, e)
}
