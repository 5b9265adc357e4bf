package dialect

import (
	"sync"
	"time"
)

// maxKeys bounds what is remembered of hooks and sessions.
const maxKeys = 20_000

// budget counts how often a hook runs for a session within a minute.
type budget struct {
	limit int
	mu    sync.Mutex
	runs  map[[2]string]window
}

type window struct {
	start time.Time
	count int
}

func newBudget(limit int) *budget { return &budget{limit: limit, runs: make(map[[2]string]window)} }

func (b *budget) take(hook, session string) bool {
	now := time.Now()
	b.mu.Lock()
	defer b.mu.Unlock()
	key := [2]string{hook, session}
	w, ok := b.runs[key]
	if !ok || now.Sub(w.start) >= time.Minute {
		if !ok && len(b.runs) >= maxKeys {
			for k, old := range b.runs {
				if now.Sub(old.start) >= time.Minute {
					delete(b.runs, k)
				}
			}
			if len(b.runs) >= maxKeys {
				return false // a storm of sessions
			}
		}
		w = window{start: now}
	}
	w.count++
	b.runs[key] = w
	return w.count <= b.limit
}

// seen remembers what happened once.
type seen struct {
	mu   sync.Mutex
	keys map[string]bool
}

func newSeen() *seen { return &seen{keys: make(map[string]bool)} }

// first reports whether the key is new.
func (s *seen) first(key string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.keys[key] {
		return false
	}
	if len(s.keys) >= maxKeys {
		clear(s.keys)
	}
	s.keys[key] = true
	return true
}
