package hook

import (
	"errors"
	"fmt"
	"sort"
	"time"
)

// ErrEntry is wrapped by every error of [Entry.Validate].
var ErrEntry = errors.New("hook: bad roster entry")

// Entry is one line of the roster: a decider that matching events must hear
// from. The JSON form is what `grapnel roster set` takes.
type Entry struct {
	// Name is the decider's name, one subject token.
	Name string `json:"name"`
	// Filter selects events, see [Pattern] (several with commas between);
	// empty means all blocking events.
	Filter string `json:"filter,omitempty"`
	// When is a CEL expression over the event; empty means always. An
	// expression that cannot be evaluated counts as true: the decider is
	// asked.
	When string `json:"when,omitempty"`
	// Priority orders deciders, high first; equal ones go by name.
	Priority int `json:"priority,omitzero"`
	// Timeout is how long this decider may take; zero means until the
	// event's deadline. While it sends "working" beats it may take until the
	// deadline.
	Timeout Duration `json:"timeout,omitzero"`
	// OnFailure counts when it does not answer; empty means by event class.
	OnFailure FailurePolicy `json:"on_failure,omitempty"`
	// Rewrites permits it to change the tool's input.
	Rewrites bool `json:"rewrites,omitzero"`
	// Grants permits its allow to skip the agent's own prompt.
	Grants bool `json:"grants,omitzero"`
	// Shadow records its decision and never counts it.
	Shadow bool `json:"shadow,omitzero"`
	// WaitAll keeps the gather open for this decider after somebody denied.
	WaitAll bool `json:"wait_all,omitzero"`
}

// Validate reports what is wrong with the entry; the error wraps [ErrEntry].
// It does not compile When.
func (e Entry) Validate() error {
	if !plainToken(e.Name) || e.Name == NoTool {
		return fmt.Errorf("%w: name %q must be 1 to 64 of a-z, 0-9, '_' and '-'", ErrEntry, clip(e.Name, 80))
	}
	if _, err := ParsePattern(e.Filter); err != nil {
		return fmt.Errorf("%w %s: %w", ErrEntry, e.Name, err)
	}
	if e.Timeout < 0 || time.Duration(e.Timeout) > MaxTimeout {
		return fmt.Errorf("%w %s: timeout %s must be between 0 and %s", ErrEntry, e.Name, time.Duration(e.Timeout), MaxTimeout)
	}
	if err := new(FailurePolicy).UnmarshalText([]byte(e.OnFailure)); err != nil {
		return fmt.Errorf("%w %s: %w", ErrEntry, e.Name, err)
	}
	if e.Shadow && e.Rewrites {
		return fmt.Errorf("%w %s: a shadow decider cannot rewrite", ErrEntry, e.Name)
	}
	return nil
}

// MaxTimeout is the longest that any decider may be given.
const MaxTimeout = 24 * time.Hour

// SortEntries puts entries in roster order: priority high first, then name.
func SortEntries(entries []Entry) {
	sort.SliceStable(entries, func(i, j int) bool { return entries[i].before(entries[j]) })
}

func (e Entry) before(o Entry) bool {
	if e.Priority != o.Priority {
		return e.Priority > o.Priority
	}
	return e.Name < o.Name
}

// Duration is a time.Duration whose text form is Go's ("1m30s").
type Duration time.Duration

// MarshalText implements encoding.TextMarshaler.
func (d Duration) MarshalText() ([]byte, error) { return []byte(time.Duration(d).String()), nil }

// UnmarshalText reads Go's duration syntax.
func (d *Duration) UnmarshalText(text []byte) error {
	v, err := time.ParseDuration(string(text))
	if err != nil {
		return fmt.Errorf("hook: duration %q: write it as 500ms, 10s or 2m", clip(string(text), 40))
	}
	*d = Duration(v)
	return nil
}
