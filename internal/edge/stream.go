package edge

import (
	"context"
	"sync"
	"time"

	"github.com/grapnel-dev/grapnel/bus/hook"
)

// streamed reports whether an event is a piece of a stream: they come by the
// dozen a second, and an agent must never wait for them.
func streamed(n hook.Name) bool {
	switch n {
	case hook.ModelStreamStart, hook.ModelStreamChunk, hook.ModelStreamEnd, hook.ModelThought, hook.AgentMessage:
		return true
	}
	return false
}

// stream publishes events in the background, in order, with one goroutine that
// starts with the first event.
type stream struct {
	queue   chan hook.Event
	stopped chan struct{} // closed when the goroutine is to stop at once
	start   sync.Once
	stop    sync.Once
	worker  sync.WaitGroup
	mu      sync.RWMutex // held for writing by close, so that nobody adds then
	closed  bool
}

// add queues an event and reports false when there is no room.
func (s *stream) add(e hook.Event, publish func(context.Context, hook.Event)) bool {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if s.closed {
		return false
	}
	s.start.Do(func() { s.worker.Go(func() { s.run(publish) }) })
	select {
	case s.queue <- e:
		return true
	default:
		return false
	}
}

func (s *stream) run(publish func(context.Context, hook.Event)) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	stop := make(chan struct{})
	defer close(stop)
	s.worker.Go(func() { // ends a publishing that hangs
		select {
		case <-s.stopped:
			cancel()
		case <-stop:
		}
	})
	for e := range s.queue {
		one, done := context.WithTimeout(ctx, DefaultPublishBudget)
		publish(one, e)
		done()
	}
}

// close drains the queue for at most patience.
func (s *stream) close(patience time.Duration) {
	s.mu.Lock()
	if !s.closed {
		s.closed = true
		close(s.queue)
	}
	s.mu.Unlock()
	timer := time.AfterFunc(patience, func() { s.stop.Do(func() { close(s.stopped) }) })
	defer timer.Stop()
	s.worker.Wait()
}
