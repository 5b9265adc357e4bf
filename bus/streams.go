package bus

import (
	"context"
	"errors"
	"fmt"

	"github.com/nats-io/nats.go/jetstream"
)

// StreamStatus is what `grapnel status` says of the notification stream.
type StreamStatus struct {
	Name     string `json:"name"`
	Messages uint64 `json:"messages"`
	Bytes    uint64 `json:"bytes"`
	// Handlers are those that consume from it.
	Handlers []HandlerStatus `json:"handlers,omitempty"`
}

// HandlerStatus is one handler's backlog.
type HandlerStatus struct {
	Name string `json:"name"`
	// Pending events have not been delivered to it yet; Unacknowledged ones
	// have, and are not done.
	Pending        uint64 `json:"pending"`
	Unacknowledged int    `json:"unacknowledged"`
	Redelivered    int    `json:"redelivered"`
}

// Streams reports the notification stream and its handlers' backlogs. The
// connection must be in account CONTROL.
func (c *Conn) Streams(ctx context.Context) (StreamStatus, error) {
	s := StreamStatus{Name: NotifyStream}
	stream, err := c.js.Stream(ctx, NotifyStream)
	if errors.Is(err, jetstream.ErrStreamNotFound) {
		return s, nil
	}
	if err != nil {
		return s, fmt.Errorf("stream %s: %w", NotifyStream, err)
	}
	state := stream.CachedInfo().State
	s.Messages, s.Bytes = state.Msgs, state.Bytes
	consumers := stream.ListConsumers(ctx)
	for info := range consumers.Info() {
		s.Handlers = append(s.Handlers, HandlerStatus{
			Name: info.Name, Pending: info.NumPending, Unacknowledged: info.NumAckPending, Redelivered: info.NumRedelivered,
		})
	}
	if err := consumers.Err(); err != nil {
		return s, fmt.Errorf("handlers of stream %s: %w", NotifyStream, err)
	}
	return s, nil
}
