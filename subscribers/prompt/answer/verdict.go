package answer

import (
	"encoding/json"

	"github.com/grapnel-dev/grapnel/bus/hook"
)

// MaxText is how long an answer may be as a whole, in bytes.
const MaxText = 128 << 10

// Word is a decision in a model's own words. Dialects that rank a block over a
// deny need it.
type Word string

// The words that are known.
const (
	Allow   Word = "allow"
	Approve Word = "approve"
	Ask     Word = "ask"
	Deny    Word = "deny"
	Block   Word = "block"
	OK      Word = "ok"     // {"ok": true}
	NotOK   Word = "not ok" // {"ok": false}
)

// effect is what w means, and false for a word that nobody knows.
func (w Word) effect() (hook.Effect, bool) {
	switch w {
	case Allow, Approve, OK:
		return hook.Allow, true
	case Ask:
		return hook.Ask, true
	case Deny, Block, NotOK:
		return hook.Deny, true
	}
	return hook.Abstain, false
}

// Verdict is one decision in an answer's text, as the model wrote it: the texts
// are not cleaned or cut.
type Verdict struct {
	Word Word
	// Effect is Allow, Ask or Deny.
	Effect  hook.Effect
	Reason  string
	Context string
	// Rewrite is updatedInput, any JSON value but null and the empty object.
	Rewrite json.RawMessage

	// counts says that it may count as an allow.
	counts bool
}

// stricter ranks a block over a deny, as codemie does.
func (v Verdict) stricter(o Verdict) bool {
	if v.Effect != o.Effect {
		return v.Effect > o.Effect
	}
	return v.Word == Block && o.Word != Block
}
