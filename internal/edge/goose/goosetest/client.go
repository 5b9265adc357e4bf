package goosetest

import (
	"encoding/json"
	"strings"
	"unicode/utf8"

	"github.com/grapnel-dev/grapnel/internal/edge/protocol/protocoltest"
)

// Run says what Goose does with the answer of a hook whose on_failure is
// "block": the strictest reading, in which all that is no decision denies.
func Run(s protocoltest.Situation, p protocoltest.Process) protocoltest.Outcome {
	var out protocoltest.Outcome
	decision, why := decide(p, &out)
	switch s.Event {
	case "PreToolUse":
		if decision != "allow" { // a failure blocks as well
			out.Blocked = true
			out.ToModel = append(out.ToModel, why)
		}
	case "Stop":
		if decision == "block" { // a failure does not
			out.Continued = true
			out.ToModel = append(out.ToModel, why)
		}
	default:
		out.Dropped = false // nobody looks
	}
	return out
}

// decide reads exit code and stdout in the order of the guide; "" is no
// decision.
func decide(p protocoltest.Process, out *protocoltest.Outcome) (decision, why string) {
	if p.Ending == protocoltest.NotFound {
		return "", "could not be started"
	}
	text := strings.TrimSpace(p.Stdout)
	var keys map[string]json.RawMessage
	var answer struct{ Decision, Reason string }
	parsed := strings.HasPrefix(text, "{") && utf8.ValidString(text) && json.Unmarshal([]byte(text), &keys) == nil && json.Unmarshal([]byte(text), &answer) == nil
	for key := range keys {
		if key != "decision" && key != "reason" {
			out.Unknown = append(out.Unknown, key)
		}
	}
	reason := func(s string) string {
		if s = strings.TrimSpace(s); s == "" {
			return "denied by plugin hook"
		}
		return s
	}
	switch {
	case p.Ending == protocoltest.Exited && p.Exit == 2:
		return "block", reason(p.Stderr)
	case parsed && answer.Decision == "block":
		return "block", reason(answer.Reason)
	case p.Ending == protocoltest.Exited && p.Exit == 0 && (text == "" || parsed && answer.Decision == "allow"):
		return "allow", ""
	}
	out.Dropped = true
	return "", "could not be evaluated"
}
