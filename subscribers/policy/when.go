package policy

import (
	"context"
	"fmt"
	"time"

	"github.com/grapnel-dev/grapnel/bus/hook"
)

// When compiles conditions of roster entries and hook commands: the same
// language as the when of a rule, without path sets. It is safe for concurrent
// use.
type When struct {
	env     *environment
	options *Options
}

// NewWhen returns a compiler for conditions.
func NewWhen(options *Options) (*When, error) {
	env, err := newEnvironment(nil)
	if err != nil {
		return nil, fmt.Errorf("policy: %w", err)
	}
	return &When{env: env, options: options.withDefaults()}, nil
}

// Compile compiles one condition. The function that it returns may be called
// from many goroutines at once; its error means that the condition could not
// be evaluated, and the caller says what that counts as. Errors of Compile wrap
// [ErrPolicy].
func (w *When) Compile(expr string) (func(hook.Event) (bool, error), error) {
	c, err := w.env.condition(expr, limits{cost: w.options.CostLimit})
	if err != nil {
		return nil, fmt.Errorf("%w: when %.120q: %w", ErrPolicy, expr, err)
	}
	return func(ev hook.Event) (ok bool, err error) {
		defer func() {
			if r := recover(); r != nil {
				ok, err = false, fmt.Errorf("policy: internal error: %v", r)
			}
		}()
		f, err := newFacts(w.env, ev, w.options)
		if err != nil {
			return false, err
		}
		ctx, cancel := context.WithTimeoutCause(context.Background(), w.options.TimeLimit, timeOver(w.options.TimeLimit))
		defer cancel()
		if ok, err = c.holds(ctx, f); err != nil {
			return false, fmt.Errorf("policy: when %.120q: %w", expr, err)
		}
		return ok, nil
	}, nil
}

// CompileWhen is [When.Compile] with the default options. A program that
// compiles many conditions makes one [When] instead.
func CompileWhen(expr string) (func(hook.Event) (bool, error), error) {
	w, err := NewWhen(nil)
	if err != nil {
		return nil, err
	}
	return w.Compile(expr)
}

// timeOver is the error of a time limit, made for every event and seldom read.
type timeOver time.Duration

// Error implements error.
func (t timeOver) Error() string {
	return fmt.Sprintf("the time limit of %s is over", time.Duration(t))
}
