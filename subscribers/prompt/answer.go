package prompt

import (
	"encoding/json"
	"errors"

	"github.com/grapnel-dev/grapnel/bus/hook"
	"github.com/grapnel-dev/grapnel/runner/process"
)

// Limits of what a model may say, in bytes. More of the texts is cut off; an
// answer that is longer as a whole is none.
const (
	MaxReason  = 2 << 10
	MaxContext = 8 << 10
	MaxAnswer  = 128 << 10
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

// Word is a decision in a model's own words. Dialects that rank a block over a
// deny need it.
type Word string

// The words that are known.
const (
	WordAllow   Word = "allow"
	WordApprove Word = "approve"
	WordAsk     Word = "ask"
	WordDeny    Word = "deny"
	WordBlock   Word = "block"
	WordOK      Word = "ok"     // {"ok": true}
	WordNotOK   Word = "not ok" // {"ok": false}
)

// effect is what w means, and false for a word that nobody knows.
func (w Word) effect() (hook.Effect, bool) {
	switch w {
	case WordAllow, WordApprove, WordOK:
		return hook.Allow, true
	case WordAsk:
		return hook.Ask, true
	case WordDeny, WordBlock, WordNotOK:
		return hook.Deny, true
	}
	return hook.Abstain, false
}

// Answer is what a model decided. The texts are cleaned of what terminals and
// readers could be misled by, and cut to [MaxReason] and [MaxContext].
type Answer struct {
	// Effect is Allow, Ask or Deny.
	Effect hook.Effect
	// Word is the decision as the model put it.
	Word    Word
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

// verdict is one decision in an answer's text.
type verdict struct {
	word    Word
	effect  hook.Effect
	reason  string
	context string
	rewrite json.RawMessage
	// counts says that it may count as an allow.
	counts bool
}

// stricter ranks a block over a deny, as codemie does.
func (v verdict) stricter(o verdict) bool {
	if v.effect != o.effect {
		return v.effect > o.effect
	}
	return v.word == WordBlock && o.word != WordBlock
}

func (v verdict) answer() Answer {
	return Answer{
		Effect: v.effect, Word: v.word, Rewrite: v.rewrite,
		Reason:  process.Text([]byte(v.reason), MaxReason),
		Context: process.Text([]byte(v.context), MaxContext),
	}
}
