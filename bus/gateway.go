package bus

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/grapnel-dev/grapnel/bus/hook"
)

// Journal keeps the record of what the gateway did. Append returns the
// record's index once it is durable; it may be called concurrently and must
// honour ctx.
type Journal interface {
	Append(ctx context.Context, r hook.Record) (index int64, err error)
}

// JournalFailure says what a verdict is worth that could not be recorded.
type JournalFailure string

// The journal failure modes. The names follow the Linux audit daemon's.
const (
	// JournalDeny turns the verdict on a gate event into deny; lifecycle
	// events pass with a note.
	JournalDeny JournalFailure = "deny"
	// JournalWarn logs and counts it, and lets the verdict leave.
	JournalWarn JournalFailure = "warn"
	// JournalIgnore counts it.
	JournalIgnore JournalFailure = "ignore"
)

// GatewayOptions tune a [Gateway]. The zero value works, without a record.
type GatewayOptions struct {
	// Journal is where verdicts go before they leave; nil keeps no record.
	Journal Journal
	// OnJournalFailure defaults to JournalDeny.
	OnJournalFailure JournalFailure
	// Redact removes secrets from data before it is stored or published for
	// watchers and handlers; deciders and the Journal get the data as it is.
	// Nil changes nothing.
	Redact func([]byte) []byte
	// Local are deciders in this process, by name. Where the roster names one
	// of them, it is called instead of asked over the bus; everything else
	// about it is the same.
	Local map[string]hook.Decider
	// Default is the effect when nobody had an opinion; nil means abstain.
	Default func(hook.Event) hook.Effect
	// MaxWait is how long an event without a deadline may take, and no
	// longer than which any may. Defaults to 30 s.
	MaxWait time.Duration
	// Concurrency is how many events are worked on at the same time; more are
	// denied. Defaults to 4096.
	Concurrency int
	// Log defaults to discarding.
	Log *slog.Logger
}

var errOverloaded = errors.New("the gateway has too much to do; try again")

// Gateway answers agents' events: it asks whoever the roster says must be
// heard, merges what they decide, has it recorded, and replies.
type Gateway struct {
	conn    *Conn
	roster  *Roster
	opts    GatewayOptions
	log     *slog.Logger
	stops   *stopGuard
	repeats *repeats
	stats   stats
	inbox   *inbox
	slots   chan struct{}
	work    sync.WaitGroup
	ready   chan struct{}
	notify  *notifier
	mu      sync.Mutex
	running bool // between Run's start and its end
	ended   bool // Run waits for what is under way
	// watched is until when somebody watches, in Unix nanoseconds.
	watched atomic.Int64
}

// NewGateway prepares a gateway; [Gateway.Run] starts it. The connection must
// be in account CONTROL as the gateway's own user, and the roster open on it.
func NewGateway(c *Conn, r *Roster, o *GatewayOptions) (*Gateway, error) {
	if o == nil {
		o = new(GatewayOptions)
	}
	g := &Gateway{conn: c, roster: r, opts: *o, log: o.Log, stops: newStopGuard(), repeats: newRepeats(), ready: make(chan struct{})}
	if g.log == nil {
		g.log = slog.New(slog.DiscardHandler)
	}
	switch g.opts.OnJournalFailure {
	case "":
		g.opts.OnJournalFailure = JournalDeny
	case JournalDeny, JournalWarn, JournalIgnore:
	default:
		return nil, fmt.Errorf("gateway: on journal failure %q: it is one of deny, warn, ignore", o.OnJournalFailure)
	}
	if g.opts.MaxWait <= 0 {
		g.opts.MaxWait = 30 * time.Second
	}
	if g.opts.Concurrency <= 0 {
		g.opts.Concurrency = 4096
	}
	g.slots = make(chan struct{}, g.opts.Concurrency)
	g.notify = &notifier{conn: c, redact: g.redact}
	return g, nil
}

// Ready is closed once the gateway answers events.
func (g *Gateway) Ready() <-chan struct{} { return g.ready }

// Run answers events until ctx ends; then it takes no more, finishes those it
// has, and returns. It returns an error when it cannot start.
func (g *Gateway) Run(ctx context.Context) error {
	if err := g.notify.setup(ctx); err != nil {
		return err
	}
	var err error
	if g.inbox, err = newInbox(g.conn, g.log, g.recordLate); err != nil {
		return err
	}
	defer func() { _ = g.inbox.sub.Unsubscribe() }()
	// Events already taken are finished although ctx has ended: their agents
	// wait. Their own deadlines bound that.
	handling := context.WithoutCancel(ctx)
	sub, err := g.conn.nc.QueueSubscribe(hooksPrefix+">", gatewayQueue, func(m *nats.Msg) { g.take(handling, m) })
	if err != nil {
		return fmt.Errorf("gateway: subscribe to events: %w", err)
	}
	if err := sub.SetPendingLimits(-1, 256<<20); err != nil {
		return fmt.Errorf("gateway: %w", err)
	}
	watchers, err := g.conn.nc.Subscribe(aliveSubject, g.watcherAlive)
	if err != nil {
		return fmt.Errorf("gateway: subscribe to watchers: %w", err)
	}
	defer func() { _ = watchers.Unsubscribe() }()
	if err := g.conn.flush(ctx); err != nil {
		return fmt.Errorf("gateway: %w", err)
	}
	drained := make(chan struct{})
	sub.SetClosedHandler(func(string) { close(drained) })
	g.setRunning(true)
	close(g.ready)
	<-ctx.Done()
	g.setRunning(false)
	down, stop := g.conn.failures()
	defer stop()
	if g.conn.Connected() && sub.Drain() == nil {
		select {
		case <-drained: // what the broker had delivered has been taken
		case <-down:
		}
	}
	g.await()
	return nil
}

