package bus

import (
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
)

// inbox is the gateway's one long-lived subscription for answers. Each
// question has a token of its own that nobody else knows: it is the decider's
// proof that the question was put to it.
type inbox struct {
	prefix string
	sub    *nats.Subscription
	log    *slog.Logger
	late   func(lateReply)

	mu      sync.Mutex
	waiting map[string]place
	retired map[string]retiredPlace
	order   []string // retired tokens, oldest first
}

// place is where the answer to one token goes.
type place struct {
	replies  chan<- reply
	question int
	decider  string
	event    string
}

// retiredPlace remembers a question whose gather is over, so that what comes
// late can be put on record.
type retiredPlace struct{ decider, event string }

type lateReply struct {
	decider, event string
	at             time.Time
	body           string
}

const maxRetired = 4096

func newInbox(c *Conn, log *slog.Logger, late func(lateReply)) (*inbox, error) {
	id := make([]byte, 8)
	_, _ = rand.Read(id) // never fails (crypto/rand)
	b := &inbox{
		prefix: gatherPrefix + hex.EncodeToString(id) + ".", log: log, late: late,
		waiting: make(map[string]place), retired: make(map[string]retiredPlace),
	}
	var err error
	if b.sub, err = c.nc.Subscribe(b.prefix+"*", b.receive); err != nil {
		return nil, fmt.Errorf("subscribe to the gateway's inbox: %w", err)
	}
	// Answers are small and the callback does not block; a burst must not be
	// dropped.
	if err := b.sub.SetPendingLimits(-1, 256<<20); err != nil {
		return nil, err
	}
	return b, nil
}

// open gives each place a token and returns their reply subjects.
func (b *inbox) open(places []place) []string {
	random := make([]byte, 16*len(places))
	_, _ = rand.Read(random)
	subjects := make([]string, len(places))
	b.mu.Lock()
	defer b.mu.Unlock()
	for i, p := range places {
		token := hex.EncodeToString(random[16*i : 16*i+16])
		subjects[i] = b.prefix + token
		b.waiting[token] = p
	}
	return subjects
}

// retire closes the places of a gather; what still comes on them is late.
func (b *inbox) retire(subjects []string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, s := range subjects {
		token := s[len(b.prefix):]
		p, ok := b.waiting[token]
		if !ok {
			continue
		}
		delete(b.waiting, token)
		b.retired[token] = retiredPlace{p.decider, p.event}
		b.order = append(b.order, token)
	}
	for len(b.order) > maxRetired {
		delete(b.retired, b.order[0])
		b.order = b.order[1:]
	}
}

func (b *inbox) receive(m *nats.Msg) {
	token := strings.TrimPrefix(m.Subject, b.prefix)
	b.mu.Lock()
	p, ok := b.waiting[token]
	gone, late := b.retired[token]
	if late {
		delete(b.retired, token)
	}
	b.mu.Unlock()
	switch {
	case ok:
		r := classify(m)
		r.question = p.question
		select {
		case p.replies <- r:
		default: // somebody floods its own place; what it said first stands
			b.log.Warn("bus: decider sends more answers than are read", "decider", p.decider, "event", p.event)
		}
	case late:
		if m.Header.Get(statusHeader) == statusWorking || m.Header.Get("Status") != "" {
			return
		}
		b.late(lateReply{decider: gone.decider, event: gone.event, at: time.Now(), body: clip(string(m.Data))})
	default:
		b.log.Warn("bus: answer to no question", "subject_length", len(m.Subject))
	}
}

// classify reads one message on the inbox. What it is is decided by its
// headers before its body is looked at: an empty body is never an answer.
func classify(m *nats.Msg) reply {
	if len(m.Header) > 0 {
		if m.Header.Get("Status") == "503" {
			return reply{kind: replyAbsent}
		}
		switch m.Header.Get(statusHeader) {
		case "":
		case statusWorking:
			return reply{kind: replyWorking}
		case statusError:
			return reply{kind: replyCrashed, err: clip(string(m.Data))}
		default:
			return reply{kind: replyMalformed, err: "unknown " + statusHeader}
		}
	}
	return classifyDecision(m.Data)
}

func classifyDecision(b []byte) reply {
	d, err := DecodeDecision(b)
	if err != nil {
		return reply{kind: replyMalformed, err: "its answer is no decision: " + clip(err.Error())}
	}
	return reply{kind: replyDecision, decision: d, body: string(b)}
}
