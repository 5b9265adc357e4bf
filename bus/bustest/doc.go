// Package bustest starts a real bus for tests ([Start]) and holds the
// conformance suite ([Run]) that every way to run a broker must pass: embedded
// and in process, embedded over TCP, and a separate NATS server.
//
// Only tests import it.
package bustest
