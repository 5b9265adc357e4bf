// Package httpedge is the edge over HTTP: for agents that post their hooks
// instead of starting a process, and for programs that send CloudEvents.
//
//	POST /hook/AGENT/EVENT   the agent's own JSON in, the agent's own JSON out
//	POST /events             one CloudEvent in; a verdict or a receipt out
//
// # Hooks
//
// AGENT and EVENT are as on the hook program's command line. The answer is
// what the hook program would print, with status 200, or 204 where it prints
// nothing; Grapnel-Exit-Code says what it would exit with. Everything else is
// as in package edge, and so is what fails how: a gate never gets an empty
// answer.
//
// # CloudEvents
//
// Binary and structured mode of the HTTP protocol binding, version 1.0, read by
// the CloudEvents SDK and then once more by our own strict codec, which counts
// (package bus/cloudevent). Batches are refused: each event that somebody waits
// for has its own answer. A blocking event is answered with its verdict and
// status 200. When there is none, the answer is status 503 with a verdict that
// denies gates. Other events get 202 and a receipt once they are stored.
//
// # Who may
//
// Requests need "Authorization: Bearer TOKEN". The Host header must be the
// listener's own name, which keeps web pages out that have their name resolve
// to this machine; a request with an Origin header comes from a browser and is
// refused whatever it says. [Listen] takes loopback addresses alone: there is
// no encryption here.
//
// # Limits
//
// Bodies and headers are limited as on the hook socket, requests to [MaxConns]
// at a time, and each part of a request in time. Connections are kept alive.
package httpedge
