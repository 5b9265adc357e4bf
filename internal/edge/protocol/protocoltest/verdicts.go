package protocoltest

import (
	"encoding/json"

	"github.com/grapnel-dev/grapnel/bus/hook"
)

// The texts in [Verdicts].
const (
	Why  = "that <is> & \"not\" allowed"
	More = "use the staging host"
)

// Verdict is one with a name.
type Verdict struct {
	Name string
	hook.Verdict
}

// Verdicts are all kinds of verdicts that an agent may have to be told.
func Verdicts() []Verdict {
	input := json.RawMessage(`{"command":"ls -la <&>"}`)
	return []Verdict{
		{"abstain", hook.Verdict{}},
		{"abstain+context", hook.Verdict{Context: More}},
		{"abstain+rewrite", hook.Verdict{Input: input}},
		{"allow", hook.Verdict{Effect: hook.Allow, Reason: Why}},
		{"allow+grant", hook.Verdict{Effect: hook.Allow, Grant: true, Reason: Why}},
		{"allow+grant+rewrite", hook.Verdict{Effect: hook.Allow, Grant: true, Input: input}},
		{"ask", hook.Verdict{Effect: hook.Ask, Reason: Why}},
		{"ask+rewrite", hook.Verdict{Effect: hook.Ask, Reason: Why, Input: input}},
		{"ask+grant", hook.Verdict{Effect: hook.Ask, Reason: Why, Grant: true}},
		{"deny", hook.Verdict{Effect: hook.Deny, Reason: Why}},
		{"deny+context", hook.Verdict{Effect: hook.Deny, Reason: Why, Context: More}},
		{"deny, no reason", hook.Verdict{Effect: hook.Deny}},
		{"deny+grant+rewrite", hook.Verdict{Effect: hook.Deny, Reason: Why, Grant: true, Input: input}},
		{"halt", hook.Verdict{Effect: hook.Halt, Reason: Why}},
		{"effect 99", hook.Verdict{Effect: 99, Grant: true}},
		{"effect -1", hook.Verdict{Effect: -1, Grant: true}},
		{"rewrite to a string", hook.Verdict{Effect: hook.Allow, Grant: true, Input: json.RawMessage(`"ls"`)}},
		{"rewrite to garbage", hook.Verdict{Input: json.RawMessage(`{"a":1,"a":2}`)}},
	}
}
