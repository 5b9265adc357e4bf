package webhook

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"time"

	"github.com/grapnel-dev/grapnel/bus/hook"
)

// Options tune a [Webhook]. The zero value works.
type Options struct {
	// Client connects; defaults to one of its own that reaches public
	// addresses alone.
	Client *Client
	// Environ is what variables are taken from; defaults to os.Environ at the
	// time of New.
	Environ []string
	// Trace is called after each event, from the goroutine of the call; it
	// must not block. Defaults to none.
	Trace func(Execution)
	// Log defaults to none.
	Log *slog.Logger
}

// Webhook is one endpoint, ready to be asked. It is a [hook.Decider] and a
// [hook.Handler]; all methods may be called concurrently.
type Webhook struct {
	hook        Hook
	target      target
	headers     http.Header
	secrets     []Secret
	maxResponse int
	places      chan struct{} // one for each request under way
	client      *Client
	own         bool // client is nobody else's
	trace       func(Execution)
	log         *slog.Logger
}

var (
	_ hook.Decider = (*Webhook)(nil)
	_ hook.Handler = (*Webhook)(nil)
)

// New makes a webhook ready: it validates the configuration, expands variables
// and looks at addresses that stand in the URL itself. The error wraps
// [ErrConfig], and [ErrAddress] where that is why. Nothing is connected.
func New(h Hook, o *Options) (*Webhook, error) {
	if o == nil {
		o = new(Options)
	}
	if err := h.Validate(); err != nil {
		return nil, err
	}
	w := &Webhook{
		hook: h, client: o.Client, trace: o.Trace, log: o.Log,
		maxResponse: either(h.MaxResponse, DefaultMaxResponse),
		places:      make(chan struct{}, either(h.Concurrency, DefaultConcurrency)),
	}
	bad := func(where string, err error) (*Webhook, error) {
		return nil, fmt.Errorf("%w: hook %q: %s: %w", ErrConfig, h.Name, where, err)
	}
	var err error
	if w.target, err = parseTarget(h.URL); err != nil {
		return bad("url", err)
	}
	if w.client == nil {
		if w.client, err = NewClient(nil); err != nil {
			return nil, err
		}
		w.own = true
	}
	if err := w.client.guard.literal(w.target); err != nil {
		return bad("url", err)
	}
	environ := o.Environ
	if environ == nil {
		environ = os.Environ()
	}
	expanded := make(map[string]string, len(h.Headers))
	for name, value := range h.Headers {
		if expanded[name], err = expandAll(value, h.AllowedEnv, environ); err != nil {
			return bad("headers: "+name, err)
		}
	}
	if w.headers, err = literalHeaders(expanded); err != nil {
		return bad("headers", err)
	}
	for i, text := range h.Secrets {
		where := fmt.Sprintf("secrets: number %d", i+1)
		if text, err = expandAll(text, h.AllowedEnv, environ); err != nil {
			return bad(where, err)
		}
		secret, err := ParseSecret(text)
		if err != nil {
			return bad(where, err)
		}
		w.secrets = append(w.secrets, secret)
	}
	if w.log == nil {
		w.log = slog.New(slog.DiscardHandler)
	}
	return w, nil
}

// Hook returns the configuration, with variables as they were written.
func (w *Webhook) Hook() Hook { return w.hook }

// Entry is the hook's place in the roster.
func (w *Webhook) Entry() hook.Entry { return w.hook.Entry() }

// Close closes idle connections, where they are no shared [Client]'s. The
// webhook can be used again.
func (w *Webhook) Close() {
	if w.own {
		w.client.Close()
	}
}

// Format is [Hook.Format]: what is inside are secrets. It has a value's receiver
// so that it counts for both.
func (w Webhook) Format(f fmt.State, verb rune) { w.hook.Format(f, verb) }

// Decide asks the endpoint about a blocking event. It returns within the hook's
// time-out.
//
// Every failure is an error that wraps [ErrMessage], [ErrAddress],
// [ErrConnect], [ErrTimedOut], [ErrStatus] or [ErrAnswer].
func (w *Webhook) Decide(ctx context.Context, e hook.Event) (hook.Decision, error) {
	var d hook.Decision
	err := w.execute(ctx, e, func(m Message, x *Execution) error {
		r, err := w.send(ctx, m, w.asking(), true, x)
		if err == nil {
			d, err = w.decision(r)
			err = w.wrap(err)
		}
		if err == nil {
			x.Outcome, x.Effect, x.Reason = Decided, &d.Effect, d.Reason
		}
		return err
	})
	if err != nil {
		return hook.Decision{}, err
	}
	return d, nil
}

// Handle delivers a notification event. It returns within the hook's RetryFor.
// The errors are those of Decide but for ErrAnswer; with ErrGone, another
// delivery is of no use.
func (w *Webhook) Handle(ctx context.Context, e hook.Event) error {
	return w.execute(ctx, e, func(m Message, x *Execution) error {
		_, err := w.send(ctx, m, w.delivering(), false, x)
		x.Outcome = Handled
		return err
	})
}

// Post sends a message for somebody who waits for the answer, by the rules of
// [Webhook.Decide], and returns the response as it is. With an error about the
// status the response has status and headers; it is empty with every other
// error.
func (w *Webhook) Post(ctx context.Context, m Message) (Response, error) {
	return w.send(ctx, m, w.asking(), true, new(Execution))
}

// Deliver sends a message that nobody waits for, by the rules of
// [Webhook.Handle].
func (w *Webhook) Deliver(ctx context.Context, m Message) error {
	_, err := w.send(ctx, m, w.delivering(), false, new(Execution))
	return err
}

// asking is the plan where somebody waits.
func (w *Webhook) asking() plan {
	return plan{
		tries: either(w.hook.Tries, 2), all: w.hook.timeout(), unworked: true,
		first: 200 * time.Millisecond, most: 2 * time.Second,
	}
}

// delivering is the plan where nobody does.
func (w *Webhook) delivering() plan {
	return plan{
		tries: either(w.hook.Tries, 5), all: w.hook.retryFor(), each: w.hook.timeout(),
		first: time.Second, most: 20 * time.Second,
	}
}

func (w *Webhook) send(ctx context.Context, m Message, p plan, read bool, x *Execution) (Response, error) {
	header, err := w.prepare(&m)
	if err != nil {
		return Response{}, w.wrap(err)
	}
	r, err := p.run(ctx, func(ctx context.Context) (Response, *failure) {
		x.Tries++
		return w.try(ctx, m, header, read)
	})
	x.Status = r.Status
	if err != nil && !errors.Is(err, ErrStatus) {
		r = Response{}
	}
	return r, w.wrap(err)
}

// wrap says which webhook it was.
func (w *Webhook) wrap(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("webhook %s (%s): %w", w.hook.Name, w.target, err)
}
