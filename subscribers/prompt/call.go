package prompt

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/cenkalti/backoff/v5"
)

// Waiting times between attempts, before jitter of a half.
const (
	firstWait = 500 * time.Millisecond
	mostWait  = 8 * time.Second
	// maxAdapted is how often a request may be put differently; a server
	// that never likes it must not be asked for ever.
	maxAdapted = 3
)

// bill is what a question has cost so far.
type bill struct {
	usage    Usage
	cost     int64 // millionths
	attempts int
}

// call sends the document until there is a reply or no sense in another
// attempt. The error wraps [ErrModel] or [ErrBudget].
func (j *Judge) call(ctx context.Context, d document) (reply, bill, error) {
	wait := &backoff.ExponentialBackOff{
		InitialInterval: firstWait, RandomizationFactor: 0.5, Multiplier: 2, MaxInterval: mostWait,
	}
	most := Usage{Input: int64(len(d.system) + len(d.user) + overhead), Output: j.hook.maxTokens()}
	var b bill
	retries, adapted := 0, 0
	for {
		reserved, err := j.budget.reserve(most, j.model.Prices)
		if err != nil {
			return reply{}, b, err
		}
		b.attempts++
		r, err := j.vendor.complete(ctx, d)
		did := most
		var failed *callError
		if err == nil {
			if told, ok := r.usage.sane(); ok {
				did = told
			}
		} else if errors.As(err, &failed) && failed.free() {
			did = Usage{}
		}
		j.budget.settle(reserved, did, j.model.Prices)
		b.usage.Input, b.usage.Output = add(b.usage.Input, did.Input), add(b.usage.Output, did.Output)
		b.cost = add(b.cost, j.model.Prices.cost(did))
		if err == nil {
			return r, b, nil
		}
		if ctx.Err() != nil {
			return reply{}, b, fmt.Errorf("%w: no answer in time (attempt %d): %w", ErrModel, b.attempts, context.Cause(ctx))
		}
		if failed == nil {
			return reply{}, b, ErrModel
		}
		if failed.adapted && adapted < maxAdapted {
			adapted++
			continue
		}
		if !failed.again() || retries >= j.retries {
			return reply{}, b, fmt.Errorf("%w: attempt %d: %w", ErrModel, b.attempts, failed)
		}
		retries++
		if err := pause(ctx, max(wait.NextBackOff(), failed.retryAfter)); err != nil {
			return reply{}, b, fmt.Errorf("%w: attempt %d: %w; %w", ErrModel, b.attempts, failed, err)
		}
	}
}

// overhead is what a vendor adds around the messages, in tokens.
const overhead = 64

// pause waits, unless the wait would reach beyond the deadline: then it is an
// error at once, so that somebody else still has time to decide.
func pause(ctx context.Context, d time.Duration) error {
	if at, ok := ctx.Deadline(); ok && time.Until(at) <= d {
		return fmt.Errorf("the next attempt would be in %s, which is too late: %w", d.Round(time.Millisecond), context.DeadlineExceeded)
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-t.C:
		return nil
	}
}
