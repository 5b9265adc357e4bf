package bus

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/grapnel-dev/grapnel/bus/cloudevent"
	"github.com/grapnel-dev/grapnel/bus/hook"
)

// replyMargin is kept free before an event's deadline for the record and the
// way back.
const replyMargin = 100 * time.Millisecond

// decide answers one blocking event that came over the bus.
func (g *Gateway) decide(ctx context.Context, m *nats.Msg, e hook.Event) {
	v := g.settle(ctx, e, func() string { return caller(m) })
	if err := g.conn.nc.PublishMsg(&nats.Msg{Subject: m.Reply, Data: marshal(v)}); err != nil {
		g.log.Error("bus: verdict could not be sent", "event", e.ID, "error", err)
	}
	g.live(e, &v)
}

// settle gathers, merges and records: when it returns, the verdict may leave.
func (g *Gateway) settle(ctx context.Context, e hook.Event, from func() string) hook.Verdict {
	received := time.Now()
	latest := received.Add(g.opts.MaxWait)
	if e.Deadline.IsZero() || e.Deadline.After(latest) {
		e.Deadline = latest
	}
	ctx, cancel := context.WithDeadline(ctx, e.Deadline)
	defer cancel()
	caller, digest := from(), hook.Digest(e.Raw)
	before, mine := g.repeats.begin(e, caller, digest, g.roster.state.Load().revision, received)
	if before != nil {
		if v, ok := before.again(ctx, e); ok {
			g.stats.repeated.Add(1)
			v.EventID, v.EventDigest, v.Time = e.ID, digest, time.Now().UTC()
			return v
		}
	}
	v := g.Verdict(ctx, e)
	v.EventID, v.EventDigest, v.Time = e.ID, digest, time.Now().UTC()
	g.stops.apply(e, &v)
	g.journal(ctx, hook.Record{Kind: hook.RecordVerdict, Time: v.Time, Caller: caller, Event: e, Verdict: &v}, &v)
	if mine != nil {
		mine.end(v)
	}
	g.stats.verdicts[v.Effect].Add(1)
	g.stats.latency.observe(time.Since(received))
	return v
}

// Verdict asks both phases and merges. It is the middle of what happens to an
// event on the bus: nothing is recorded or shown, and the stop limit does not
// count. ctx must have a deadline, and e its Raw or Data.
func (g *Gateway) Verdict(ctx context.Context, e hook.Event) hook.Verdict {
	state := g.roster.state.Load()
	heard := state.heard(e)
	var first, second []hook.Entry
	for _, entry := range heard {
		if entry.Rewrites {
			first = append(first, entry)
		} else {
			second = append(second, entry)
		}
	}
	class := e.Name.Class()
	original := e
	var answers []hook.Answer
	stopped := false
	for _, entry := range first {
		if stopped {
			answers = append(answers, hook.Answer{Entry: entry, Outcome: hook.Late})
			continue
		}
		a := g.ask(ctx, e, []hook.Entry{entry})[0]
		if a.Outcome == hook.Answered && a.Decision.Rewrite != nil {
			if rewritten, err := rewrite(e, a.Decision.Rewrite); err != nil {
				a.Outcome, a.Err = hook.Malformed, err.Error()
			} else {
				e, a.Rewrote = rewritten, true
			}
		}
		answers = append(answers, a)
		stopped = !entry.Shadow && counts(class, a).Blocks()
	}
	switch {
	case stopped:
		for _, entry := range second {
			answers = append(answers, hook.Answer{Entry: entry, Outcome: hook.Late})
		}
	case len(second) > 0:
		answers = append(answers, g.ask(ctx, e, second)...)
	}
	fallback := hook.Abstain
	if g.opts.Default != nil {
		fallback = g.opts.Default(original)
	}
	v := hook.Merge(class, answers, fallback)
	v.RosterRevision = state.revision
	if e.Data.Tool != nil {
		v.InputDigest = hook.Digest(e.Data.Tool.Input)
		if !v.Effect.Blocks() && original.Data.Tool != nil && !bytes.Equal(e.Data.Tool.Input, original.Data.Tool.Input) {
			v.Input = e.Data.Tool.Input
		}
	}
	return v
}

