// Package protocol holds what the agents' protocols share: the [Call] that an
// event is made of, the [Answer] that goes back, and the [Capability] table
// that says what an agent can be made to do.
//
// A protocol is a package of its own under internal/edge. It reads an agent's
// bytes strictly and writes only what the agent is known to obey; what an
// agent cannot express it answers more strictly, never more loosely, and says
// so in [Answer.Note].
package protocol
