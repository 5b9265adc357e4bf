package qwencodetest

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/grapnel-dev/grapnel/internal/edge/protocol/protocoltest"
)

// output is every key that there is.
type output struct {
	Continue   *bool    `json:"continue"`
	StopReason string   `json:"stopReason"`
	System     string   `json:"systemMessage"`
	Decision   string   `json:"decision"`
	Reason     string   `json:"reason"`
	Specific   specific `json:"hookSpecificOutput"`
}

type specific struct {
	Permission string          `json:"permissionDecision"`
	Reason     string          `json:"permissionDecisionReason"`
	Input      json.RawMessage `json:"updatedInput"` // and nothing happens
	Context    string          `json:"additionalContext"`
	Decision   struct {
		Behavior string `json:"behavior"`
		Message  string `json:"message"`
	} `json:"decision"`
}

// specificKeys are those of hookSpecificOutput that an event was seen to read.
func specificKeys(event string) []string {
	switch event {
	case "PreToolUse":
		return []string{"permissionDecision", "permissionDecisionReason"}
	case "PermissionRequest":
		return []string{"decision"}
	case "SessionStart", "UserPromptSubmit", "UserPromptExpansion", "PostToolUse", "PostToolUseFailure":
		return []string{"additionalContext"}
	}
	return nil
}

// Run says what Qwen Code does with a hook's answer.
func Run(s protocoltest.Situation, p protocoltest.Process) protocoltest.Outcome {
	r := run{s: s}
	// The dialog comes with the permission event and before the tool's, and
	// nobody is there.
	r.out.Blocked = !s.Approved && r.in("PreToolUse", "PermissionRequest")
	switch {
	case p.Ending == protocoltest.TimedOut, p.Ending == protocoltest.Killed:
		return r.out
	case p.Exit == 2:
		if why := strings.TrimSpace(p.Stderr); why != "" && !r.in("PermissionRequest") {
			r.block(why)
		}
		return r.out
	}
	var o output
	switch text := strings.TrimSpace(p.Stdout); {
	case text == "":
	case r.parse(text, &o):
		r.follow(o) // with exit code 1, too
	case p.Exit == 0 && !strings.HasPrefix(text, "{") && r.in("UserPromptSubmit", "SessionStart"):
		r.model(text) // plain text is context there
	}
	return r.out
}

type run struct {
	s   protocoltest.Situation
	out protocoltest.Outcome
}

func (r *run) in(events ...string) bool { return slices.Contains(events, r.s.Event) }

func (r *run) model(s string) {
	if s != "" {
		r.out.ToModel = append(r.out.ToModel, s)
	}
}

func (r *run) block(why string) {
	switch {
	case r.in("PreToolUse"):
		r.out.Blocked = true
		r.model(why)
	case r.in("UserPromptSubmit", "UserPromptExpansion", "TodoCreated", "TodoCompleted"):
		r.out.Blocked = true
	case r.in("Stop", "SubagentStop"):
		r.out.Continued = true
		r.model(why)
	}
}

func (r *run) parse(text string, o *output) bool {
	var keys, members map[string]json.RawMessage
	if json.Unmarshal([]byte(text), &keys) != nil || json.Unmarshal([]byte(text), o) != nil {
		return false
	}
	for key := range keys {
		if !slices.Contains([]string{"continue", "stopReason", "suppressOutput", "systemMessage", "decision", "reason", "hookSpecificOutput"}, key) {
			r.out.Unknown = append(r.out.Unknown, key)
		}
	}
	if raw := keys["hookSpecificOutput"]; raw != nil && json.Unmarshal(raw, &members) != nil {
		return false
	}
	for key := range members {
		if key != "hookEventName" && !slices.Contains(specificKeys(r.s.Event), key) {
			r.out.Unknown = append(r.out.Unknown, key)
		}
	}
	return true
}

// follow obeys an answer; the event's name in hookSpecificOutput is not looked
// at.
func (r *run) follow(o output) {
	stop := o.Continue != nil && !*o.Continue
	switch r.s.Event {
	case "PermissionRequest":
		switch o.Specific.Decision.Behavior {
		case "allow":
			r.out.Blocked, r.out.Granted = false, true
		case "deny":
			r.out.Blocked = true
			r.model(o.Specific.Decision.Message)
		}
		return
	case "PreToolUse":
		switch o.Specific.Permission {
		case "deny":
			r.block(o.Specific.Reason)
		case "ask": // nobody is there, so it is a deny
			r.out.Asked = true
			if r.out.Blocked {
				return // the agent's own question comes first, and ends it
			}
			r.block(o.Specific.Reason)
		}
	case "PostToolUse":
		if stop {
			r.model(o.StopReason) // it is the result then, and the session goes on
			return
		}
	}
	if stop {
		r.block(o.StopReason)
		return
	}
	if o.Decision == "block" || o.Decision == "deny" {
		r.block(o.Reason)
	}
	if slices.Contains(specificKeys(r.s.Event), "additionalContext") {
		r.model(o.Specific.Context)
	}
}
