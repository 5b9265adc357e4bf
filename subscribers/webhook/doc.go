// Package webhook is the subscriber that asks or tells an HTTP endpoint. As a
// decider it posts a blocking event and reads the decision from the response;
// as a handler it delivers a notification event and tries again where that can
// help.
//
// # What an endpoint gets
//
// One POST for each try. [Hook.Body] says what is in it:
//
//	cloudevents-binary      the event's data; its attributes are ce- headers
//	                        (CloudEvents HTTP binding 1.0.2, section 3.1)
//	cloudevents-structured  the event as application/cloudevents+json (3.2)
//	native                  the agent's own JSON, byte for byte
//
// Binary mode puts every attribute into the request's headers, which many
// servers limit to 8 KiB; structured mode has no such limit.
//
// Each request has the headers webhook-id and webhook-timestamp, and with
// [Hook.Secrets] a webhook-signature for each secret (Standard Webhooks 1.0.0,
// HMAC-SHA256; [Sign], [Verify]). The id is the same in every try for one event
// and hook and differs where the event's bytes differ: an endpoint that saw it
// before may answer as it did then. The timestamp is that of the try.
//
// # What it answers
//
// To a blocking event:
//
//	204, or another 2xx without a body   abstain
//	2xx with a JSON body                 the decision: effect, reason, context,
//	                                     rewrite, rules
//	anything else                        a failure
//
// A body needs the content type application/json (or …+json), is read strictly
// (no unknown or duplicate key, no null, nothing after the document) and has at
// most [Hook.MaxResponse] bytes. An empty body counts as one only where the
// endpoint says so (204, Content-Length: 0, chunks, HTTP/2): without a length
// nobody can tell it from a connection that broke. A failure is an error of
// [Webhook.Decide], so that the failure policy counts; there is no failure that
// ends as abstain or allow by itself. The answer is ours in every body mode.
// Dialects that have a language of their own use [Webhook.Post] and read the
// response themselves.
//
// To a notification event any 2xx is success, whatever the body.
//
// # Tries
//
// Redirects are never followed. As a handler, 408, 425, 429, 5xx, time-outs and
// broken connections are tried again, [Hook.Tries] times within
// [Hook.RetryFor], with exponential backoff and full jitter; every other answer
// is final. Retry-After is honoured up to 30 seconds; an endpoint that asks for
// more is left alone, and whoever hosts the handler may deliver again later. As
// a decider all tries and waits lie within [Hook.Timeout], and only what an
// endpoint did not work on is asked again: connections that could not be made
// or broke before the response, 408, 425, 429, 502, 503 and 504. A try that
// broke may have been worked on all the same; the id is there for that.
//
// # Where it connects to
//
// A [Client] connects to public addresses alone: what is loopback, private,
// link-local (where clouds keep their metadata), shared, multicast, reserved,
// or an IPv4 address inside an IPv6 one is refused, on the address that is
// really dialled, after the name was resolved. [ClientOptions.AllowPrivate] has
// the exceptions. Use one Client with exceptions for the hooks that the user
// wrote and another without for all others: connections are reused within a
// Client only. Plain http is for allowed loopback addresses, everything else is
// https. No proxy is taken from the environment.
//
// # Secrets
//
// Header values and signing secrets may refer to environment variables that
// [Hook.AllowedEnv] names. Neither they nor the URL's path and query stand in
// any error or log line. Of what an endpoint wrote, which may echo them, only its
// decision is passed on, and what the reader objects to in JSON that is none:
// names of members, places, and the word that stands where an effect should.
//
// # Concurrency
//
// All methods may be called concurrently. At most [Hook.Concurrency] requests
// of one Webhook are under way at the same time; the wait for a place counts as
// part of the time-out. Nothing of an event or message is kept after the call.
package webhook
