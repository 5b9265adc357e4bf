package dialect

import (
	"context"
	"sync"
)

// maxBackground is how many hooks of one dialect run in the background at a
// time. More are failures: a queue would only hide that they take too long.
const maxBackground = 32

// background runs what nobody waits for.
type background struct {
	ctx    context.Context
	cancel context.CancelFunc
	slots  chan struct{}
	mu     sync.Mutex
	closed bool
	all    sync.WaitGroup
}

func newBackground() *background {
	b := &background{slots: make(chan struct{}, maxBackground)}
	b.ctx, b.cancel = context.WithCancel(context.Background())
	return b
}

// run starts f with the values of ctx; false means that there is no room.
func (b *background) run(ctx context.Context, f func(context.Context)) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closed {
		return false
	}
	select {
	case b.slots <- struct{}{}:
	default:
		return false
	}
	ctx, cancel := context.WithCancel(ctx)
	stop := context.AfterFunc(b.ctx, cancel)
	b.all.Go(func() {
		defer func() {
			stop()
			cancel()
			<-b.slots
		}()
		f(ctx)
	})
	return true
}

func (b *background) close() {
	b.mu.Lock()
	b.closed = true
	b.mu.Unlock()
	b.cancel()
	b.all.Wait()
}
