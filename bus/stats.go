package bus

import (
	"math/bits"
	"sync/atomic"
	"time"

	"github.com/grapnel-dev/grapnel/bus/hook"
)

// Stats is what a gateway has done since it started.
type Stats struct {
	// Verdicts counts verdicts by effect.
	Verdicts map[string]int64 `json:"verdicts"`
	// Notifications counts events stored for handlers.
	Notifications int64 `json:"notifications"`
	// Refused counts what was no valid event.
	Refused int64 `json:"refused"`
	// Overloaded counts events denied because too many were under way.
	Overloaded int64 `json:"overloaded"`
	// Repeated counts calls that came again and were not decided again.
	Repeated int64 `json:"repeated"`
	// Unrecorded counts records that the journal did not take.
	Unrecorded int64 `json:"unrecorded"`
	// P50 and P99 are upper bounds of the time from an event's arrival to its
	// verdict's departure, in microseconds, as powers of two.
	P50 int64 `json:"p50_us"`
	P99 int64 `json:"p99_us"`
}

type stats struct {
	verdicts      [hook.Halt + 1]atomic.Int64
	notifications atomic.Int64
	refused       atomic.Int64
	overloaded    atomic.Int64
	repeated      atomic.Int64
	unrecorded    atomic.Int64
	latency       histogram
}

// Stats returns the counters; it may be called at any time.
func (g *Gateway) Stats() Stats {
	s := Stats{
		Verdicts: make(map[string]int64), Notifications: g.stats.notifications.Load(), Refused: g.stats.refused.Load(),
		Overloaded: g.stats.overloaded.Load(), Repeated: g.stats.repeated.Load(), Unrecorded: g.stats.unrecorded.Load(),
	}
	for _, e := range hook.Effects() {
		s.Verdicts[e.String()] = g.stats.verdicts[e].Load()
	}
	s.P50, s.P99 = g.stats.latency.quantile(0.50), g.stats.latency.quantile(0.99)
	return s
}

// histogram counts durations in buckets that double.
type histogram struct{ buckets [40]atomic.Int64 }

func (h *histogram) observe(d time.Duration) {
	h.buckets[min(bits.Len64(uint64(max(d.Microseconds(), 0))), len(h.buckets)-1)].Add(1)
}

// quantile returns the upper bound of the bucket in which q lies, 0 when
// nothing was observed.
func (h *histogram) quantile(q float64) int64 {
	var total int64
	for i := range h.buckets {
		total += h.buckets[i].Load()
	}
	if total == 0 {
		return 0
	}
	var seen int64
	for i := range h.buckets {
		if seen += h.buckets[i].Load(); float64(seen) >= q*float64(total) {
			return 1 << i
		}
	}
	return 1 << len(h.buckets)
}
