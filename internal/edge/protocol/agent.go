package protocol

import (
	"slices"
	"time"

	"github.com/grapnel-dev/grapnel/bus/hook"
	"github.com/grapnel-dev/grapnel/internal/edge/hookwire"
)

// Agent is one agent's protocol.
type Agent struct {
	// Name is its name on our command line; Title is what people call it.
	Name, Title string
	// Events are its hook events, in the order of a session. Names are unique.
	Events []Event
	// Keys are the fields of its payloads.
	Keys Keys
	// Kind sorts its tools.
	Kind func(tool string) hook.Kind
	// Fill sets what Keys do not say; nil when they say all. Errors go to the
	// fields' [Fields.Fail].
	Fill func(f *Fields, row Event, c Call, e *hook.Event)
	// Sniff names the event of a payload that does not say, where its fields
	// tell; nil and "" where they do not.
	Sniff func(f *Fields) string
	// Say puts a reply into the agent's words.
	Say func(r *Reply) hookwire.Response
	// MaxText is where texts are cut, in UTF-16 units; 0 means
	// [DefaultMaxText].
	MaxText int
	// Manner is how it runs hooks.
	Manner Manner
	// Quirks are what users of this agent should know, each with its source.
	Quirks []string
}

// Manner is how an agent runs hooks, in words for people.
type Manner struct {
	// Order says how the hooks of one event run.
	Order string `json:"order"`
	// Failure is what happens to a tool call when its hook crashes, is missing
	// or runs out of time.
	Failure string `json:"failure"`
	// Unit is that of time-outs in the agent's settings.
	Unit string `json:"unit"`
	// Evidence says how it is known.
	Evidence Evidence `json:"evidence"`
}

// DefaultMaxText is where texts for agents without a known limit are cut.
const DefaultMaxText = 10_000

// Event is one of an agent's hook events, and what a hook can do there.
type Event struct {
	// Name is the agent's own; Aliases are other names that it is registered
	// or sent under.
	Name    string
	Aliases []string
	// Says are names of other rows that this event's payload may carry.
	Says []string
	// Canonical is what it becomes. It also says what silence means, by its
	// class.
	Canonical hook.Name
	// Subject is the payload's field that the event's subject is taken from;
	// empty for tool events, whose subject is the tool, and for events without
	// one.
	Subject string
	// Tool: the event is about a tool call that Keys find; ToolFree gates (a
	// prompt) have none.
	Tool bool
	// AnyInput: the tool's input need not be an object.
	AnyInput bool

	Block   bool // a deny keeps it from happening
	Ask     bool // the person can be asked
	Grant   bool // an allow skips the agent's own question
	Rewrite bool // the tool's input can be changed, whole
	// RewriteGrants: a changed input is taken only with an allow, which may
	// skip the agent's own question; so it takes a grant.
	RewriteGrants bool
	// RewriteMerges: a changed input is laid over the called one, so that no key
	// can be taken out.
	RewriteMerges bool
	Context       bool // text can be added to the model's context
	Continue      bool // a deny makes the agent carry on working
	Halt          bool // the session or turn can be ended
	Feedback      bool // a deny comes too late, and its reason reaches the model

	// SilenceAsks: the agent may take every answer but an ask for a grant or a
	// block, so no opinion is said as an ask.
	SilenceAsks bool

	// Timeout is the agent's own when its settings say nothing.
	Timeout time.Duration
	// Unregistered: our installer leaves it out; Note says why.
	Unregistered bool
	Evidence     Evidence
	// Note is for people.
	Note string
}

// Keys are names of a payload's fields, each with the alternatives that the
// agent uses, first come first served; empty where there is none.
type Keys struct {
	Event, Session, Turn, Time, CWD, Mode, Model                        []string
	ToolName, ToolInput, CallID, Result, Error, Duration                []string
	Prompt, Message, Reason, StopActive, SubagentID, SubagentType, Path []string
}

// Lookup finds an event by the agent's own name, an alias or the canonical
// name, in this order; false gives a row of that name that is none.
func (a *Agent) Lookup(name string) (Event, bool) {
	for _, fits := range []func(Event) bool{
		func(e Event) bool { return e.Name == name },
		func(e Event) bool { return slices.Contains(e.Aliases, name) },
		func(e Event) bool { return string(e.Canonical) == name },
	} {
		if i := slices.IndexFunc(a.Events, fits); i >= 0 {
			return a.Events[i], true
		}
	}
	return Event{Name: name, Canonical: hook.Other}, false
}
