package cursortest

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/grapnel-dev/grapnel/internal/edge/protocol/protocoltest"
)

// own are the keys of an event.
func own(event string) []string {
	switch event {
	case "preToolUse":
		return []string{"permission", "user_message", "agent_message", "updated_input"}
	case "beforeShellExecution", "beforeMCPExecution":
		return []string{"permission", "user_message", "agent_message"}
	case "beforeReadFile", "subagentStart":
		return []string{"permission", "user_message"}
	case "beforeTabFileRead":
		return []string{"permission"}
	case "beforeSubmitPrompt":
		return []string{"continue", "user_message"}
	case "postToolUse":
		return []string{"additional_context", "updated_mcp_tool_output"}
	case "sessionStart":
		return []string{"env", "additional_context"}
	case "stop", "subagentStop":
		return []string{"followup_message"}
	case "preCompact":
		return []string{"user_message"}
	case "workspaceOpen":
		return []string{"pluginPaths"}
	}
	return nil
}

type run struct {
	event string
	out   protocoltest.Outcome
}

// Run says what Cursor does with a hook's answer.
func Run(s protocoltest.Situation, p protocoltest.Process) protocoltest.Outcome {
	r := run{event: s.Event}
	if !s.Approved && r.in("preToolUse", "beforeShellExecution", "beforeMCPExecution") {
		r.out.Blocked = true // nobody is there to be asked
	}
	switch {
	case p.Ending != protocoltest.Exited, p.Exit != 0 && p.Exit != 2: // it passes
	case p.Exit == 2 && r.waits():
		r.out.Blocked = true
		r.messages(object{}.from(p.Stdout), p.Stderr)
	case p.Exit == 2:
	default:
		r.answer(p.Stdout)
	}
	return r.out
}

func (r *run) in(events ...string) bool { return slices.Contains(events, r.event) }

// waits reports whether the event waits for a permission.
func (r *run) waits() bool {
	return slices.Contains(own(r.event), "permission") || slices.Contains(own(r.event), "continue")
}

type object map[string]json.RawMessage

func (o object) from(text string) object {
	_ = json.Unmarshal([]byte(text), &o)
	return o
}

func (o object) text(key string) string {
	var s string
	_ = json.Unmarshal(o[key], &s)
	return s
}

func (r *run) messages(o object, otherwise string) {
	user, model := o.text("user_message"), o.text("agent_message")
	if user == "" && model == "" {
		user = strings.TrimSpace(otherwise)
	}
	if user != "" {
		r.out.ToUser = append(r.out.ToUser, user)
	}
	if model != "" {
		r.out.ToModel = append(r.out.ToModel, model)
	}
}

func (r *run) answer(stdout string) {
	var o object
	if json.Unmarshal([]byte(stdout), &o) != nil {
		r.out.Dropped = strings.TrimSpace(stdout) != ""
		r.out.Blocked = r.out.Blocked || r.waits() // reported of an empty answer
		return
	}
	for _, key := range slices.Sorted(maps.Keys(o)) {
		if !slices.Contains(own(r.event), key) {
			r.out.Unknown = append(r.out.Unknown, key)
		}
	}
	if r.waits() {
		r.permission(o)
		return
	}
	if followUp := o.text("followup_message"); followUp != "" && r.in("stop", "subagentStop") {
		r.out.Continued = true
		r.out.ToModel = append(r.out.ToModel, followUp)
	}
	if context := o.text("additional_context"); context != "" && r.in("sessionStart", "postToolUse") {
		r.out.ToModel = append(r.out.ToModel, context)
	}
}

func (r *run) permission(o object) {
	said := o.text("permission")
	if r.in("beforeSubmitPrompt") {
		said = map[string]string{"true": "allow", "false": "deny"}[string(o["continue"])]
	}
	last := r.in("beforeShellExecution", "beforeMCPExecution")
	switch {
	case said == "allow" && last:
		r.out.Granted, r.out.Blocked = true, false
	case said == "allow":
		r.out.Changed = o["updated_input"]
	case said == "ask" && last: // nobody is there
		r.out.Asked, r.out.Blocked = true, true
		r.messages(o, "")
	case said == "ask" && r.in("preToolUse"): // accepted and not enforced
	default:
		r.out.Blocked = true
		r.messages(o, "")
	}
}
