package webhook

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/cenkalti/backoff/v5"
)

// maxRetryAfter is the longest Retry-After that is waited for.
const maxRetryAfter = 30 * time.Second

// plan says how often and how fast a message is tried.
type plan struct {
	tries int
	// all limits the time of all tries, each of one; zero means no limit of
	// its own.
	all, each time.Duration
	// first is the longest wait after the first try, most after any.
	first, most time.Duration
	// unworked keeps it to failures that the endpoint did not work on.
	unworked bool
}

// run tries until it succeeds, a failure is final or the plan is at its end.
// The error says how often it tried when that was more than once.
func (p plan) run(ctx context.Context, try func(context.Context) (Response, *failure)) (Response, error) {
	ctx, cancel := context.WithTimeout(ctx, p.all)
	defer cancel()
	limit := p.all
	if deadline, ok := ctx.Deadline(); ok {
		limit = time.Until(deadline)
	}
	tries := 0
	var last *failure
	response, err := backoff.Retry(ctx, func() (Response, error) {
		tries++
		one, cancel := ctx, context.CancelFunc(func() {})
		if p.each > 0 {
			one, cancel = context.WithTimeout(ctx, p.each)
		}
		defer cancel()
		r, f := try(one)
		if last = f; f == nil {
			return r, nil
		}
		if !f.again || p.unworked && !f.unworked || f.after > maxRetryAfter {
			return r, backoff.Permanent(f)
		}
		return r, f
	}, backoff.WithBackOff(p.backOff()), backoff.WithMaxTries(uint(p.tries)), backoff.WithMaxElapsedTime(limit))
	if err == nil {
		return response, nil
	}
	if last == nil { // cannot be: backoff always tries once
		return response, err
	}
	err = last.err
	if last.after > maxRetryAfter {
		err = fmt.Errorf("%w; it asks to be left alone for %s", err, last.after)
	}
	// A caller that went away is told so, whatever the last try met.
	if cause := context.Cause(ctx); cause != nil && !errors.Is(cause, context.DeadlineExceeded) && !errors.Is(err, cause) {
		err = fmt.Errorf("%w: %w", cause, err)
	}
	if tries > 1 {
		err = fmt.Errorf("after %d tries: %w", tries, err)
	}
	return response, err
}

// backOff draws each wait evenly from zero to a limit that doubles: full
// jitter. The package draws around a middle, hence the halves.
func (p plan) backOff() backoff.BackOff {
	return &backoff.ExponentialBackOff{
		InitialInterval:     p.first / 2,
		RandomizationFactor: 1,
		Multiplier:          2,
		MaxInterval:         p.most / 2,
	}
}
