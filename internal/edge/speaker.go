package edge

import (
	"github.com/grapnel-dev/grapnel/bus/hook"
	"github.com/grapnel-dev/grapnel/internal/edge/claudecode"
	"github.com/grapnel-dev/grapnel/internal/edge/protocol"
)

// speaker is one agent's protocol.
type speaker struct {
	// Event reads a call.
	Event func(protocol.Call) (hook.Event, error)
	// Refuse answers a call that Event would not take.
	Refuse func(protocol.Call, error) protocol.Answer
	// Answer says a verdict on one of the agent's own events.
	Answer func(event string, v hook.Verdict) protocol.Answer
}

// speakers finds an agent's protocol by its name on the command line.
func speakers(agent string) (speaker, bool) {
	switch agent {
	case claudecode.Agent:
		return speaker{Event: claudecode.Event, Refuse: claudecode.Refuse, Answer: claudecode.Answer}, true
	}
	return speaker{}, false
}

// Agents lists the agents that the edge knows, by their name on the command
// line.
func Agents() []string { return []string{claudecode.Agent} }

// Capability is what an agent can be made to do on one of its events.
type Capability = protocol.Capability

// Capabilities lists what the agents can be made to do, one entry an event.
func Capabilities() []Capability { return claudecode.Capabilities() }
