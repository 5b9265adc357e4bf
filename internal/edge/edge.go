package edge

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/grapnel-dev/grapnel/bus/hook"
	"github.com/grapnel-dev/grapnel/internal/edge/hookwire"
	"github.com/grapnel-dev/grapnel/internal/edge/protocol"
)

// Bus is what the edge needs of the bus. Both methods are called from many
// goroutines at once and should return when ctx ends; the edge answers in time
// even if they do not. The event's deadline is on ctx and in the event.
type Bus interface {
	// Request asks for the verdict on a blocking event. The verdict's EventID
	// must be the event's.
	Request(ctx context.Context, e hook.Event) (hook.Verdict, error)
	// Publish hands over a notification event.
	Publish(ctx context.Context, e hook.Event) (hook.Receipt, error)
}

// The defaults of [Options].
const (
	DefaultBudget        = 25 * time.Second
	DefaultPublishBudget = 2 * time.Second
	DefaultStreamBuffer  = 1024
)

// Options tune an Edge. Every field has a default.
type Options struct {
	// Host is the first part of an event's source; the default is the host's
	// name.
	Host string
	// Budget is the longest a verdict may take, whatever the caller says.
	Budget time.Duration
	// PublishBudget is the longest that a notification may hold its agent.
	PublishBudget time.Duration
	// StreamBuffer is how many pieces of streams may wait to be published;
	// what comes on top is dropped and logged.
	StreamBuffer int
	// Log takes what could not be answered to the agent; the default discards.
	Log *slog.Logger
	// OnFallback is told when an agent could not be given a verdict as it is,
	// and what it was given in its place. It may be called from many
	// goroutines; the default does nothing.
	OnFallback func(ctx context.Context, e hook.Event, v hook.Verdict, note string)
	// OnRefusal is told of input that was no event, and of events for which no
	// verdict came; in these the bus had no part, so that nothing is on record
	// of them yet. The event holds what there is. As OnFallback otherwise.
	OnRefusal func(ctx context.Context, e hook.Event, err error)
}

// Edge answers hook calls. Make one with [New] and [Edge.Close] it.
type Edge struct {
	bus     Bus
	options Options
	stream  stream
	calls   sync.WaitGroup // requests that outlived their deadline
}

