package process

import (
	"context"
	"errors"
	"fmt"
	"net"
	"sync"
	"time"
)

// noSandbox is why runs without a supervisor have none.
const noSandbox = "only supervised commands have one (Options.Supervisor)"

func (r *Runner) start(ctx context.Context, s Spec, theirs files, tag string) (*child, error) {
	if len(r.options.Supervisor) == 0 {
		return startDirect(s, theirs, tag)
	}
	pool := r.pool
	if s.Sandbox.on() {
		pool = r.boxed
	}
	for attempt := 0; ; attempt++ {
		a, err := pool.take()
		if err != nil {
			return nil, err
		}
		rep, taken, err := a.start(ctx, s, theirs)
		if err == nil {
			return r.follow(pool, a, rep, tag), nil
		}
		if !errors.Is(err, ErrSupervisor) {
			pool.give(a)
			return &child{enforced: rep.sandbox}, err
		}
		if !a.destroy(-1, tag) {
			return nil, errors.Join(err, ErrSurvivors)
		}
		// One that was killed while it was idle never read the order, so that
		// another can be asked; a command is never started twice.
		if ctx.Err() != nil || taken || attempt == 1 {
			return nil, startCause(ctx, s, err)
		}
		r.log.Warn("process: an idle supervisor was gone, starting another", "error", err)
	}
}

// startCause is the error of a command whose start was never reported.
func startCause(ctx context.Context, s Spec, err error) error {
	switch {
	case ctx.Err() != nil:
		return fmt.Errorf("%w: %s: %w", cancelKind(ctx), s.Command[0], context.Cause(ctx))
	case errors.Is(err, net.ErrClosed) && s.Timeout > 0: // see ask
		return fmt.Errorf("%w: %s took longer than %s, and its start was not reported", ErrTimedOut, s.Command[0], s.Timeout)
	}
	return err
}

// follow waits for the supervisor's report on a command it has started.
func (r *Runner) follow(pool *pool, a *attendant, started report, tag string) *child {
	leader := int(started.a)
	// Once the report is there the supervisor may be another run's, and an
	// order that comes too late must not reach that.
	var mu sync.Mutex
	over := false
	tell := func(o order) {
		mu.Lock()
		defer mu.Unlock()
		if over {
			return
		}
		a.order(o)
		if o == orderKill {
			// One that was stopped or hangs gets no second chance: the read
			// below fails at this time.
			_ = a.conn.SetReadDeadline(time.Now().Add(killLimit))
		}
	}
	c := &child{
		confinement: a.confinement,
		enforced:    started.sandbox,
		ended:       make(chan struct{}),
		terminate:   func() { tell(orderTerminate) },
		kill:        func() { tell(orderKill) },
	}
	go func() { // ends with the supervisor's report; Run waits for it
		defer close(c.ended)
		rep, err := readReport(a.conn)
		mu.Lock()
		over = true
		mu.Unlock()
		if err == nil && rep.kind != reportEnded {
			err = fmt.Errorf("unexpected report %q", rep.kind)
		}
		switch {
		case err != nil:
			c.end = end{code: -1, err: err}
			c.end.survivors = !a.destroy(leader, tag)
		case rep.survivors:
			c.end = end{code: int(rep.a), signal: int(rep.b), leftover: int(rep.c), survivors: true}
			a.retire()
		default:
			c.end = end{code: int(rep.a), signal: int(rep.b), leftover: int(rep.c)}
			_ = a.conn.SetReadDeadline(time.Time{})
			pool.give(a)
		}
	}()
	return c
}