// ask puts one event to some deciders at the same time.
func (g *Gateway) ask(ctx context.Context, e hook.Event, entries []hook.Entry) []hook.Answer {
	failAll := func(outcome hook.Outcome, why string) []hook.Answer {
		answers := make([]hook.Answer, len(entries))
		for i, entry := range entries {
			answers[i] = hook.Answer{Entry: entry, Outcome: outcome, Err: why}
		}
		return answers
	}
	replies := make(chan reply, 4*len(entries))
	questions := make([]question, len(entries))
	remote := entries[:0:0]
	for i, entry := range entries {
		if d := g.opts.Local[entry.Name]; d != nil {
			questions[i] = question{entry: entry, ask: g.local(ctx, e, i, d, replies)}
		} else {
			remote = append(remote, entry)
		}
	}
	if len(remote) > 0 {
		retire, err := g.remote(ctx, e, remote, questions, replies)
		if err != nil {
			return failAll(hook.Disconnected, err.Error())
		}
		defer retire()
	}
	down, stop := g.conn.failures()
	defer stop()
	deadline, _ := ctx.Deadline()
	margin := min(replyMargin, time.Until(deadline)/4)
	ctx, cancel := context.WithDeadline(ctx, deadline.Add(-margin))
	defer cancel()
	return gather(ctx, e.Name.Class(), questions, replies, down)
}

// remote prepares the questions to those who are asked over the bus, which are
// the ones still without a way to ask. What it returns ends their part.
func (g *Gateway) remote(ctx context.Context, e hook.Event, entries []hook.Entry, questions []question, replies chan<- reply) (func(), error) {
	returned := func() {}
	if len(e.Raw) > inlineData {
		ref, done, err := g.conn.lendBlob(ctx, e.Raw)
		if err != nil {
			return nil, err
		}
		returned = done
		e.DataRef, e.Raw, e.Data = ref, []byte{}, hook.Data{}
	}
	header, body, err := cloudevent.Encode(e)
	if err != nil {
		returned()
		return nil, err
	}
	if e.DataRef != "" {
		body = nil
	}
	places := make([]place, 0, len(entries))
	for i := range questions {
		if questions[i].ask == nil {
			places = append(places, place{replies: replies, question: i, decider: entries[len(places)].Name, event: e.ID})
		}
	}
	subjects := g.inbox.open(places)
	for n, p := range places {
		m := &nats.Msg{Subject: decideSubject(p.decider, e), Reply: subjects[n], Header: header, Data: body}
		questions[p.question] = question{entry: entries[n], ask: func() error { return g.conn.nc.PublishMsg(m) }}
	}
	return func() {
		g.inbox.retire(subjects)
		returned()
	}, nil
}

// rewrite returns e with another tool input.
func rewrite(e hook.Event, input json.RawMessage) (hook.Event, error) {
	if e.Data.Tool == nil {
		return e, fmt.Errorf("it rewrote the input of an event that has no tool")
	}
	tool := *e.Data.Tool
	tool.Input = input
	e.Data.Tool, e.Raw = &tool, nil
	raw, err := cloudevent.EncodeData(e)
	if err != nil {
		return e, err
	}
	e.Raw = raw
	return e, nil
}

// journal records the verdict and changes it when that fails.
func (g *Gateway) journal(ctx context.Context, r hook.Record, v *hook.Verdict) {
	if g.opts.Journal == nil {
		return
	}
	index, err := g.opts.Journal.Append(ctx, r)
	if err == nil {
		v.Record = &index
		return
	}
	g.stats.unrecorded.Add(1)
	if g.opts.OnJournalFailure == JournalIgnore {
		return
	}
	g.log.Error("bus: verdict could not be recorded", "event", r.Event.ID, "error", err)
	if g.opts.OnJournalFailure == JournalWarn {
		v.Note = note(v.Note, "not recorded: "+err.Error())
		return
	}
	if r.Event.Name.Class() == hook.Gate {
		v.Effect, v.Grant, v.Input = max(v.Effect, hook.Deny), false, nil
		v.Reason = strings.TrimPrefix(v.Reason+"\nthe verdict could not be put on record ("+err.Error()+"), and what is not on record does not run; see `grapnel status`", "\n")
		return
	}
	if v.Effect.Blocks() || v.Grant {
		v.Effect, v.Grant = hook.Abstain, false
	}
	v.Note = note(v.Note, "not recorded, so the agent goes on by its own rules: "+err.Error())
}

func note(a, b string) string {
	if a == "" {
		return b
	}
	return a + "; " + b
}
