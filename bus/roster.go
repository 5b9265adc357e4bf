package bus

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sort"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/grapnel-dev/grapnel/bus/hook"
	"github.com/grapnel-dev/grapnel/internal/strictjson"
)

// Predicate decides whether a roster entry's When holds for an event.
type Predicate func(hook.Event) (bool, error)

// Origin says who put an entry into the roster.
type Origin string

// The origins. An entry of the configuration is not touched by `roster set`.
const (
	OriginConfig Origin = "config"
	OriginUser   Origin = "user"
)

// ErrRoster is wrapped by errors about what may stand in the roster.
var ErrRoster = errors.New("roster")

// RosterEntry is an entry with where it came from.
type RosterEntry struct {
	Origin Origin     `json:"origin"`
	Entry  hook.Entry `json:"entry"`
}

// Roster is who must be heard: desired state in a KV bucket, followed live.
// All methods may be called concurrently.
type Roster struct {
	kv      jetstream.KeyValue
	compile func(string) (Predicate, error)
	log     *slog.Logger
	watcher jetstream.KeyWatcher
	done    chan struct{}
	close   sync.Once

	state atomic.Pointer[rosterState]

	mu      sync.Mutex
	changed chan struct{} // closed and replaced at each new state
}

// rosterState is one revision, ready to be asked.
type rosterState struct {
	revision uint64
	raw      map[string]RosterEntry // by key
	members  []member               // in roster order
}

type member struct {
	entry   hook.Entry
	pattern hook.Pattern
	when    Predicate
}

// OpenRoster opens the roster's bucket, makes it where it is not there yet, and
// returns once everything in it has been read. compile turns a When into a
// [Predicate]; nil refuses entries that have one.
func OpenRoster(ctx context.Context, c *Conn, compile func(string) (Predicate, error)) (*Roster, error) {
	kv, err := c.js.CreateOrUpdateKeyValue(ctx, jetstream.KeyValueConfig{
		Bucket: rosterBucket, Description: "who must be heard", History: 16, MaxBytes: 64 << 20,
	})
	if err != nil {
		return nil, fmt.Errorf("open the roster: %w", err)
	}
	r := &Roster{kv: kv, compile: compile, log: c.log, done: make(chan struct{}), changed: make(chan struct{})}
	// The watcher lives until Close, not until the caller's ctx ends.
	if r.watcher, err = kv.WatchAll(context.WithoutCancel(ctx)); err != nil {
		return nil, fmt.Errorf("follow the roster: %w", err)
	}
	state := &rosterState{raw: make(map[string]RosterEntry)}
	for {
		select {
		case update, ok := <-r.watcher.Updates():
			if !ok {
				return nil, fmt.Errorf("follow the roster: %w", ErrDisconnected)
			}
			if update == nil {
				r.publish(state)
				go r.follow()
				return r, nil
			}
			r.apply(state, update)
		case <-ctx.Done():
			_ = r.watcher.Stop()
			return nil, fmt.Errorf("read the roster: %w", ctx.Err())
		}
	}
}

// Close stops following. It is idempotent.
func (r *Roster) Close() {
	r.close.Do(func() { _ = r.watcher.Stop() })
	<-r.done
}

func (r *Roster) follow() {
	defer close(r.done)
	for update := range r.watcher.Updates() {
		if update == nil {
			continue
		}
		old := r.state.Load()
		state := &rosterState{revision: old.revision, raw: make(map[string]RosterEntry, len(old.raw)+1)}
		for k, v := range old.raw {
			state.raw[k] = v
		}
		r.apply(state, update)
		r.publish(state)
	}
}

// apply puts one change into state. An entry that cannot be read must not
// vanish from who is heard: it becomes a decider that nobody answers for.
func (r *Roster) apply(state *rosterState, update jetstream.KeyValueEntry) {
	state.revision = max(state.revision, update.Revision())
	if update.Operation() != jetstream.KeyValuePut {
		delete(state.raw, update.Key())
		return
	}
	var e RosterEntry
	err := strictjson.Unmarshal(update.Value(), &e, 64<<10)
	if err == nil {
		err = e.Entry.Validate()
	}
	if err != nil {
		r.log.Error("bus: a roster entry cannot be read; its decider counts as failed", "key", update.Key(), "error", err)
		e = RosterEntry{Origin: OriginUser, Entry: hook.Entry{Name: "unreadable", OnFailure: hook.FailDeny}}
	}
	state.raw[update.Key()] = e
}

func (r *Roster) publish(state *rosterState) {
	state.members = nil
	for _, e := range state.raw {
		pattern, err := hook.ParsePattern(e.Entry.Filter)
		if err != nil {
			pattern = hook.Pattern{} // everything: stricter than nothing
		}
		m := member{entry: e.Entry, pattern: pattern}
		if e.Entry.When != "" {
			m.when = r.predicate(e.Entry)
		}
		state.members = append(state.members, m)
	}
	sort.Slice(state.members, func(i, j int) bool {
		a, b := state.members[i].entry, state.members[j].entry
		if a.Priority != b.Priority {
			return a.Priority > b.Priority
		}
		return a.Name < b.Name
	})
	r.state.Store(state)
	r.mu.Lock()
	close(r.changed)
	r.changed = make(chan struct{})
	r.mu.Unlock()
}

