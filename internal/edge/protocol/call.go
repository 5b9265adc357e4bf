package protocol

import (
	"time"

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
