package vscodetest

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/grapnel-dev/grapnel/internal/edge/protocol/protocoltest"
)

// own are the keys of an event besides the common ones, at the top level and in
// hookSpecificOutput.
func own(event string) (top, inner []string) {
	switch event {
	case "PreToolUse":
		return nil, []string{"permissionDecision", "permissionDecisionReason", "updatedInput", "additionalContext"}
	case "PostToolUse":
		return []string{"decision", "reason"}, []string{"additionalContext"}
	case "UserPromptSubmit":
		return []string{"decision", "reason"}, []string{"additionalContext"}
	case "SessionStart", "SubagentStart":
		return nil, []string{"additionalContext"}
	case "Stop":
		return nil, []string{"decision", "reason"}
	case "SubagentStop":
		return []string{"decision", "reason"}, nil
	}
	return nil, nil
}

type run struct {
	event string
	out   protocoltest.Outcome
}

// Run says what VS Code does with a hook's answer.
func Run(s protocoltest.Situation, p protocoltest.Process) protocoltest.Outcome {
	r := run{event: s.Event}
	r.out.Blocked = !s.Approved && s.Event == "PreToolUse" // nobody is there to be asked
	switch {
	case p.Ending != protocoltest.Exited:
	case p.Exit == 2:
		r.exit2(strings.TrimSpace(p.Stderr))
	case p.Exit != 0:
		r.out.ToUser = append(r.out.ToUser, p.Stderr)
	default:
		r.answer(p.Stdout)
	}
	return r.out
}

func (r *run) model(s string) {
	if s != "" {
		r.out.ToModel = append(r.out.ToModel, s)
	}
}

// exit2 is a blocking error, of which stderr is the message; stdout is not
// read.
func (r *run) exit2(why string) {
	switch r.event {
	case "PreToolUse":
		r.out.Blocked = true
		r.model(why)
	case "UserPromptSubmit":
		r.abort(why)
	case "PostToolUse":
		r.model(why)
	case "Stop", "SubagentStop":
		r.out.Continued = true
		r.model(why)
	}
}

// abort ends the turn. The start of anything and a compaction pass over it.
func (r *run) abort(why string) {
	switch r.event {
	case "SessionStart", "SubagentStart", "PreCompact":
		return
	case "UserPromptSubmit", "PreToolUse":
		r.out.Blocked = true
	}
	r.out.SessionEnds = true
	r.out.ToUser = append(r.out.ToUser, why)
}

type object map[string]json.RawMessage

func (o object) text(key string) string {
	var s string
	_ = json.Unmarshal(o[key], &s)
	return s
}

func (r *run) answer(stdout string) {
	var o, inner object
	if strings.TrimSpace(stdout) == "" {
		return
	}
	if json.Unmarshal([]byte(stdout), &o) != nil {
		r.out.Dropped = true
		return
	}
	top, nested := own(r.event)
	if len(nested) > 0 {
		top = append(top, "hookSpecificOutput")
	}
	for _, key := range slices.Sorted(maps.Keys(o)) {
		if !slices.Contains(append(top, "continue", "stopReason", "systemMessage"), key) {
			r.out.Unknown = append(r.out.Unknown, key)
		}
	}
	_ = json.Unmarshal(o["hookSpecificOutput"], &inner)
	for _, key := range slices.Sorted(maps.Keys(inner)) {
		if !slices.Contains(append(nested, "hookEventName"), key) {
			r.out.Unknown = append(r.out.Unknown, "hookSpecificOutput."+key)
		}
	}
	if name := inner.text("hookEventName"); name != "" && name != r.event {
		inner = nil // another event's
	}
	if message := o.text("systemMessage"); message != "" {
		r.out.ToUser = append(r.out.ToUser, message)
	}
	if o["stopReason"] != nil || string(o["continue"]) == "false" {
		r.abort(o.text("stopReason"))
		if r.out.SessionEnds {
			return
		}
	}
	r.follow(o, inner)
}

func (r *run) follow(o, inner object) {
	switch r.event {
	case "PreToolUse":
		switch inner.text("permissionDecision") {
		case "deny":
			r.out.Blocked = true
			r.model(inner.text("permissionDecisionReason"))
		case "ask": // nobody is there
			r.out.Asked, r.out.Blocked = true, true
		case "allow":
			r.out.Granted, r.out.Blocked = true, false
		}
		// A changed input may not fit the tool, and the original runs.
	case "UserPromptSubmit":
		if o.text("decision") == "block" {
			r.abort(o.text("reason"))
			return
		}
	case "PostToolUse":
		if o.text("decision") == "block" {
			r.model(o.text("reason"))
		}
	case "Stop":
		r.carryOn(inner)
	case "SubagentStop":
		r.carryOn(o)
	case "PreCompact":
		return
	}
	r.model(inner.text("additionalContext"))
}

func (r *run) carryOn(o object) {
	if o.text("decision") == "block" && o.text("reason") != "" {
		r.out.Continued = true
		r.model(o.text("reason"))
	}
}
