package dialect

import (
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/grapnel-dev/grapnel/bus/hook"
	"github.com/grapnel-dev/grapnel/subscribers/command"
)

// Metrics count the runs of one hook since the set was made.
type Metrics struct {
	Hook string `json:"hook"`
	File string `json:"file"`
	Runs int64  `json:"runs"`
	// Failures did not do what they should, Denials denied or halted, Cached
	// were not run at all.
	Failures int64 `json:"failures"`
	Denials  int64 `json:"denials"`
	Cached   int64 `json:"cached"`
	// TotalMS and MaxMS are in milliseconds, with everything around the
	// command.
	TotalMS float64   `json:"total_ms"`
	MaxMS   float64   `json:"max_ms"`
	Last    time.Time `json:"last,omitzero"`
}

type meter struct {
	mu    sync.Mutex
	hooks map[[2]string]*Metrics
}

func newMeter() *meter { return &meter{hooks: make(map[[2]string]*Metrics)} }

func (m *meter) count(x *command.Execution) {
	m.mu.Lock()
	defer m.mu.Unlock()
	key := [2]string{x.File, x.Hook}
	h, ok := m.hooks[key]
	if !ok {
		if len(m.hooks) >= maxKeys {
			return
		}
		h = &Metrics{Hook: x.Hook, File: x.File}
		m.hooks[key] = h
	}
	h.Last = x.Started
	if x.Cached {
		h.Cached++
		return
	}
	h.Runs++
	h.TotalMS += x.DurationMS
	h.MaxMS = max(h.MaxMS, x.DurationMS)
	if x.Error != "" {
		h.Failures++
	}
	if x.Effect != nil && *x.Effect >= hook.Deny {
		h.Denials++
	}
}

// Metrics returns the counts of all hooks that have run, by file and name.
func (s *Set) Metrics() []Metrics {
	s.meter.mu.Lock()
	defer s.meter.mu.Unlock()
	list := make([]Metrics, 0, len(s.meter.hooks))
	for _, h := range s.meter.hooks {
		list = append(list, *h)
	}
	slices.SortFunc(list, func(a, b Metrics) int {
		return strings.Compare(a.File+"\x00"+a.Hook, b.File+"\x00"+b.Hook)
	})
	return list
}
