package webhook

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/grapnel-dev/grapnel/bus/hook"
	"github.com/grapnel-dev/grapnel/internal/strictjson"
	"github.com/grapnel-dev/grapnel/runner/process"
)

// Limits of what an endpoint may say, in bytes. More is cut off.
const (
	MaxReason  = 4 << 10
	MaxContext = 32 << 10
	maxRule    = 200
)

// maxRules is how many rules an answer may name.
const maxRules = 1000

// answer is our decision as it travels (schemas/decision.json).
type answer struct {
	Effect  *hook.Effect    `json:"effect"`
	Reason  string          `json:"reason"`
	Context string          `json:"context"`
	Rewrite json.RawMessage `json:"rewrite"`
	Rules   []*string       `json:"rules"`
}

// decision reads a 2xx response. The error wraps [ErrAnswer].
func (w *Webhook) decision(r Response) (hook.Decision, error) {
	if len(bytes.Trim(r.Body, " \t\r\n")) == 0 {
		if !r.Ended {
			return hook.Decision{}, fmt.Errorf("%w: its body is empty and has no length, as if the connection had broken; abstain with 204 or Content-Length: 0", ErrAnswer)
		}
		return hook.Decision{}, nil
	}
	if err := r.jsonBody(); err != nil {
		return hook.Decision{}, err
	}
	d, err := readDecision(r.Body, w.maxResponse)
	if err != nil {
		return hook.Decision{}, fmt.Errorf("%w: %w", ErrAnswer, err)
	}
	if d.Rewrite != nil && !w.hook.Rewrites {
		return hook.Decision{}, fmt.Errorf("%w: it rewrites the tool's input, which the hook's configuration does not permit (rewrites: true)", ErrAnswer)
	}
	if d.Effect >= hook.Ask && d.Reason == "" {
		d.Reason = fmt.Sprintf("webhook %s says %s and gave no reason", w.hook.Name, d.Effect)
	}
	return d, nil
}

// readDecision reads exactly one decision. Text is made fit to be shown.
func readDecision(body []byte, limit int) (hook.Decision, error) {
	var members map[string]json.RawMessage
	if err := strictjson.UnmarshalOpen(body, &members, limit); err != nil {
		return hook.Decision{}, fmt.Errorf("its body is not a decision: %s", problem(err))
	}
	for _, value := range members {
		if bytes.Equal(value, []byte("null")) {
			return hook.Decision{}, errors.New("there is a null in its decision; leave the member out")
		}
	}
	var a answer
	if err := strictjson.Unmarshal(body, &a, limit); err != nil {
		return hook.Decision{}, fmt.Errorf("its body is not a decision: %s", problem(err))
	}
	switch {
	case a.Effect == nil:
		return hook.Decision{}, errors.New("its decision has no effect; it is one of abstain, allow, ask, deny, halt")
	case len(a.Rewrite) > 0 && a.Rewrite[0] != '{':
		return hook.Decision{}, errors.New("rewrite is not a JSON object; it is the tool's whole new input")
	case len(a.Rules) > maxRules:
		return hook.Decision{}, fmt.Errorf("it names %d rules, at most %d", len(a.Rules), maxRules)
	}
	d := hook.Decision{
		Effect:  *a.Effect,
		Reason:  process.Text([]byte(a.Reason), MaxReason),
		Context: process.Text([]byte(a.Context), MaxContext),
		Rewrite: a.Rewrite,
	}
	for _, rule := range a.Rules {
		if rule == nil {
			return hook.Decision{}, errors.New("there is a null among its rules")
		}
		d.Rules = append(d.Rules, process.Text([]byte(*rule), maxRule))
	}
	return d, nil
}

// problem is what the reader said, fit to be shown. It names members and
// places, and holds no value but one where a word of ours should have been.
func problem(err error) string { return process.Text([]byte(err.Error()), 200) }
