package kimicodetest

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/grapnel-dev/grapnel/internal/edge/protocol/protocoltest"
)

// output is every key that is documented.
type output struct {
	Message  string `json:"message"`
	Specific struct {
		Message    string `json:"message"`
		Permission string `json:"permissionDecision"`
		Reason     string `json:"permissionDecisionReason"`
	} `json:"hookSpecificOutput"`
}

// Run says what Kimi Code does with a hook's answer.
func Run(s protocoltest.Situation, p protocoltest.Process) protocoltest.Outcome {
	var out protocoltest.Outcome
	text := strings.TrimSpace(p.Stdout)
	var o output
	var keys struct {
		Top      map[string]json.RawMessage
		Specific map[string]json.RawMessage `json:"hookSpecificOutput"`
	}
	object := strings.HasPrefix(text, "{") && json.Unmarshal([]byte(text), &keys.Top) == nil && json.Unmarshal([]byte(text), &o) == nil
	if object {
		_ = json.Unmarshal([]byte(text), &keys)
		for key := range keys.Top {
			if !slices.Contains([]string{"message", "hookSpecificOutput"}, key) {
				out.Unknown = append(out.Unknown, key)
			}
		}
		for key := range keys.Specific {
			if !slices.Contains([]string{"hookEventName", "message", "permissionDecision", "permissionDecisionReason"}, key) {
				out.Unknown = append(out.Unknown, "hookSpecificOutput."+key)
			}
		}
	}
	switch {
	case p.Ending != protocoltest.Exited:
	case p.Exit == 2:
		block(s.Event, strings.TrimSpace(p.Stderr), &out)
	case p.Exit != 0:
	case object && o.Specific.Permission == "deny":
		block(s.Event, o.Specific.Reason, &out)
	case s.Event != "UserPromptSubmit":
	case object:
		tell(o.Message+o.Specific.Message, &out)
	default:
		tell(text, &out)
	}
	return out
}

func tell(text string, out *protocoltest.Outcome) {
	if text != "" {
		out.ToModel = append(out.ToModel, text)
	}
}

func block(event, why string, out *protocoltest.Outcome) {
	if why == "" {
		why = "Blocked by " + event + " hook"
	}
	switch event {
	case "UserPromptSubmit":
		out.Blocked = true
		out.ToUser = append(out.ToUser, why)
	case "PreToolUse":
		out.Blocked = true
		tell(why, out)
	case "Stop":
		out.Continued = true
		tell(why, out)
	}
}
