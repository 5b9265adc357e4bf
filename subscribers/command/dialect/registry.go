package dialect

import (
	"fmt"
	"slices"
	"sync"

	"github.com/grapnel-dev/grapnel/runner/trust"
)

// MaxRegistered is how many hooks can be registered at a time.
const MaxRegistered = 100_000

// registry holds the hooks that were registered by a program, for as long as
// the set lives. Registering costs the same however many there are; looking up
// costs what stands under the event.
type registry struct {
	mu     sync.RWMutex
	events map[string][]Hook
	names  map[string][]string // events of a hook
	order  []string
}

// Register adds a hook for as long as the set lives (session-only). Its Name
// identifies it and must be new; its Events are the dialect's own. The error
// wraps [ErrConfig].
func (s *Set) Register(h Hook) error {
	if h.Name == "" {
		return fmt.Errorf("%w: a registered hook needs a name", ErrConfig)
	}
	known := s.dialect.Vocabulary.Names()
	for _, event := range h.Events {
		if !slices.Contains(known, event) {
			return fmt.Errorf("%w: hook %s: %s has no event %q; there are %v", ErrConfig, h.Name, s.dialect.Name, event, known)
		}
	}
	if len(h.Events) == 0 {
		return fmt.Errorf("%w: hook %s: it names no event", ErrConfig, h.Name)
	}
	if h.Type == "" {
		h.Type = TypeCommand
	}
	if h.Origin.File == "" {
		h.Origin = Origin{File: "session", Source: trust.Session}
	}
	r := s.registry
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.events == nil {
		r.events, r.names = make(map[string][]Hook), make(map[string][]string)
	}
	if _, taken := r.names[h.Name]; taken {
		return fmt.Errorf("%w: there is a hook %s already", ErrConfig, h.Name)
	}
	if len(r.names) >= MaxRegistered {
		return fmt.Errorf("%w: %d hooks are registered, and there can be no more", ErrConfig, MaxRegistered)
	}
	r.names[h.Name] = slices.Clone(h.Events)
	r.order = append(r.order, h.Name)
	for _, event := range h.Events {
		r.events[event] = append(r.events[event], h)
	}
	return nil
}

// Unregister takes a hook out that was registered, and reports whether there
// was one.
func (s *Set) Unregister(name string) bool {
	r := s.registry
	r.mu.Lock()
	defer r.mu.Unlock()
	events, ok := r.names[name]
	if !ok {
		return false
	}
	for _, event := range events {
		r.events[event] = slices.DeleteFunc(slices.Clone(r.events[event]), func(h Hook) bool { return h.Name == name })
	}
	delete(r.names, name)
	r.order = slices.DeleteFunc(r.order, func(n string) bool { return n == name })
	return true
}

// Registered returns the registered hooks of an event, in the order of
// registration; "" means all events, each hook once.
func (s *Set) Registered(event string) []Hook {
	if event == "" {
		return s.registry.all()
	}
	return slices.Clone(s.registry.forEvent(event))
}

// Lookup returns a registered hook by its name.
func (s *Set) Lookup(name string) (Hook, bool) {
	s.registry.mu.RLock()
	defer s.registry.mu.RUnlock()
	return s.registry.find(name)
}

// Clear takes out the registered hooks of an event, or all with "". A hook of
// several events stays for the others.
func (s *Set) Clear(event string) {
	r := s.registry
	r.mu.Lock()
	defer r.mu.Unlock()
	if event == "" {
		r.events, r.names, r.order = nil, nil, nil
		return
	}
	for _, h := range r.events[event] {
		rest := slices.DeleteFunc(slices.Clone(r.names[h.Name]), func(e string) bool { return e == event })
		if r.names[h.Name] = rest; len(rest) == 0 {
			delete(r.names, h.Name)
		}
	}
	delete(r.events, event)
	r.order = slices.DeleteFunc(r.order, func(n string) bool { _, there := r.names[n]; return !there })
}

// Count is how many hooks are registered.
func (s *Set) Count() int {
	s.registry.mu.RLock()
	defer s.registry.mu.RUnlock()
	return len(s.registry.names)
}

func (r *registry) forEvent(event string) []Hook {
	r.mu.RLock()
	defer r.mu.RUnlock()
	return r.events[event] // never changed in place but by append
}

func (r *registry) find(name string) (Hook, bool) {
	for _, event := range r.names[name] {
		for _, h := range r.events[event] {
			if h.Name == name {
				return h, true
			}
		}
	}
	return Hook{}, false
}

func (r *registry) all() []Hook {
	r.mu.RLock()
	defer r.mu.RUnlock()
	var list []Hook
	for _, name := range r.order {
		if h, ok := r.find(name); ok {
			list = append(list, h)
		}
	}
	return list
}
