package bus

import (
	"context"
	"errors"
	"fmt"

	"github.com/nats-io/nats.go"

	"github.com/grapnel-dev/grapnel/bus/hook"
	"github.com/grapnel-dev/grapnel/internal/strictjson"
)

// Request asks for the verdict on a blocking event and waits for it until ctx
// ends. Where ctx has a deadline and the event none, the event gets that one.
//
// It returns [ErrNoGateway], [ErrDisconnected], [ErrForbidden], [ErrRefused],
// [ErrVerdict], ctx's error, or an error that wraps cloudevent.ErrEvent. There
// is no verdict beside an error: the caller fails the event by its class, which
// is what [hook.Event.Unanswered] says.
func (c *Conn) Request(ctx context.Context, e hook.Event) (hook.Verdict, error) {
	if deadline, ok := ctx.Deadline(); ok && e.Deadline.IsZero() {
		e.Deadline = deadline
	}
	m, err := message(HookSubject(e), e)
	if err != nil {
		return hook.Verdict{}, err
	}
	reply, err := c.request(ctx, m)
	if err != nil {
		return hook.Verdict{}, err
	}
	if why := reply.Header.Get(errorHeader); why != "" {
		return hook.Verdict{}, fmt.Errorf("%w: %s", ErrRefused, why)
	}
	return decodeVerdict(reply.Data, e, hook.Digest(m.Data))
}

// Publish hands over a notification event and returns once it is stored. The
// errors are those of [Conn.Request].
func (c *Conn) Publish(ctx context.Context, e hook.Event) (hook.Receipt, error) {
	var r hook.Receipt
	m, err := message(HookSubject(e), e)
	if err != nil {
		return r, err
	}
	reply, err := c.request(ctx, m)
	if err != nil {
		return r, err
	}
	if why := reply.Header.Get(errorHeader); why != "" {
		return r, fmt.Errorf("%w: %s", ErrRefused, why)
	}
	if err := strictjson.Unmarshal(reply.Data, &r, maxVerdict); err != nil || r.EventID != e.ID {
		return r, fmt.Errorf("the answer is no receipt for this event: %w", errors.Join(err, ErrVerdict))
	}
	return r, nil
}

// request sends m and waits for the one answer. A broken connection and a
// refused subject end the wait at once: NATS itself would leave both to the
// deadline.
func (c *Conn) request(ctx context.Context, m *nats.Msg) (*nats.Msg, error) {
	if !c.nc.IsConnected() {
		return nil, ErrDisconnected
	}
	failed, stop := c.failures()
	defer stop()
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	done := make(chan struct{})
	var reply *nats.Msg
	var err error
	go func() {
		defer close(done)
		reply, err = c.nc.RequestMsgWithContext(ctx, m)
	}()
	select {
	case <-done:
	case why := <-failed:
		cancel(why)
		<-done
	}
	switch {
	case err == nil:
		return reply, nil
	case errors.Is(err, nats.ErrNoResponders):
		return nil, ErrNoGateway
	case errors.Is(err, nats.ErrConnectionClosed), errors.Is(err, nats.ErrReconnectBufExceeded):
		return nil, ErrDisconnected
	case errors.Is(err, nats.ErrMaxPayload):
		return nil, fmt.Errorf("the event has %d bytes, more than the broker takes (%d)", len(m.Data), c.nc.MaxPayload())
	}
	if cause := context.Cause(ctx); cause != nil {
		return nil, fmt.Errorf("waiting for an answer on %s: %w", m.Subject, cause)
	}
	return nil, fmt.Errorf("request on %s: %w", m.Subject, err)
}