func (g *Gateway) setRunning(yes bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.running = yes
}

// take hands one message to a worker of its own.
func (g *Gateway) take(ctx context.Context, m *nats.Msg) {
	select {
	case g.slots <- struct{}{}:
	default:
		g.stats.overloaded.Add(1)
		g.refuse(m, hook.Event{}, errOverloaded)
		return
	}
	if !g.spawn(func() {
		defer func() { <-g.slots }()
		g.handle(ctx, m)
	}) {
		<-g.slots
	}
}

// spawn does work that Run waits for, and reports whether it does: once Run
// waits, nothing new is begun.
func (g *Gateway) spawn(f func()) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.ended {
		return false
	}
	g.work.Go(f)
	return true
}

// await ends spawning and waits for what was spawned.
func (g *Gateway) await() {
	g.mu.Lock()
	g.ended = true
	g.mu.Unlock()
	g.work.Wait()
}

func (g *Gateway) handle(ctx context.Context, m *nats.Msg) {
	if len(m.Reply) <= len(importedReply) || m.Reply[:len(importedReply)] != importedReply {
		// A reply subject that the sender chose could be anything in our own
		// account. Nothing is ever published to it.
		g.stats.refused.Add(1)
		g.log.Warn("bus: event without a reply subject of the service import", "subject", m.Subject)
		return
	}
	e, err := decodeEvent(m)
	if err == nil {
		err = checkSubject(m.Subject, e)
	}
	if err == nil {
		err = checkEvent(e)
	}
	if err != nil {
		g.refuse(m, e, err)
		return
	}
	if e.Name.Blocking() {
		g.decide(ctx, m, e)
		return
	}
	g.accept(ctx, m, e)
}

// refuse answers something that was no event, in the way that keeps whatever
// waits from running, and has it recorded.
func (g *Gateway) refuse(m *nats.Msg, e hook.Event, why error) {
	g.stats.refused.Add(1)
	reason := clip(why.Error())
	reply := &nats.Msg{Subject: m.Reply, Header: nats.Header{errorHeader: {oneLine(reason)}, errorCodeHeader: {"400"}}}
	v := hook.Verdict{EventID: e.ID, Effect: hook.Deny, Reason: reason, Time: time.Now().UTC()}
	if blockingSubject(m.Subject) {
		reply.Data = marshal(v)
	} else {
		reply.Data = marshal(map[string]string{"error": reason})
	}
	if len(m.Reply) > len(importedReply) && m.Reply[:len(importedReply)] == importedReply {
		if err := g.conn.nc.PublishMsg(reply); err != nil {
			g.log.Error("bus: refusal could not be sent", "error", err)
		}
	}
	g.log.Warn("bus: event refused", "subject", oneLine(m.Subject), "reason", reason)
	g.record(context.Background(), hook.Record{
		Kind: hook.RecordRefused, Time: v.Time, Caller: caller(m),
		Event: hook.Event{ID: e.ID, Source: e.Source, Name: hook.Other, Subject: clipSubject(m.Subject), Time: v.Time}, Note: reason,
	})
}

// record appends without anybody waiting for it.
func (g *Gateway) record(ctx context.Context, r hook.Record) {
	if g.opts.Journal == nil {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	if _, err := g.opts.Journal.Append(ctx, r); err != nil {
		g.stats.unrecorded.Add(1)
		g.log.Error("bus: not recorded", "kind", string(r.Kind), "event", r.Event.ID, "error", err)
	}
}

func (g *Gateway) recordLate(l lateReply) {
	recorded := g.spawn(func() {
		g.record(context.Background(), hook.Record{
			Kind: hook.RecordLate, Time: l.at,
			Event: hook.Event{ID: l.event, Source: "/late", Name: hook.Other, Subject: l.decider, Time: l.at},
			Note:  "decider " + l.decider + " answered after the verdict: " + oneLine(l.body),
		})
	})
	if !recorded {
		g.log.Info("bus: an answer came after the verdict, and after the end", "decider", l.decider, "event", l.event)
	}
}

func (g *Gateway) redact(b []byte) []byte {
	if g.opts.Redact == nil || len(b) == 0 {
		return b
	}
	return g.opts.Redact(b)
}
