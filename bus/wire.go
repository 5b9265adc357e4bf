package bus

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/nats-io/nats.go"

	"github.com/grapnel-dev/grapnel/bus/cloudevent"
	"github.com/grapnel-dev/grapnel/bus/hook"
	"github.com/grapnel-dev/grapnel/internal/strictjson"
)

// Limits on what a decider and a gateway may answer, in bytes.
const (
	maxDecision = 2 << 20
	maxVerdict  = 16 << 20
	maxText     = 16 << 10 // of a reason or a context
)

// Headers of a decider's reply that is not a decision.
const (
	statusHeader  = "Grapnel-Status"
	statusWorking = "working" // still at it; the body is empty
	statusError   = "error"   // could not decide; the body says why
)

// Headers of a gateway's reply about something that was no valid event, in the
// words of NATS's own services.
const (
	errorHeader     = "Nats-Service-Error"
	errorCodeHeader = "Nats-Service-Error-Code"
)

// wireDecision tells a decision without an effect from one that abstains.
type wireDecision struct {
	Effect  *hook.Effect    `json:"effect"`
	Reason  string          `json:"reason"`
	Context string          `json:"context"`
	Rewrite json.RawMessage `json:"rewrite"`
	Rules   []string        `json:"rules"`
}

// DecodeDecision reads a decider's answer strictly: exactly one JSON object
// with an effect, no unknown or duplicate key, nothing after it. An empty body
// is an error.
func DecodeDecision(b []byte) (hook.Decision, error) {
	var w wireDecision
	if err := strictjson.Unmarshal(b, &w, maxDecision); err != nil {
		return hook.Decision{}, err
	}
	if w.Effect == nil {
		return hook.Decision{}, errors.New("it has no effect")
	}
	if err := refuseNull(b); err != nil {
		return hook.Decision{}, err
	}
	if w.Rewrite != nil && w.Rewrite[0] != '{' {
		return hook.Decision{}, errors.New("rewrite is not a JSON object")
	}
	if len(w.Rules) > 1000 {
		return hook.Decision{}, errors.New("it names more than 1000 rules")
	}
	return hook.Decision{Effect: *w.Effect, Reason: clip(w.Reason), Context: clip(w.Context), Rewrite: w.Rewrite, Rules: w.Rules}, nil
}

// refuseNull finds a null where the schema has none. A decoder cannot tell it
// from what is left out.
func refuseNull(b []byte) error {
	if !bytes.Contains(b, []byte("null")) {
		return nil
	}
	var members map[string]jsontext.Value
	if err := jsonv2.Unmarshal(b, &members); err != nil {
		return err
	}
	for name, value := range members {
		var rules []jsontext.Value
		if name == "rules" && value.Kind() == '[' {
			if err := jsonv2.Unmarshal(value, &rules); err != nil {
				return err
			}
		}
		for _, v := range append(rules, value) {
			if v.Kind() == 'n' {
				return fmt.Errorf("%s is null", name)
			}
		}
	}
	return nil
}

// clip keeps a text that somebody else wrote within bounds.
func clip(s string) string {
	if len(s) <= maxText {
		return s
	}
	return string(bytes.ToValidUTF8([]byte(s[:maxText]), nil)) + "… (cut)"
}

// marshal is for our own values, which always marshal.
func marshal(v any) []byte {
	b, err := jsonv2.Marshal(v)
	if err != nil {
		// Only invalid UTF-8 in a string gets here; it is replaced then.
		b, err = jsonv2.Marshal(v, jsontext.AllowInvalidUTF8(true))
	}
	if err != nil {
		return []byte(`{"effect":"deny","reason":"internal error: the verdict could not be written"}`)
	}
	return b
}

// decodeVerdict reads a gateway's answer and holds it against the event it
// must be about.
func decodeVerdict(b []byte, e hook.Event, digest string) (hook.Verdict, error) {
	var w struct {
		hook.Verdict
		Effect *hook.Effect `json:"effect"` // tells one that is missing from abstain
	}
	if err := strictjson.Unmarshal(b, &w, maxVerdict); err != nil {
		return hook.Verdict{}, fmt.Errorf("%w: %w", ErrVerdict, err)
	}
	if w.Effect == nil {
		return hook.Verdict{}, fmt.Errorf("%w: it has no effect", ErrVerdict)
	}
	v := w.Verdict
	v.Effect = *w.Effect
	if v.EventID != e.ID || v.EventDigest != digest {
		return v, fmt.Errorf("%w: it is about event %.80q", ErrVerdict, v.EventID)
	}
	return v, nil
}

// message builds a NATS message that carries e in binary mode.
func message(subject string, e hook.Event) (*nats.Msg, error) {
	header, body, err := cloudevent.Encode(e)
	if err != nil {
		return nil, err
	}
	return &nats.Msg{Subject: subject, Header: header, Data: body}, nil
}

// decodeEvent reads an event in either mode.
func decodeEvent(m *nats.Msg) (hook.Event, error) {
	if cloudevent.IsBinary(m.Header) {
		return cloudevent.Decode(m.Header, m.Data)
	}
	return cloudevent.Unmarshal(m.Data)
}
