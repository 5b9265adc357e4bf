package claudecodetest

import (
	"encoding/json"
	"strings"

	"github.com/grapnel-dev/grapnel/internal/edge/protocol/protocoltest"
)

type answer struct {
	Continue      *bool           `json:"continue"`
	StopReason    string          `json:"stopReason"`
	SystemMessage string          `json:"systemMessage"`
	Decision      string          `json:"decision"`
	Reason        string          `json:"reason"`
	Specific      json.RawMessage `json:"hookSpecificOutput"`
}

type specific struct {
	Event      string          `json:"hookEventName"`
	Permission string          `json:"permissionDecision"`
	Reason     string          `json:"permissionDecisionReason"`
	Input      json.RawMessage `json:"updatedInput"`
	Context    string          `json:"additionalContext"`
	Output     json.RawMessage `json:"updatedToolOutput"`
	Action     string          `json:"action"`
	Decision   *struct {
		Behavior  string          `json:"behavior"`
		Message   string          `json:"message"`
		Input     json.RawMessage `json:"updatedInput"`
		Interrupt bool            `json:"interrupt"`
	} `json:"decision"`
}

// Run says what Claude Code does with a hook's answer.
func Run(s protocoltest.Situation, p protocoltest.Process) protocoltest.Outcome {
	r := run{s: s, p: p}
	if p.Ending != protocoltest.Exited && p.Ending != protocoltest.NotFound {
		r.normal()
		if s.Event == "PreModelSwitch" && p.Ending == protocoltest.TimedOut {
			r.out.Blocked = true
		}
		return r.out
	}
	if s.Event == "WorktreeCreate" {
		return r.worktree()
	}
	if !r.read() {
		return r.plain()
	}
	return r.json()
}

type run struct {
	s   protocoltest.Situation
	p   protocoltest.Process
	a   answer
	h   specific
	out protocoltest.Outcome
}

// in reports whether the event is one of those named.
func (r *run) in(events ...string) bool {
	for _, e := range events {
		if e == r.s.Event {
			return true
		}
	}
	return false
}

// exitBlocks are the events that exit code 2 stops.
func (r *run) exitBlocks() bool {
	return r.in("UserPromptSubmit", "UserPromptExpansion", "PreToolUse", "PostToolBatch", "TaskCreated", "TaskCompleted",
		"TeammateIdle", "ConfigChange", "PreCompact", "PreModelSwitch", "Elicitation", "ElicitationResult")
}

// normal is what happens when the hook has no say: the person is asked where
// nothing is approved, and nobody is there.
func (r *run) normal() {
	if r.in("PreToolUse", "PermissionRequest") && !r.s.Approved {
		r.out.Blocked = true
	}
}

// read takes stdout as JSON; false when it is none or not of the right shape.
func (r *run) read() bool {
	text := strings.TrimSpace(r.p.Stdout)
	if !strings.HasPrefix(text, "{") || !strings.HasSuffix(text, "}") {
		return false
	}
	var all map[string]json.RawMessage
	if json.Unmarshal([]byte(text), &all) != nil {
		return false
	}
	r.out.Dropped = true
	if json.Unmarshal([]byte(text), &r.a) != nil {
		return false
	}
	if d := r.a.Decision; d != "" && d != "block" && d != "approve" {
		return false
	}
	known := map[string]bool{"continue": true, "stopReason": true, "systemMessage": true, "decision": true, "reason": true,
		"hookSpecificOutput": true, "suppressOutput": true, "terminalSequence": true}
	for key := range all {
		if !known[key] {
			r.out.Unknown = append(r.out.Unknown, key)
		}
	}
	if r.a.Specific != nil && !r.readSpecific() {
		return false
	}
	r.out.Dropped = false
	return true
}

func (r *run) readSpecific() bool {
	if json.Unmarshal(r.a.Specific, &r.h) != nil || r.h.Event != r.s.Event {
		return false
	}
	switch r.h.Permission {
	case "", "allow", "deny", "ask", "defer":
	default:
		return false
	}
	known := map[string][]string{
		"PreToolUse":        {"permissionDecision", "permissionDecisionReason", "updatedInput", "additionalContext"},
		"PreModelSwitch":    {"permissionDecision", "permissionDecisionReason"},
		"PermissionRequest": {"decision"},
		"PostToolUse":       {"additionalContext", "updatedToolOutput"},
		"Elicitation":       {"action", "content"},
		"ElicitationResult": {"action", "content"},
	}[r.s.Event]
	if known == nil {
		known = []string{"additionalContext"}
	}
	var keys map[string]json.RawMessage
	json.Unmarshal(r.a.Specific, &keys)
	for key := range keys {
		found := key == "hookEventName"
		for _, k := range known {
			found = found || k == key
		}
		if !found {
			r.out.Unknown = append(r.out.Unknown, "hookSpecificOutput."+key)
		}
	}
	return true
}

// plain is an answer without usable JSON: the exit code alone counts.
func (r *run) plain() protocoltest.Outcome {
	r.normal()
	text := strings.TrimSpace(r.p.Stdout)
	switch {
	case r.p.Exit == 2:
		r.block(r.p.Stderr)
	case r.p.Exit == 0 && text != "" && !r.out.Dropped && r.in("SessionStart", "UserPromptSubmit", "UserPromptExpansion", "PostModelSwitch"):
		r.model(text)
	case text != "":
		r.user(text)
	}
	return r.out
}

