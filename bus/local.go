package bus

import (
	"context"
	"fmt"
	"runtime/debug"
	"time"

	"github.com/grapnel-dev/grapnel/bus/cloudevent"
	"github.com/grapnel-dev/grapnel/bus/hook"
)

// localCaller is who asked, on record, when it was this process itself.
const localCaller = "local"

// Request is [Conn.Request] for callers in the gateway's own process: the same
// happens to the event, without the way through the broker, which on an idle
// machine costs more than everything else.
func (g *Gateway) Request(ctx context.Context, e hook.Event) (hook.Verdict, error) {
	if deadline, ok := ctx.Deadline(); ok && e.Deadline.IsZero() {
		e.Deadline = deadline
	}
	end, err := g.begin(&e)
	if err != nil {
		return hook.Verdict{}, err
	}
	defer end()
	if !e.Name.Blocking() {
		return hook.Verdict{}, fmt.Errorf("%w: nobody decides on %s", cloudevent.ErrEvent, e.Name)
	}
	v := g.settle(ctx, e, func() string { return localCaller })
	if g.someoneWatches() {
		g.work.Go(func() { g.live(e, &v) })
	}
	return v, nil
}

// Publish is [Conn.Publish] for callers in the gateway's own process.
func (g *Gateway) Publish(ctx context.Context, e hook.Event) (hook.Receipt, error) {
	end, err := g.begin(&e)
	if err != nil {
		return hook.Receipt{}, err
	}
	defer end()
	r, err := g.notify.store(ctx, e)
	if err != nil {
		return r, err
	}
	g.stats.notifications.Add(1)
	g.work.Go(func() {
		g.record(context.WithoutCancel(ctx), hook.Record{Kind: hook.RecordNotification, Time: time.Now().UTC(), Caller: localCaller, Event: e})
		g.live(e, nil)
	})
	return r, nil
}

// begin takes an event from this process in the same way as one from the bus.
func (g *Gateway) begin(e *hook.Event) (end func(), err error) {
	if !g.conn.nc.IsConnected() {
		return nil, ErrDisconnected
	}
	// What could not travel is not decided on either.
	_, body, err := cloudevent.Encode(*e)
	if err != nil {
		return nil, err
	}
	if err := checkEvent(*e); err != nil {
		return nil, fmt.Errorf("%w: %w", cloudevent.ErrEvent, err)
	}
	if e.Raw == nil {
		e.Raw = body
	}
	select {
	case g.slots <- struct{}{}:
	default:
		g.stats.overloaded.Add(1)
		return nil, errOverloaded
	}
	if !g.enter() {
		<-g.slots
		return nil, ErrNoGateway
	}
	return func() {
		<-g.slots
		g.work.Done()
	}, nil
}

// enter counts one more piece of work, unless Run has not begun or has ended:
// it waits for what was counted before.
func (g *Gateway) enter() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if !g.running || g.ended {
		return false
	}
	g.work.Add(1)
	return true
}

// local asks a decider in this process.
func (g *Gateway) local(ctx context.Context, e hook.Event, i int, d hook.Decider, replies chan<- reply) func() error {
	return func() error {
		g.work.Go(func() {
			r := reply{question: i}
			decision, err := decideSafely(ctx, d, e)
			if err == nil {
				// The same as over the bus, limits included.
				r = classifyDecision(marshal(decision))
				r.question = i
			} else {
				r.kind, r.err = replyCrashed, clip(err.Error())
			}
			select {
			case replies <- r:
			case <-ctx.Done(): // nobody waits any more
			}
		})
		return nil
	}
}

func decideSafely(ctx context.Context, d hook.Decider, e hook.Event) (decision hook.Decision, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v\n%s", p, debug.Stack())
		}
	}()
	return d.Decide(ctx, e)
}
