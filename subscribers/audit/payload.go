package audit

import (
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"

	jsonv2 "github.com/go-json-experiment/json"

	"github.com/grapnel-dev/grapnel/bus/cloudevent"
	"github.com/grapnel-dev/grapnel/bus/hook"
	"github.com/grapnel-dev/grapnel/internal/redact"
)

// ErrTooLarge says that a record does not fit; see [MaxPayload].
var ErrTooLarge = errors.New("audit: the record is too large")

// Payload is the content of a record, secrets taken out. It stands beside the
// leaf, and a redaction deletes it.
type Payload struct {
	// Event is the event as structured CloudEvents JSON.
	Event json.RawMessage `json:"event,omitempty"`
	// Verdict is the [hook.Verdict]. Where a secret was taken out of the
	// record, its digests are keyed tags: a plain digest would let anybody
	// try guesses of the secret.
	Verdict json.RawMessage `json:"verdict,omitempty"`
	// Note is for people.
	Note string `json:"note,omitempty"`
	// Invalid holds what there is of an event that could not be written as a
	// CloudEvent, and why.
	Invalid *Invalid `json:"invalid,omitempty"`
	// Reason says why a record was redacted.
	Reason string `json:"reason,omitempty"`
}

// Invalid is an event that is none.
type Invalid struct {
	Error string `json:"error"`
	Type  string `json:"type,omitempty"`
	Data  string `json:"data,omitempty"`
}

// entry is a record ready to be written but for its index and time.
type entry struct {
	body    []byte
	salt    [saltSize]byte
	payload []byte
}

// maxInvalid bounds how much of an invalid event is kept.
const maxInvalid = 64 << 10

// prepare makes the entry of r. All work that needs no lock is done here.
func prepare(r hook.Record, redactor *redact.Redactor) (entry, error) {
	var p Payload
	var err error
	if p.Event, err = cloudevent.Marshal(r.Event); err != nil {
		p.Event = nil
		if r.Kind != hook.RecordRefused || r.Event.ID != "" || r.Event.Raw != nil {
			p.Invalid = &Invalid{Error: clip(err.Error(), 1024), Type: clip(string(r.Event.Name), 256), Data: clip(string(r.Event.Raw), maxInvalid)}
		}
	}
	if r.Verdict != nil {
		if p.Verdict, err = jsonv2.Marshal(r.Verdict); err != nil {
			return entry{}, fmt.Errorf("audit: verdict: %w", err)
		}
	}
	p.Note = clip(r.Note, maxInvalid)
	return seal(envelopeOf(r), p, r.Verdict, redactor)
}

// seal redacts payload and envelope and binds the one to the other.
func seal(e Envelope, p Payload, verdict *hook.Verdict, redactor *redact.Redactor) (entry, error) {
	var out entry
	raw, err := encodePayload(p)
	if err != nil {
		return out, err
	}
	out.payload, e.Secrets = redactor.Bytes(raw)
	if e.Secrets > 0 && verdict != nil {
		v := *verdict
		v.EventDigest, v.InputDigest = keyed(v.EventDigest, redactor), keyed(v.InputDigest, redactor)
		if p.Verdict, err = jsonv2.Marshal(v); err != nil {
			return out, fmt.Errorf("audit: verdict: %w", err)
		}
		if raw, err = encodePayload(p); err != nil {
			return out, err
		}
		out.payload, _ = redactor.Bytes(raw)
	}
	if len(out.payload) > MaxPayload {
		return out, fmt.Errorf("%w: its payload has %d bytes, at most %d", ErrTooLarge, len(out.payload), MaxPayload)
	}
	rand.Read(out.salt[:])
	sum := commitment(out.salt[:], out.payload)
	e.Payload = hex.EncodeToString(sum[:])
	e.redact(redactor)
	out.body, err = e.body()
	return out, err
}

func keyed(digest string, r *redact.Redactor) string {
	if digest == "" {
		return ""
	}
	return "keyed:" + r.Tag([]byte(digest))
}

// encodePayload splices the JSON that is there already, byte for byte.
func encodePayload(p Payload) ([]byte, error) {
	event, verdict := p.Event, p.Verdict
	p.Event, p.Verdict = nil, nil
	rest, err := jsonv2.Marshal(p)
	if err != nil {
		return nil, fmt.Errorf("audit: payload: %w", err)
	}
	b := make([]byte, 0, len(rest)+len(event)+len(verdict)+32)
	b = append(b, '{')
	add := func(name string, raw []byte) {
		if raw != nil {
			b = append(b, '"')
			b = append(b, name...)
			b = append(b, `":`...)
			b = append(b, raw...)
			b = append(b, ',')
		}
	}
	add("event", event)
	add("verdict", verdict)
	if len(rest) > 2 {
		return append(b, rest[1:]...), nil
	}
	if b[len(b)-1] == ',' {
		b = b[:len(b)-1]
	}
	return append(b, '}'), nil
}
