package hook

import (
	"encoding/json"
	"time"
)

// Verdict is the merged answer to a blocking event. Its JSON form is what any
// NATS client gets back from a request on hooks.<event>.<tool>.
type Verdict struct {
	// EventID is the id of the event that this verdict is about, and
	// EventDigest the SHA-256 of its data as it arrived, in hex: a verdict
	// cannot be taken for another event's.
	EventID     string `json:"event_id"`
	EventDigest string `json:"event_digest,omitempty"`
	// Effect is the strictest of all that counted.
	Effect Effect `json:"effect"`
	// Reason joins the reasons of all who wanted that effect, in roster order.
	Reason string `json:"reason,omitempty"`
	// Context joins the contexts of all who counted, in roster order.
	Context string `json:"context,omitempty"`
	// Grant says that the allow may skip the agent's own prompt. It is false
	// for every other effect.
	Grant bool `json:"grant,omitzero"`
	// Input is the tool's final input when a decider rewrote it, else absent.
	Input json.RawMessage `json:"input,omitzero"`
	// InputDigest is the SHA-256, in hex, of the final tool input: the bytes
	// that were decided on.
	InputDigest string `json:"input_digest,omitempty"`
	// RosterRevision is the roster's revision that was used.
	RosterRevision uint64 `json:"roster_revision,omitzero"`
	// Outcomes says what became of each decider, in roster order.
	Outcomes []DeciderOutcome `json:"outcomes,omitempty"`
	// Record is the index of the audit record, once it is on disk.
	Record *int64 `json:"record,omitzero"`
	// Note says what the gateway itself did to the effect, such as letting an
	// agent stop after two blocks.
	Note string `json:"note,omitempty"`
	// Time is when the verdict was made.
	Time time.Time `json:"time,omitzero"`
}

// DeciderOutcome is one decider's part in a verdict.
type DeciderOutcome struct {
	Decider string  `json:"decider"`
	Outcome Outcome `json:"outcome"`
	// Effect is what counted: the decision's, or the failure policy's.
	Effect Effect `json:"effect"`
	Reason string `json:"reason,omitempty"`
	// Rules as in [Decision].
	Rules []string `json:"rules,omitempty"`
	// Shadow says that the effect did not count.
	Shadow bool `json:"shadow,omitzero"`
	// Rewrote says that the input was changed by this decider.
	Rewrote bool `json:"rewrote,omitzero"`
	// ElapsedUS is the time from the question to the answer in microseconds.
	ElapsedUS int64 `json:"elapsed_us"`
}

// Record is what the gateway hands to the audit log: one event and what
// became of it.
type Record struct {
	// Kind says what happened.
	Kind RecordKind
	// Time is when the gateway finished with the event.
	Time time.Time
	// Caller is who sent the event, in the server's word and not the
	// sender's; empty where the server does not say.
	Caller string
	// Event is the event as it arrived.
	Event Event
	// Verdict is set for blocking events.
	Verdict *Verdict
	// Note says what else there is to know, for people.
	Note string
}

// RecordKind sorts records.
type RecordKind string

// The record kinds that the bus writes. The audit log adds its own.
const (
	RecordVerdict      RecordKind = "verdict"
	RecordNotification RecordKind = "notification"
	RecordLate         RecordKind = "late"    // an answer that came after the verdict
	RecordRefused      RecordKind = "refused" // something on the bus that was no valid event

	// RecordFallback is written by the edge: the agent cannot be told the
	// verdict as it is, and was given a stricter answer.
	RecordFallback RecordKind = "fallback"
)

// Receipt answers a notification event: it is stored and will reach its
// handlers. Its JSON form is what any NATS client gets back.
type Receipt struct {
	EventID string `json:"event_id"`
	// Stream and Sequence say where the event is stored.
	Stream   string `json:"stream"`
	Sequence uint64 `json:"sequence"`
	// Duplicate says that the same event (source and id) was there already.
	Duplicate bool `json:"duplicate,omitzero"`
}
