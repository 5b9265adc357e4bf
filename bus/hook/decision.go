package hook

import (
	"context"
	"encoding/json"
)

// Decision is one decider's answer to a blocking event.
type Decision struct {
	// Effect is required on the wire.
	Effect Effect `json:"effect"`
	// Reason is for the person and the model; give one with every effect but
	// abstain.
	Reason string `json:"reason,omitempty"`
	// Context is text to add to the model's context.
	Context string `json:"context,omitempty"`
	// Rewrite is the whole new tool input, a JSON object; only deciders whose
	// roster entry says so may send one.
	Rewrite json.RawMessage `json:"rewrite,omitzero"`
	// Rules names the policy rules that led here.
	Rules []string `json:"rules,omitempty"`
}

// Decider answers blocking events.
//
// Decide may be called from many goroutines at once. It must return when ctx
// ends; the event's deadline is on ctx. An error means that no decision could
// be made, and the decider's failure policy then counts; the text goes into
// the record. The event's byte slices may be kept and must not be written to.
type Decider interface {
	Decide(ctx context.Context, e Event) (Decision, error)
}

// DeciderFunc is a function as a [Decider].
type DeciderFunc func(ctx context.Context, e Event) (Decision, error)

// Decide calls f.
func (f DeciderFunc) Decide(ctx context.Context, e Event) (Decision, error) { return f(ctx, e) }

// Handler receives notification events. The rules of [Decider] hold. A nil
// error means the event is done with.
type Handler interface {
	Handle(ctx context.Context, e Event) error
}

// HandlerFunc is a function as a [Handler].
type HandlerFunc func(ctx context.Context, e Event) error

// Handle calls f.
func (f HandlerFunc) Handle(ctx context.Context, e Event) error { return f(ctx, e) }
