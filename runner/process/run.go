package process

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"time"
)

const (
	// killLimit is how long the death of a killed tree may take on a machine that
	// is not too busy.
	killLimit = 900 * time.Millisecond
	// killRounds is how often something is killed and looked for at least, so
	// that a machine that is busy for longer than that is no survivor's fault.
	killRounds = 20
	// drainLimit is how long output is waited for once the tree is dead: its
	// streams are at their ends then, unless a process outside holds them.
	drainLimit = 200 * time.Millisecond
)

// child is a command that was started. terminate and kill may be called at any
// time and do not block; ended is closed when the tree is dead or given up, and
// end may be read then.
type child struct {
	confinement Confinement
	enforced    Enforced
	terminate   func()
	kill        func()
	ended       chan struct{}
	end         end
}

// end is how a child ended.
type end struct {
	code      int // -1 when by a signal
	signal    int
	leftover  int
	survivors bool
	err       error // the supervisor failed
}

func (r *Runner) run(ctx context.Context, s Spec, tag string) (Result, error) {
	result := Result{ExitCode: -1}
	theirs, ours, err := pipes()
	if err != nil {
		return result, fmt.Errorf("%w: %s: %w", ErrStart, s.Command[0], err)
	}
	defer ours.close()
	result.Started = time.Now()
	c, err := r.start(ctx, s, theirs, tag)
	theirs.close()
	if err != nil {
		result.Started = time.Time{}
		if c != nil {
			result.Sandbox = c.enforced
		}
		return result, err
	}
	result.Confinement, result.Sandbox = c.confinement, c.enforced

	var streams sync.WaitGroup
	stdout, stderr := &capture{limit: s.MaxOutput}, &capture{limit: s.MaxOutput}
	streams.Go(func() {
		// A command need not read its input: a broken pipe is no failure.
		_, _ = ours[0].Write(s.Stdin)
		ours[0].Close()
	})
	streams.Go(func() { stdout.readFrom(ours[1]) })
	streams.Go(func() { stderr.readFrom(ours[2]) })

	cause := r.await(ctx, s, c)
	drain(&streams, ours)
	result.Duration = time.Since(result.Started)
	result.Stdout, result.Stderr = stdout.output(), stderr.output()
	result.ExitCode, result.Leftover = c.end.code, c.end.leftover
	if c.end.signal != 0 {
		result.ExitCode, result.Signal = -1, signalName(c.end.signal)
	}
	return result, verdict(s, c.end, cause, result)
}

// await waits for the end of the tree and brings it about when time is up. It
// returns why it had to, or nil.
func (r *Runner) await(ctx context.Context, s Spec, c *child) error {
	var timeout <-chan time.Time
	if s.Timeout > 0 {
		t := time.NewTimer(s.Timeout)
		defer t.Stop()
		timeout = t.C
	}
	var cause error
	select {
	case <-c.ended:
		return nil
	case <-timeout:
		cause = fmt.Errorf("%w: %s took longer than %s", ErrTimedOut, s.Command[0], s.Timeout)
	case <-ctx.Done():
		cause = fmt.Errorf("%w: %s: %w", cancelKind(ctx), s.Command[0], context.Cause(ctx))
	case <-r.ctx.Done():
		cause = ErrClosed
	}
	c.terminate()
	grace := time.NewTimer(s.Grace)
	defer grace.Stop()
	select {
	case <-c.ended:
		return cause
	case <-grace.C:
	}
	c.kill()
	<-c.ended
	return cause
}

func verdict(s Spec, e end, cause error, result Result) error {
	name := s.Command[0]
	switch {
	case e.survivors:
		err := fmt.Errorf("%w: %s; look for them with ps and end them as their owner", ErrSurvivors, name)
		if cause != nil {
			return errors.Join(cause, err)
		}
		return err
	case cause != nil:
		return cause
	case e.err != nil:
		return fmt.Errorf("%w: %s: %w", ErrSupervisor, name, e.err)
	case result.Signal != "":
		return fmt.Errorf("%w: %s: %s", ErrSignal, name, result.Signal)
	}
	return nil
}

// drain waits for the streams' ends, and cuts them off when somebody outside
// the tree keeps one open.
func drain(streams *sync.WaitGroup, ours files) {
	done := make(chan struct{})
	go func() {
		streams.Wait()
		close(done)
	}()
	t := time.NewTimer(drainLimit)
	defer t.Stop()
	select {
	case <-done:
		return
	case <-t.C:
	}
	for _, f := range ours {
		if err := f.SetDeadline(time.Now()); err != nil && !errors.Is(err, os.ErrClosed) {
			f.Close() // where pipes have no deadlines
		}
	}
	<-done
}

// pipes returns the command's ends of the three streams and ours.
func pipes() (theirs, ours files, err error) {
	for i := range theirs {
		var r, w *os.File
		if r, w, err = os.Pipe(); err != nil {
			theirs.close()
			ours.close()
			return theirs, ours, err
		}
		if i == 0 {
			theirs[i], ours[i] = r, w
		} else {
			theirs[i], ours[i] = w, r
		}
	}
	return theirs, ours, nil
}
