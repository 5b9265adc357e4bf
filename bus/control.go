package bus

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/nats-io/nats.go"
)

// controlPrefix is where a daemon answers to its own people. Only the gateway's
// user may publish there.
const controlPrefix = "control."

// ServeControl answers requests on control.<verb>: status, down and their
// like. f gets the request's body; what it returns is the answer's body. The
// connection must be the gateway's.
func (c *Conn) ServeControl(verb string, f func(ctx context.Context, body []byte) ([]byte, error)) (*Subscription, error) {
	ctx, cancel := context.WithCancel(context.Background())
	s := &Subscription{cancel: cancel, done: make(chan struct{})}
	var err error
	s.sub, err = c.nc.Subscribe(controlPrefix+verb, func(m *nats.Msg) {
		s.work.Go(func() {
			bounded, stop := context.WithTimeout(ctx, 30*time.Second)
			defer stop()
			reply := &nats.Msg{Subject: m.Reply}
			body, err := f(bounded, m.Data)
			if err != nil {
				reply.Header = nats.Header{errorHeader: {oneLine(clip(err.Error()))}, errorCodeHeader: {"500"}}
			}
			reply.Data = body
			if err := c.nc.PublishMsg(reply); err != nil {
				c.log.Error("bus: control answer could not be sent", "verb", verb, "error", err)
			}
		})
	})
	if err == nil {
		err = c.nc.FlushTimeout(5 * time.Second)
	}
	if err != nil {
		s.Close()
		return nil, fmt.Errorf("serve control.%s: %w", verb, err)
	}
	return s, nil
}

// Control asks a daemon something, see [Conn.ServeControl]. The error is what
// the daemon said, or [ErrNoGateway] when there is none.
func (c *Conn) Control(ctx context.Context, verb string, body []byte) ([]byte, error) {
	reply, err := c.request(ctx, &nats.Msg{Subject: controlPrefix + verb, Data: body})
	if err != nil {
		return nil, err
	}
	if why := reply.Header.Get(errorHeader); why != "" {
		return nil, errors.New(why)
	}
	return reply.Data, nil
}
