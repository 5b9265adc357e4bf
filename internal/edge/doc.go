// Package edge is where agents connect: it turns what an agent's hook process
// wrote into an event, takes the event to the bus and brings the verdict back
// in the agent's own language.
//
// # One request
//
// [Edge.Decide] is the whole of it. The agent's protocol (package
// internal/edge/claudecode and its like) reads the payload strictly; a
// blocking event is a request on the bus, bounded by the caller's deadline and
// the edge's own budget, whichever is earlier; a notification is published,
// bounded by a short time, because nobody waits for the answer. Pieces of a
// stream are published in the background, in order.
//
// # Failure
//
// Whatever goes wrong, a gate (tool, permission and prompt events) is denied
// with the reason and what to do, and never answered with nothing; a lifecycle
// event passes and the failure is logged; a notification passes. A verdict
// about another event is a failure. Decide returns in time even when the bus
// does not.
//
// # The hook socket
//
// [Listen] puts a unix socket with mode 0600 into a directory that only its
// owner can enter; the peer's user id is checked where the platform tells it
// ([PeerCheck]). One connection carries one frame in and one frame out
// (package hookwire). Count, size and time of connections are limited.
// [Server.Run] returns when its context ends and everything under way has been
// answered.
//
// # Without a daemon
//
// [Offline] is a Bus that decides from the last signed policy bundle, or says
// what to do; behind an Edge it gives the answers by event class. The full
// binary's hook command and the shim thus give the same bytes as the daemon.
//
// # Concurrency and retention
//
// An Edge and a Server may be used from many goroutines. A request's stdin
// lives in the event for as long as the bus keeps that.
package edge
