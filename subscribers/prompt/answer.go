package prompt

import (
	"encoding/json"
	"errors"

	"github.com/grapnel-dev/grapnel/bus/hook"
	"github.com/grapnel-dev/grapnel/subscribers/prompt/answer"
)

// Limits of what a model may say, in bytes. More is cut off.
const (
	MaxReason  = 2 << 10
	MaxContext = 8 << 10
)

// Errors of a question. The failure policy counts then.
var (
	// ErrAnswer: the model gave no decision that can be counted.
	ErrAnswer = errors.New("model gave no usable decision")
	// ErrTruncated: the model allows what it did not see in full.
	ErrTruncated = errors.New("model saw only a part of the event, and its allow does not count")
	// ErrModel: the model could not be asked. Beyond a time-out the error
	// also wraps the context's.
	ErrModel = errors.New("model could not be asked")
	// ErrQuestion: the event cannot be put to a model.
	ErrQuestion = errors.New("event cannot be put to a model")
)

// Answer is what a model decided. The texts are cleaned of what terminals and
// readers could be misled by, and cut to [MaxReason] and [MaxContext].
type Answer struct {
	// Effect is Allow, Ask or Deny.
	Effect hook.Effect
	// Word is the decision as the model put it.
	Word    answer.Word
	Reason  string
	Context string
	// Rewrite is the tool's whole new input, a JSON object; only with
	// [Hook.Rewrites].
	Rewrite json.RawMessage
	// Usage and Cost are of all attempts, as far as the server told; Cost is
	// in the currency of [Model.Prices]. Attempts is at least 1.
	Usage    Usage
	Cost     float64
	Attempts int
	// Truncated says that the model did not see the event in full; Redacted
	// counts the secrets that it did not see.
	Truncated bool
	Redacted  int
}

// OK is the answer in the shape of Claude Code's prompt hooks.
func (a Answer) OK() bool { return a.Effect == hook.Allow }
