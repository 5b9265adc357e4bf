package prompt

import (
	"errors"
	"fmt"
	"math"
	"sync"
	"time"
)

// ErrBudget: asking would exceed what may be spent in an hour. The failure
// policy counts; it is never an allow.
var ErrBudget = errors.New("prompt hook budget is spent")

// window is the time that limits are over; it slides.
const window = time.Hour

// maxUsage bounds what one answer can be counted as, so that sums stay far from
// overflow whatever a server claims.
const maxUsage = 1 << 40

// Usage counts tokens.
type Usage struct {
	Input  int64
	Output int64
}

// Limits are what may be spent in any one hour. Zero means no limit of that
// kind.
type Limits struct {
	// Requests counts each attempt.
	Requests int
	// Tokens counts input and output.
	Tokens int64
	// Money is in the currency of [Model.Prices].
	Money float64
}

// Spent is what was spent in the last hour, with what is reserved for requests
// under way.
type Spent struct {
	Requests int
	Tokens   int64
	Money    float64
}

// Budget caps what judges that share it spend in an hour. Before a request the
// most that it can cost is reserved; afterwards what it did cost takes the
// place of that. So the caps hold whatever runs at the same time, at the price
// that a small budget may refuse what would have fitted: a request's input is
// reserved at a token for each byte. What a server does not report, or what
// broke off, counts as reserved. A request that the server refused counts as a
// request alone.
//
// A Budget is safe for concurrent use. It lives in memory: a new process begins
// with an empty hour.
type Budget struct {
	limits Limits

	mu    sync.Mutex
	spent []*expense // by time
}

// expense is one request, reserved or settled.
type expense struct {
	at     time.Time
	tokens int64
	micros int64 // millionths of the currency
}

// NewBudget makes a budget. The error wraps [ErrConfig].
func NewBudget(l Limits) (*Budget, error) {
	if l.Requests < 0 || l.Tokens < 0 || !(l.Money >= 0 && l.Money <= 1e12) {
		return nil, fmt.Errorf("%w: budget: limits cannot be negative or beyond all measure", ErrConfig)
	}
	return &Budget{limits: l}, nil
}

// Spent tells what the last hour has cost.
func (b *Budget) Spent() Spent {
	b.mu.Lock()
	defer b.mu.Unlock()
	tokens, micros := b.sum(time.Now())
	return Spent{Requests: len(b.spent), Tokens: tokens, Money: float64(micros) / 1e6}
}

// sum drops what is over an hour old and adds up the rest.
func (b *Budget) sum(now time.Time) (tokens, micros int64) {
	old := 0
	for old < len(b.spent) && now.Sub(b.spent[old].at) >= window {
		old++
	}
	b.spent = b.spent[old:]
	for _, e := range b.spent {
		tokens, micros = add(tokens, e.tokens), add(micros, e.micros)
	}
	return tokens, micros
}

// add adds what is not negative and stays at the top.
func add(a, b int64) int64 {
	if a > math.MaxInt64-b {
		return math.MaxInt64
	}
	return a + b
}

// reserve takes the most that a request can cost, or says that it does not fit.
// A nil Budget has no limits.
func (b *Budget) reserve(most Usage, p Prices) (*expense, error) {
	if b == nil {
		return nil, nil
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	now := time.Now()
	tokens, micros := b.sum(now)
	e := &expense{at: now, tokens: most.Input + most.Output, micros: p.cost(most)}
	refuse := func(what string) error {
		if len(b.spent) == 0 {
			return fmt.Errorf("%w: one request may need more %s than an hour has", ErrBudget, what)
		}
		free := window - now.Sub(b.spent[0].at)
		return fmt.Errorf("%w: no %s left in this hour; some come back in %s", ErrBudget, what, free.Round(time.Second))
	}
	switch l := b.limits; {
	case l.Requests > 0 && len(b.spent) >= l.Requests:
		return nil, refuse("requests")
	case l.Tokens > 0 && add(tokens, e.tokens) > l.Tokens:
		return nil, refuse("tokens")
	case l.Money > 0 && add(micros, e.micros) > int64(l.Money*1e6):
		return nil, refuse("money")
	}
	b.spent = append(b.spent, e)
	return e, nil
}

// settle puts what a request did cost in the place of what was reserved. The
// time stays that of the request.
func (b *Budget) settle(e *expense, did Usage, p Prices) {
	if b == nil {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	e.tokens, e.micros = did.Input+did.Output, p.cost(did)
}

// sane is u as it can be counted, and false when it reports nothing.
func (u Usage) sane() (Usage, bool) {
	if u.Input <= 0 || u.Output < 0 {
		return Usage{}, false
	}
	return Usage{min(u.Input, maxUsage), min(u.Output, maxUsage)}, true
}