// New returns an edge on a bus; options may be nil. It starts nothing.
func New(bus Bus, options *Options) *Edge {
	var o Options
	if options != nil {
		o = *options
	}
	if o.Host == "" {
		o.Host, _ = os.Hostname() // an unnamed host is named below
	}
	if o.Host = strings.Trim(o.Host, "/"); o.Host == "" {
		o.Host = "localhost"
	}
	if o.Budget <= 0 {
		o.Budget = DefaultBudget
	}
	if o.PublishBudget <= 0 {
		o.PublishBudget = DefaultPublishBudget
	}
	if o.StreamBuffer <= 0 {
		o.StreamBuffer = DefaultStreamBuffer
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	e := &Edge{bus: bus, options: o}
	e.stream.queue = make(chan hook.Event, o.StreamBuffer)
	e.stream.stopped = make(chan struct{})
	return e
}

// Close publishes what is left of streams, for at most the publish budget, and
// waits for requests that outlived their deadline. Decide must not be called
// any more; calling Close twice does no harm.
func (e *Edge) Close() {
	e.stream.close(e.options.PublishBudget)
	e.calls.Wait()
}

// Decide answers one hook call. It always has an answer, in time, and never an
// empty one for a gate.
func (e *Edge) Decide(ctx context.Context, r hookwire.Request) (answer hookwire.Response) {
	deadline := time.Now().Add(e.options.Budget)
	if asked := time.Unix(0, r.Deadline); r.Deadline > 0 && asked.Before(deadline) {
		deadline = asked
	}
	ctx, cancel := context.WithDeadlineCause(ctx, deadline, errLate)
	defer cancel()
	defer func() {
		if p := recover(); p != nil {
			e.options.Log.ErrorContext(ctx, "edge: the protocol crashed", slog.String("agent", r.Agent), slog.String("event", r.Event), slog.Any("panic", p))
			answer = hookwire.Alone(r.Agent, r.Event, "grapnel: reading this hook's input failed inside the daemon; its log says where")
		}
	}()
	r.Agent, r.Event = guest(r)
	speaker, ok := speakers(r.Agent)
	if !ok {
		return hookwire.Alone(r.Agent, r.Event, fmt.Sprintf("grapnel: there is no agent %.60q; `grapnel agents` lists those there are", r.Agent))
	}
	call := protocol.Call{
		Event: r.Event, Stdin: r.Stdin, Source: "/" + e.options.Host + "/" + r.Agent, Now: time.Now().UTC(), CWD: r.CWD, Env: r.Env,
	}
	event, err := speaker.Event(call)
	if err != nil {
		a := speaker.Refuse(call, err)
		e.options.Log.WarnContext(ctx, "edge: input refused", slog.String("agent", r.Agent), slog.String("event", clip(r.Event)), slog.Any("error", err))
		e.refused(ctx, hook.Event{Source: call.Source, Name: hook.Other, Subject: clip(r.Event), Time: call.Now, Raw: head(r.Stdin)}, err)
		return a.Response
	}
	var v hook.Verdict
	if event.Name.Blocking() {
		event.Deadline = deadline.UTC()
		v = e.request(ctx, event)
	} else {
		e.publish(ctx, event)
	}
	a := speaker.Answer(event, v)
	if a.Note != "" {
		e.options.Log.WarnContext(ctx, "edge: the agent cannot express the verdict", append(attributes(event), slog.String("note", a.Note))...)
		if e.options.OnFallback != nil {
			e.options.OnFallback(ctx, event, v, a.Note)
		}
	}
	return a.Response
}

var (
	errLate      = errors.New("nobody answered before the deadline")
	errOtherCall = errors.New("the verdict was about another event")
)

// request asks the bus, and makes a verdict of every failure: deny for gates
// with what to do, abstain for the rest.
func (e *Edge) request(ctx context.Context, event hook.Event) hook.Verdict {
	type result struct {
		verdict hook.Verdict
		err     error
	}
	done := make(chan result, 1)
	e.calls.Go(func() {
		var r result
		defer func() {
			if p := recover(); p != nil {
				r.err = fmt.Errorf("the bus crashed: %v", p)
			}
			done <- r
		}()
		r.verdict, r.err = e.bus.Request(ctx, event)
	})
	var r result
	select {
	case r = <-done:
	case <-ctx.Done():
		select { // an answer that came with the deadline counts
		case r = <-done:
		default:
			r.err = context.Cause(ctx)
		}
	}
	switch {
	case r.err != nil && errors.Is(r.err, context.DeadlineExceeded):
		r.err = fmt.Errorf("%w (%w)", errLate, r.err)
	case r.err == nil && r.verdict.EventID != event.ID:
		r.err = errOtherCall
	}
	if r.err == nil {
		return r.verdict
	}
	e.options.Log.ErrorContext(ctx, "edge: no verdict", append(attributes(event), slog.Any("error", r.err))...)
	e.refused(ctx, event, r.err)
	if event.Name.Class() != hook.Gate {
		return hook.Verdict{EventID: event.ID}
	}
	return hook.Verdict{EventID: event.ID, Effect: hook.Deny, Reason: denial(r.err)}
}

func (e *Edge) refused(ctx context.Context, event hook.Event, err error) {
	if e.options.OnRefusal != nil {
		e.options.OnRefusal(ctx, event, err)
	}
}

// head is as much of an agent's input as is worth keeping when it is no event.
func head(stdin []byte) []byte { return stdin[:min(len(stdin), 16<<10)] }

// denial is the text that a person and a model get when nobody could decide.
func denial(err error) string {
	var offline *OfflineError
	if errors.As(err, &offline) {
		return offline.Error()
	}
	return "grapnel could not decide, so this was not run: " + err.Error() + ". See `grapnel status` and `grapnel doctor`."
}

// publish hands over a notification; the agent is not told when that fails.
func (e *Edge) publish(ctx context.Context, event hook.Event) {
	if streamed(event.Name) {
		if !e.stream.add(event, e.publishNow) {
			e.options.Log.WarnContext(ctx, "edge: a piece of a stream was dropped", attributes(event)...)
		}
		return
	}
	done := make(chan struct{})
	// The publishing may go on after the agent has its answer.
	publishing, cancel := context.WithTimeout(context.WithoutCancel(ctx), e.options.PublishBudget)
	e.calls.Go(func() {
		defer cancel()
		defer close(done)
		e.publishNow(publishing, event)
	})
	select {
	case <-done:
	case <-ctx.Done():
	case <-publishing.Done():
	}
}

func (e *Edge) publishNow(ctx context.Context, event hook.Event) {
	defer func() {
		if p := recover(); p != nil {
			e.options.Log.ErrorContext(ctx, "edge: the bus crashed", append(attributes(event), slog.Any("panic", p))...)
		}
	}()
	if _, err := e.bus.Publish(ctx, event); err != nil {
		e.options.Log.ErrorContext(ctx, "edge: not published", append(attributes(event), slog.Any("error", err))...)
	}
}

func attributes(e hook.Event) []any {
	return []any{
		slog.String("agent", e.Data.Native.Agent), slog.String("event", clip(e.Data.Native.Event)),
		slog.String("event_id", e.ID), slog.String("session", clip(e.SessionID)),
	}
}

func clip(s string) string {
	if len(s) > 80 {
		return s[:80] + "…"
	}
	return s
}