func (r *Roster) predicate(e hook.Entry) Predicate {
	always := func(hook.Event) (bool, error) { return true, nil }
	if r.compile == nil {
		return always
	}
	p, err := r.compile(e.When)
	if err != nil {
		r.log.Error("bus: a roster entry's when does not compile; its decider is always asked", "decider", e.Name, "error", err)
		return always
	}
	return p
}

// Entries lists what stands in the roster, in roster order, and its revision.
func (r *Roster) Entries() ([]RosterEntry, uint64) {
	s := r.state.Load()
	list := make([]RosterEntry, 0, len(s.raw))
	for _, m := range s.members {
		for _, e := range s.raw {
			if e.Entry.Name == m.entry.Name {
				list = append(list, e)
				break
			}
		}
	}
	return list, s.revision
}

// Set puts an entry into the roster and returns the new revision once this
// roster has it too. It returns [ErrRoster] when the configuration has an
// entry of that name or the When does not compile.
func (r *Roster) Set(ctx context.Context, e hook.Entry) (uint64, error) {
	if err := r.check(e); err != nil {
		return 0, err
	}
	if _, ok := r.state.Load().raw[key(OriginConfig, e.Name)]; ok {
		return 0, fmt.Errorf("%w: %q stands in the configuration file; change it there", ErrRoster, e.Name)
	}
	return r.put(ctx, OriginUser, e)
}

// Remove takes an entry of `roster set` out and returns the new revision.
func (r *Roster) Remove(ctx context.Context, name string) (uint64, error) {
	s := r.state.Load()
	if _, ok := s.raw[key(OriginConfig, name)]; ok {
		return 0, fmt.Errorf("%w: %q stands in the configuration file; remove it there", ErrRoster, name)
	}
	if _, ok := s.raw[key(OriginUser, name)]; !ok {
		return 0, fmt.Errorf("%w: there is no entry %q", ErrRoster, name)
	}
	if err := r.kv.Delete(ctx, key(OriginUser, name)); err != nil {
		return 0, fmt.Errorf("roster: remove %s: %w", name, err)
	}
	return r.wait(ctx, func(s *rosterState) bool { _, ok := s.raw[key(OriginUser, name)]; return !ok })
}

// Sync makes the entries of the configuration exactly these and returns the
// revision.
func (r *Roster) Sync(ctx context.Context, entries []hook.Entry) (uint64, error) {
	want := make(map[string]hook.Entry, len(entries))
	for _, e := range entries {
		if err := r.check(e); err != nil {
			return 0, err
		}
		if _, twice := want[key(OriginConfig, e.Name)]; twice {
			return 0, fmt.Errorf("%w: %q is there twice", ErrRoster, e.Name)
		}
		want[key(OriginConfig, e.Name)] = e
	}
	for k, old := range r.state.Load().raw {
		if old.Origin != OriginConfig || !strings.HasPrefix(k, string(OriginConfig)+".") {
			continue
		}
		if _, keep := want[k]; !keep {
			if err := r.kv.Delete(ctx, k); err != nil {
				return 0, fmt.Errorf("roster: remove %s: %w", old.Entry.Name, err)
			}
		}
	}
	for _, e := range entries {
		if old, ok := r.state.Load().raw[key(OriginConfig, e.Name)]; ok && old.Entry == e {
			continue
		}
		if _, err := r.put(ctx, OriginConfig, e); err != nil {
			return 0, err
		}
	}
	return r.wait(ctx, func(s *rosterState) bool {
		n := 0
		for k := range s.raw {
			if strings.HasPrefix(k, string(OriginConfig)+".") {
				n++
			}
		}
		return n == len(want)
	})
}

func (r *Roster) check(e hook.Entry) error {
	if err := e.Validate(); err != nil {
		return err
	}
	if e.When != "" && r.compile != nil {
		if _, err := r.compile(e.When); err != nil {
			return fmt.Errorf("%w: %s: when: %w", ErrRoster, e.Name, err)
		}
	}
	return nil
}

func (r *Roster) put(ctx context.Context, o Origin, e hook.Entry) (uint64, error) {
	k := key(o, e.Name)
	revision, err := r.kv.Put(ctx, k, marshal(RosterEntry{Origin: o, Entry: e}))
	if err != nil {
		return 0, fmt.Errorf("roster: set %s: %w", e.Name, err)
	}
	return r.wait(ctx, func(s *rosterState) bool { return s.revision >= revision })
}

// wait returns once this roster's own view has caught up.
func (r *Roster) wait(ctx context.Context, ready func(*rosterState) bool) (uint64, error) {
	for {
		r.mu.Lock()
		changed := r.changed
		r.mu.Unlock()
		if s := r.state.Load(); ready(s) {
			return s.revision, nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return 0, fmt.Errorf("roster: wait for the change: %w", ctx.Err())
		}
	}
}

func key(o Origin, name string) string { return string(o) + "." + name }

// heard selects who must be heard on e, in roster order. An entry whose When
// cannot be evaluated is selected.
func (s *rosterState) heard(e hook.Event) []hook.Entry {
	var list []hook.Entry
	for _, m := range s.members {
		if !m.pattern.Match(e.Name, e.Subject) {
			continue
		}
		if m.when != nil {
			if yes, err := m.when(e); err == nil && !yes {
				continue
			}
		}
		list = append(list, m.entry)
	}
	return list
}
