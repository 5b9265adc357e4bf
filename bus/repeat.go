package bus

import (
	"context"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/grapnel-dev/grapnel/bus/hook"
)

const (
	// repeatWindow is how long a decision holds for the same call sent again.
	// Agents that run hooks one after another send it again when the first
	// hook is done.
	repeatWindow = 5 * time.Second
	// maxRepeats bounds what is remembered.
	maxRepeats = 4096
)

// repeats finds calls that reach the bus twice, because the hook is registered
// twice: in two of an agent's own files, or in another agent's settings that
// the agent reads as well. They get one decision.
//
// The same event twice has one id and the same data. A twin comes under another
// of the same agent's names for the event, with a payload of another shape: it
// has the same caller, session, event, tool, input and working directory. A
// grant does not pass to a twin. Another agent's call is never a twin: a rule
// may be about the agent.
type repeats struct {
	mu    sync.Mutex
	known map[string]*settled
	order []*settled
}

// settled is a decision made, or being made until done is closed.
type settled struct {
	done  chan struct{}
	began time.Time
	from  string // the agent's own name of the event
	keys  []string
	v     hook.Verdict
}

func newRepeats() *repeats { return &repeats{known: make(map[string]*settled)} }

// begin returns the decision on the same call, and nil when there is none;
// then the caller decides and must call end with what it gets beside, unless
// that is nil as well: only calls of tools are looked at.
func (r *repeats) begin(e hook.Event, caller, digest string, roster uint64, now time.Time) (before, mine *settled) {
	t, agent, from := e.Data.Tool, e.Data.Native.Agent, e.Data.Native.Event
	if t == nil {
		return nil, nil
	}
	// What was decided with another roster says nothing about this one.
	revision := strconv.FormatUint(roster, 10)
	keys := []string{strings.Join([]string{"same", revision, caller, e.Source, e.ID, string(e.Name), e.Subject, digest}, "\x00")}
	if agent != "" && e.SessionID != "" && len(t.Input) > 0 {
		keys = append(keys, strings.Join([]string{
			"twin", revision, caller, agent, e.SessionID, string(e.Name), hook.Token(t.Name), string(t.Kind), e.Data.CWD, hook.Digest(t.Input),
		}, "\x00"))
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.forget(now)
	for i, key := range keys {
		if s := r.known[key]; s != nil && (i == 0 || s.from != from) {
			return s, nil
		}
	}
	mine = &settled{done: make(chan struct{}), began: now, from: from, keys: keys}
	for _, key := range keys {
		r.known[key] = mine
	}
	r.order = append(r.order, mine)
	return nil, mine
}

// forget drops what is too old or too much. r.mu is held.
func (r *repeats) forget(now time.Time) {
	n := 0
	for n < len(r.order) && (now.Sub(r.order[n].began) > repeatWindow || len(r.order)-n >= maxRepeats) {
		for _, key := range r.order[n].keys {
			if r.known[key] == r.order[n] {
				delete(r.known, key)
			}
		}
		r.order[n] = nil
		n++
	}
	r.order = r.order[n:]
}

func (s *settled) end(v hook.Verdict) {
	s.v = v
	close(s.done)
}

// again is the verdict for the same call sent again; ok is false when the
// first is not decided in time.
func (s *settled) again(ctx context.Context, e hook.Event) (v hook.Verdict, ok bool) {
	select {
	case <-s.done:
	case <-ctx.Done():
		return v, false
	}
	v = s.v
	if s.from != e.Data.Native.Event {
		v.Grant = false
	}
	v.Note = note(v.Note, "the same call came twice and was decided once")
	return v, true
}
