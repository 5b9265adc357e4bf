package factorydroidtest

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/grapnel-dev/grapnel/internal/edge/protocol/protocoltest"
)

// output is every key that is documented.
type output struct {
	Continue   *bool  `json:"continue"`
	StopReason string `json:"stopReason"`
	Decision   string `json:"decision"`
	Reason     string `json:"reason"`
	Specific   struct {
		Event      string          `json:"hookEventName"`
		Permission string          `json:"permissionDecision"`
		Reason     string          `json:"permissionDecisionReason"`
		Input      json.RawMessage `json:"updatedInput"`
		Context    string          `json:"additionalContext"`
	} `json:"hookSpecificOutput"`
}

// own are the keys that the event takes beside the common ones.
func own(event string) (top, inner []string) {
	switch event {
	case "PreToolUse":
		return []string{"decision", "reason", "hookSpecificOutput"}, []string{"permissionDecision", "permissionDecisionReason", "updatedInput"}
	case "PostToolUse", "UserPromptSubmit":
		return []string{"decision", "reason", "hookSpecificOutput"}, []string{"additionalContext"}
	case "Stop", "SubagentStop":
		return []string{"decision", "reason"}, nil
	case "SessionStart":
		return []string{"hookSpecificOutput"}, []string{"additionalContext"}
	}
	return nil, nil
}

type run struct {
	s   protocoltest.Situation
	out protocoltest.Outcome
}

// Run says what Droid does with a hook's answer. With exit code 2 it reads
// stderr and nothing else; any other code but 0 goes on.
func Run(s protocoltest.Situation, p protocoltest.Process) protocoltest.Outcome {
	r := run{s: s}
	if s.Event == "PreToolUse" && !s.Approved {
		r.out.Blocked = true // nobody is there to be asked
	}
	switch {
	case p.Ending != protocoltest.Exited:
	case p.Exit == 2:
		r.block(strings.TrimSpace(p.Stderr))
	case p.Exit != 0:
		r.out.ToUser = append(r.out.ToUser, strings.TrimSpace(p.Stderr))
	default:
		r.answer(strings.TrimSpace(p.Stdout))
	}
	return r.out
}

func (r *run) in(events ...string) bool { return slices.Contains(events, r.s.Event) }

func (r *run) model(text string) {
	if text != "" {
		r.out.ToModel = append(r.out.ToModel, text)
	}
}

func (r *run) user(text string) {
	if text != "" {
		r.out.ToUser = append(r.out.ToUser, text)
	}
}

func (r *run) block(why string) {
	switch {
	case r.in("PreToolUse"):
		r.out.Blocked = true
		r.model(why)
	case r.in("UserPromptSubmit"):
		r.out.Blocked = true
		r.user(why)
	case r.in("Stop", "SubagentStop"):
		r.out.Continued = true
		r.model(why)
	case r.in("PostToolUse"):
		r.model(why)
	default:
		r.user(why)
	}
}

func (r *run) answer(text string) {
	var o output
	var keys, inner map[string]json.RawMessage
	if json.Unmarshal([]byte(text), &keys) != nil || json.Unmarshal([]byte(text), &o) != nil {
		r.out.Dropped = strings.HasPrefix(text, "{")
		if !r.out.Dropped && r.in("UserPromptSubmit", "SessionStart") {
			r.model(text)
		}
		return
	}
	top, below := own(r.s.Event)
	for key := range keys {
		if !slices.Contains(append(top, "continue", "stopReason", "suppressOutput", "systemMessage"), key) {
			r.out.Unknown = append(r.out.Unknown, key)
		}
	}
	if keys["hookSpecificOutput"] != nil {
		_ = json.Unmarshal(keys["hookSpecificOutput"], &inner)
		for key := range inner {
			if key != "hookEventName" && !slices.Contains(below, key) {
				r.out.Unknown = append(r.out.Unknown, "hookSpecificOutput."+key)
			}
		}
		if o.Specific.Event != r.s.Event {
			r.out.Dropped = true
			return
		}
	}
	r.follow(o)
}

func (r *run) follow(o output) {
	if r.in("PreToolUse") {
		r.tool(o)
	}
	r.model(o.Specific.Context)
	if o.Continue != nil && !*o.Continue {
		// It comes before any block.
		r.out.SessionEnds = !r.in("Notification", "SessionEnd")
		r.out.Blocked = r.out.Blocked || r.in("UserPromptSubmit")
		r.user(o.StopReason)
		return
	}
	if o.Decision == "block" && !r.in("PreToolUse") && (o.Reason != "" || !r.in("Stop", "SubagentStop")) {
		r.block(o.Reason)
	}
}

func (r *run) tool(o output) {
	decision, why := o.Specific.Permission, o.Specific.Reason
	if decision == "" { // the old words
		decision, why = map[string]string{"approve": "allow", "block": "deny"}[o.Decision], o.Reason
	}
	switch decision {
	case "allow":
		r.out.Granted, r.out.Blocked = true, false
		r.user(why)
		if o.Specific.Input != nil {
			r.out.Changed = o.Specific.Input // laid over what was called
		}
	case "deny":
		r.block(why)
	case "ask":
		r.out.Asked, r.out.Blocked = true, true
		r.user(why)
	}
}
