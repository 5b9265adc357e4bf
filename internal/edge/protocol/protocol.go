package protocol

import (
	"time"

	"github.com/grapnel-dev/grapnel/bus/hook"
	"github.com/grapnel-dev/grapnel/internal/edge/hookwire"
)

// Call is one hook call as it reached the edge, before it is understood.
type Call struct {
	// Event is the event's name as registered: the agent's own or a canonical
	// one.
	Event string
	// Stdin is what the agent wrote.
	Stdin []byte
	// Source is the event's CloudEvents source, "/<host>/<agent>".
	Source string
	// Now is the time of the call.
	Now time.Time
	// CWD is the hook process's working directory, for payloads without one.
	CWD string
	// Env holds the variables that travelled with the call.
	Env []hookwire.Var
}

// Lookup returns the value of a variable that travelled with the call, or "".
func (c Call) Lookup(name string) string {
	return hookwire.Request{Env: c.Env}.Lookup(name)
}

// Answer is a verdict in an agent's own language.
type Answer struct {
	hookwire.Response
	// Note says what of the verdict the agent cannot express on this event
	// and what was answered in its place; empty when nothing was lost.
	Note string
}

// Evidence says how a capability is known.
type Evidence string

// The kinds of evidence.
const (
	Seen       Evidence = "seen"       // a real agent was watched doing it
	Documented Evidence = "documented" // the agent's documentation says so
)

// Capability is what an agent can be made to do on one of its events.
type Capability struct {
	Agent string `json:"agent"`
	// Event is the agent's own name; Canonical is ours.
	Event     string    `json:"event"`
	Canonical hook.Name `json:"canonical"`
	// Class is "gate", "lifecycle" or "notification".
	Class string `json:"class"`
	// Matcher is the payload's field that stands in Event.Subject.
	Matcher string `json:"matcher,omitempty"`
	// Block: a deny keeps the action from happening.
	Block bool `json:"block"`
	// Ask: the person in front of the agent can be asked.
	Ask bool `json:"ask"`
	// Grant: an allow can skip the agent's own prompt.
	Grant bool `json:"grant"`
	// Rewrite: the tool's input can be changed.
	Rewrite bool `json:"rewrite"`
	// Context: text can be added to the model's context.
	Context bool `json:"context"`
	// Continue: a deny makes the agent carry on working.
	Continue bool `json:"continue"`
	// Halt: the session, turn or teammate can be ended.
	Halt bool `json:"halt"`
	// TimeoutMS is the agent's own time-out for a hook on this event, in
	// milliseconds, when its settings say nothing.
	TimeoutMS int64 `json:"timeout_ms"`
	// Installed: our installer registers this event.
	Installed bool `json:"installed"`
	// Evidence says how the row is known.
	Evidence Evidence `json:"evidence"`
	// Note is for people.
	Note string `json:"note,omitempty"`
}