// json is an answer that was understood, at whatever exit code.
func (r *run) json() protocoltest.Outcome {
	r.normal()
	if r.a.SystemMessage != "" {
		r.user(r.a.SystemMessage)
	}
	switch {
	case r.in("PermissionRequest"):
		r.permission()
	case r.p.Exit == 2:
		reason := r.p.Stderr
		if r.a.Decision == "block" && r.a.Reason != "" {
			reason = r.a.Reason
		}
		if r.h.Permission == "deny" && r.h.Reason != "" {
			reason = r.h.Reason
		}
		r.block(reason)
	default:
		r.decide()
	}
	r.stop()
	return r.out
}

// decide follows the JSON at every exit code but 2.
func (r *run) decide() {
	if r.a.Decision == "block" && !r.in("TaskCompleted", "TeammateIdle") {
		r.block(r.a.Reason)
	}
	if r.in("PreToolUse", "PreModelSwitch") {
		switch r.h.Permission {
		case "deny":
			r.block(r.h.Reason)
		case "ask":
			r.out.Asked, r.out.Blocked = true, true
			r.model(r.h.Reason)
		case "allow":
			r.out.Granted, r.out.Blocked = true, false
		case "defer":
			r.out.Blocked, r.out.SessionEnds = true, true
		}
		if r.a.Decision != "block" && r.h.Permission != "deny" && r.h.Permission != "defer" {
			r.out.Changed = r.h.Input
		}
	}
	if r.in("Elicitation", "ElicitationResult") && r.h.Action != "" {
		r.out.Action = r.h.Action
		r.out.Blocked = r.h.Action != "accept"
	}
	if r.h.Output != nil && r.in("PostToolUse") {
		r.model(string(r.h.Output))
	}
	if r.h.Context != "" && r.in("PreToolUse", "UserPromptSubmit", "UserPromptExpansion", "PostToolUse", "PostToolUseFailure", "PostToolBatch",
		"SessionStart", "Setup", "SubagentStart", "PostModelSwitch", "Stop", "SubagentStop") {
		r.model(r.h.Context)
		r.out.Continued = r.out.Continued || r.in("Stop", "SubagentStop")
	}
}

// permission follows the decision object alone.
func (r *run) permission() {
	d := r.h.Decision
	if d == nil {
		return
	}
	switch d.Behavior {
	case "allow":
		r.out.Blocked, r.out.Granted, r.out.Changed = false, true, d.Input
	case "deny":
		r.out.Blocked, r.out.SessionEnds = true, d.Interrupt
		if !d.Interrupt {
			r.model(d.Message)
		}
	}
}

// block is exit code 2 or decision:block.
func (r *run) block(reason string) {
	switch {
	case r.in("Stop", "SubagentStop"):
		r.out.Continued = true
		r.model(reason)
	case r.in("PostToolUse", "PostToolUseFailure"):
		r.model(reason)
	case r.in("UserPromptSubmit", "UserPromptExpansion", "PreModelSwitch", "ConfigChange"):
		r.out.Blocked = true
		r.user(reason)
	case r.in("PreCompact", "PostToolBatch"):
		r.out.Blocked, r.out.SessionEnds = true, true
		r.user(reason)
	case r.in("Elicitation", "ElicitationResult"):
		r.out.Blocked, r.out.Action = true, "decline"
		r.user(reason)
	case r.in("TeammateIdle", "TaskCompleted"):
		r.out.Blocked, r.out.Continued = true, true
		r.model(reason)
	case r.exitBlocks():
		r.out.Blocked = true
		r.model(reason)
	case r.p.Exit == 2:
		r.user(reason)
	}
}

// stop follows continue:false.
func (r *run) stop() {
	if r.a.Continue == nil || *r.a.Continue {
		return
	}
	r.user(r.a.StopReason)
	if r.in("SessionStart", "TaskCreated", "ConfigChange", "CwdChanged", "Elicitation", "ElicitationResult", "PreCompact", "PostCompact",
		"WorktreeRemove", "MessageDisplay", "Notification", "SessionEnd", "InstructionsLoaded", "PermissionRequest") {
		return
	}
	r.out.SessionEnds, r.out.Continued = true, false
	if r.in("UserPromptSubmit", "UserPromptExpansion") {
		r.out.Blocked = true
	}
}

// worktree takes the last line of stdout for a path.
func (r *run) worktree() protocoltest.Outcome {
	lines := strings.Split(strings.TrimSpace(r.p.Stdout), "\n")
	r.out.Path = lines[len(lines)-1]
	if r.p.Exit != 0 || r.out.Path == "" {
		r.out.Path, r.out.Blocked = "", true
		r.model(r.p.Stderr)
	}
	return r.out
}

func (r *run) model(s string) { r.out.ToModel = appendText(r.out.ToModel, s) }
func (r *run) user(s string)  { r.out.ToUser = appendText(r.out.ToUser, s) }

func appendText(list []string, s string) []string {
	if s = strings.TrimSpace(s); s == "" {
		return list
	}
	return append(list, s)
}
