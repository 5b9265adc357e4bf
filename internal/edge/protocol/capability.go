package protocol

import (
	"time"

	"github.com/grapnel-dev/grapnel/bus/hook"
)

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

// Capabilities lists what the agent can be made to do, one entry an event.
func (a *Agent) Capabilities() []Capability {
	list := make([]Capability, 0, len(a.Events))
	for _, e := range a.Events {
		list = append(list, Capability{
			Agent: a.Name, Event: e.Name, Canonical: e.Canonical, Class: e.Canonical.Class().String(), Matcher: e.Subject,
			Block: e.Block, Ask: e.Ask, Grant: e.Grant, Rewrite: e.Rewrite, Context: e.Context, Continue: e.Continue, Halt: e.Halt,
			TimeoutMS: int64(e.Timeout / time.Millisecond), Installed: !e.Unregistered, Evidence: e.Evidence, Note: e.Note,
		})
	}
	return list
}
