package geminiclitest

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/grapnel-dev/grapnel/internal/edge/protocol/protocoltest"
)

// output is every key that there is.
type output struct {
	Continue      *bool                      `json:"continue"`
	StopReason    string                     `json:"stopReason"`
	SystemMessage string                     `json:"systemMessage"`
	Decision      string                     `json:"decision"`
	Reason        string                     `json:"reason"`
	Specific      map[string]json.RawMessage `json:"hookSpecificOutput"`
}

// specificKeys are those of hookSpecificOutput that an event reads.
func specificKeys(event string) []string {
	switch event {
	case "SessionStart", "BeforeAgent":
		return []string{"additionalContext"}
	case "BeforeModel":
		return []string{"llm_request", "llm_response"}
	case "AfterModel":
		return []string{"llm_response"}
	case "BeforeToolSelection":
		return []string{"toolConfig"}
	case "BeforeTool":
		return []string{"tool_input"}
	case "AfterTool":
		return []string{"additionalContext", "tailToolCallRequest"}
	case "AfterAgent":
		return []string{"clearContext"}
	}
	return nil
}

// Run says what Gemini CLI does with a hook's answer.
func Run(s protocoltest.Situation, p protocoltest.Process) protocoltest.Outcome {
	r := run{s: s}
	if s.Event == "BeforeTool" && !s.Approved {
		r.out.Blocked = true // the dialog comes whatever the hook says, and nobody is there
	}
	if p.Ending == protocoltest.TimedOut {
		return r.out
	}
	text := strings.TrimSpace(p.Stdout)
	if text == "" {
		text = strings.TrimSpace(p.Stderr)
	}
	if text == "" {
		return r.out // whatever the exit code
	}
	var o output
	if r.parse(text, &o) {
		r.follow(o) // whatever the exit code
		return r.out
	}
	switch {
	case p.Ending == protocoltest.Killed, p.Exit == 0: // no exit code counts as 0
		r.user(text)
	case p.Exit == 1:
		r.user("Warning: " + text)
	default:
		r.follow(output{Decision: "deny", Reason: text})
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

func (r *run) user(s string) {
	if s != "" {
		r.out.ToUser = append(r.out.ToUser, s)
	}
}

// parse reads an object, or a text that holds one, and keeps the keys that mean
// nothing on the event.
func (r *run) parse(text string, o *output) bool {
	var inner string
	if json.Unmarshal([]byte(text), &inner) == nil {
		text = inner
	}
	var keys map[string]json.RawMessage
	if json.Unmarshal([]byte(text), &keys) != nil || json.Unmarshal([]byte(text), o) != nil {
		return false
	}
	for key := range keys {
		if !slices.Contains([]string{"continue", "stopReason", "suppressOutput", "systemMessage", "decision", "reason", "hookSpecificOutput"}, key) {
			r.out.Unknown = append(r.out.Unknown, key)
		}
	}
	for key := range o.Specific {
		if key != "hookEventName" && !slices.Contains(specificKeys(r.s.Event), key) {
			r.out.Unknown = append(r.out.Unknown, key)
		}
	}
	return true
}

// context is additionalContext where the event reads it; the event's name in
// hookSpecificOutput is not looked at.
func (r *run) context(o output) string {
	var s string
	if slices.Contains(specificKeys(r.s.Event), "additionalContext") && o.Specific["additionalContext"] != nil {
		if json.Unmarshal(o.Specific["additionalContext"], &s) != nil {
			return ""
		}
	}
	return s
}

func (r *run) follow(o output) {
	r.user(o.SystemMessage)
	stop := o.Continue != nil && !*o.Continue
	deny := o.Decision == "deny" || o.Decision == "block"
	switch {
	case r.in("SessionStart", "SessionEnd", "Notification", "PreCompress", "BeforeToolSelection"):
		r.model(r.context(o)) // and nothing else
	case r.in("AfterModel"):
		if deny {
			r.user(o.Reason) // and the model is asked again
		}
	case stop:
		r.user(o.StopReason)
		r.out.SessionEnds = true
		r.out.Blocked = r.out.Blocked || r.in("BeforeAgent", "BeforeModel", "BeforeTool")
	case deny && r.in("AfterAgent"):
		r.out.Continued = true
		r.model(o.Reason)
		r.user(o.Reason)
	case deny && r.in("AfterTool"):
		r.model(o.Reason) // in place of the result
		r.user(o.Reason)
	case deny:
		r.out.Blocked = true
		r.user(o.Reason)
		if r.in("BeforeTool") {
			r.model(o.Reason)
		}
	default:
		if r.in("BeforeTool") && o.Decision == "ask" {
			// Nobody is there, even where nothing else is asked.
			r.out.Asked, r.out.Blocked, r.out.SessionEnds = true, true, true
		}
		if input := o.Specific["tool_input"]; r.in("BeforeTool") && len(input) > 0 && input[0] == '{' {
			r.out.Changed = input
		}
		r.model(r.context(o))
	}
}
