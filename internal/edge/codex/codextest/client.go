package codextest

import (
	"bytes"
	"encoding/json"
	"io"
	"slices"
	"strings"

	"github.com/grapnel-dev/grapnel/internal/edge/protocol/protocoltest"
)

// output is every key that there is; keys says which event takes which.
type output struct {
	Continue       *bool     `json:"continue"`
	StopReason     string    `json:"stopReason"`
	SuppressOutput *bool     `json:"suppressOutput"`
	SystemMessage  string    `json:"systemMessage"`
	Decision       string    `json:"decision"`
	Reason         string    `json:"reason"`
	Specific       *specific `json:"hookSpecificOutput"`
}

type specific struct {
	Event      string          `json:"hookEventName"`
	Permission string          `json:"permissionDecision"`
	Reason     string          `json:"permissionDecisionReason"`
	Input      json.RawMessage `json:"updatedInput"`
	Context    string          `json:"additionalContext"`
	MCPOutput  json.RawMessage `json:"updatedMCPToolOutput"`
	Decision   *struct {
		Behavior    string          `json:"behavior"`
		Message     string          `json:"message"`
		Interrupt   bool            `json:"interrupt"`
		Input       json.RawMessage `json:"updatedInput"`
		Permissions json.RawMessage `json:"updatedPermissions"`
	} `json:"decision"`
}

// universal are the keys that all events but Interrupt take, own those of one.
func own(event string) (top, inner []string) {
	switch event {
	case "PreToolUse":
		return []string{"decision", "reason", "hookSpecificOutput"}, []string{"permissionDecision", "permissionDecisionReason", "updatedInput", "additionalContext"}
	case "PermissionRequest":
		return []string{"hookSpecificOutput"}, []string{"decision"}
	case "PostToolUse":
		return []string{"decision", "reason", "hookSpecificOutput"}, []string{"additionalContext", "updatedMCPToolOutput"}
	case "UserPromptSubmit":
		return []string{"decision", "reason", "hookSpecificOutput"}, []string{"additionalContext"}
	case "SessionStart", "SubagentStart":
		return []string{"hookSpecificOutput"}, []string{"additionalContext"}
	case "Stop", "SubagentStop":
		return []string{"decision", "reason"}, nil
	}
	return nil, nil
}

// Run says what Codex does with a hook's answer.
func Run(s protocoltest.Situation, p protocoltest.Process) protocoltest.Outcome {
	r := run{s: s, p: p}
	if s.Event == "PermissionRequest" && !s.Approved {
		r.out.Blocked = true // nobody is there to be asked
	}
	switch {
	case p.Ending == protocoltest.TimedOut, p.Ending == protocoltest.Killed, s.Event == "SessionEnd":
		return r.out
	case p.Exit == 2:
		return r.exit2()
	case p.Exit != 0:
		return r.out
	}
	return r.answer()
}

type run struct {
	s   protocoltest.Situation
	p   protocoltest.Process
	out protocoltest.Outcome
}

func (r *run) in(events ...string) bool { return slices.Contains(events, r.s.Event) }

func (r *run) model(s string) {
	if s = strings.TrimSpace(s); s != "" {
		r.out.ToModel = append(r.out.ToModel, s)
	}
}

// exit2 is a block where stderr says why; else the run has failed.
func (r *run) exit2() protocoltest.Outcome {
	why := strings.TrimSpace(r.p.Stderr)
	if why == "" {
		return r.out
	}
	r.block(why)
	return r.out
}

func (r *run) block(why string) {
	switch {
	case r.in("PreToolUse", "PermissionRequest"):
		r.out.Blocked = true
		r.model(why)
	case r.in("UserPromptSubmit"):
		r.out.Blocked = true
		r.out.ToUser = append(r.out.ToUser, why)
	case r.in("PostToolUse"):
		r.model(why)
	case r.in("Stop", "SubagentStop"):
		r.out.Continued = true
		r.model(why)
	}
}

// parse reads the answer as strictly as Codex does.
func (r *run) parse(text string) (o output, ok bool) {
	if r.in("Interrupt", "PreModelRequest", "PostModelRequest") {
		return o, true
	}
	var keys map[string]json.RawMessage
	if json.Unmarshal([]byte(text), &keys) != nil {
		return o, false
	}
	top, inner := own(r.s.Event)
	for key := range keys {
		if !slices.Contains(append(top, "continue", "stopReason", "suppressOutput", "systemMessage"), key) {
			return o, false
		}
	}
	d := json.NewDecoder(bytes.NewReader([]byte(text)))
	d.DisallowUnknownFields()
	if d.Decode(&o) != nil {
		return o, false
	}
	if _, err := d.Token(); err != io.EOF {
		return o, false
	}
	if o.Specific == nil {
		return o, true
	}
	var members map[string]json.RawMessage
	if json.Unmarshal(keys["hookSpecificOutput"], &members) != nil || o.Specific.Event != r.s.Event {
		return o, false
	}
	for key := range members {
		if key != "hookEventName" && !slices.Contains(inner, key) {
			return o, false
		}
	}
	return o, true
}

// answer follows exit code 0.
func (r *run) answer() protocoltest.Outcome {
	text := strings.TrimSpace(r.p.Stdout)
	if text == "" {
		return r.out
	}
	if !strings.HasPrefix(text, "{") {
		switch {
		case r.in("UserPromptSubmit", "SessionStart", "SubagentStart"):
			r.model(text) // plain text is context there
		case r.in("Stop", "SubagentStop"):
			r.out.Dropped = true // and here it is no answer at all
		}
		return r.out
	}
	before := r.out
	o, ok := r.parse(text)
	if ok {
		ok = r.follow(o)
	}
	switch {
	case !ok:
		r.out = before
		r.out.Dropped = true
	case o.SystemMessage != "" && !r.out.Blocked: // a block shows its reason alone
		r.out.ToUser = append(r.out.ToUser, o.SystemMessage)
	}
	return r.out
}

// follow obeys an answer of the right shape; false when Codex calls it
// unsupported, and drops all of it.
func (r *run) follow(o output) bool {
	halts := o.Continue != nil && !*o.Continue
	switch r.s.Event {
	case "PreToolUse":
		if halts || o.StopReason != "" || o.SuppressOutput != nil || o.Decision == "approve" {
			return false
		}
		if o.Decision == "block" {
			if o.Reason == "" {
				return false
			}
			r.block(o.Reason)
		} else if o.Decision != "" {
			return false
		}
		return o.Specific == nil || r.tool(o.Specific)
	case "PermissionRequest":
		if halts || o.StopReason != "" || o.SuppressOutput != nil {
			return false
		}
		if o.Specific == nil || o.Specific.Decision == nil {
			return true
		}
		d := o.Specific.Decision
		if d.Interrupt || d.Input != nil || d.Permissions != nil {
			return false
		}
		switch d.Behavior {
		case "allow":
			r.out.Blocked, r.out.Granted = false, true
		case "deny":
			r.block(d.Message)
		default:
			return false
		}
		return true
	}
	if o.Decision != "" && (o.Decision != "block" || o.Reason == "") {
		return false
	}
	if o.Decision == "" && o.Reason != "" && r.in("PostToolUse") {
		return false
	}
	if o.Specific != nil {
		if o.Specific.MCPOutput != nil {
			return false
		}
		r.model(o.Specific.Context)
	}
	if halts {
		r.halt(o.StopReason)
		return true
	}
	if o.Decision == "block" {
		r.block(o.Reason)
	}
	return true
}

func (r *run) tool(h *specific) bool {
	switch h.Permission {
	case "":
		if h.Input != nil {
			return false
		}
	case "deny":
		if h.Reason == "" {
			return false
		}
		r.block(h.Reason)
	case "allow":
		if h.Input == nil {
			return false
		}
		r.out.Granted, r.out.Changed = true, h.Input
	default:
		return false
	}
	r.model(h.Context)
	return true
}

// halt is continue:false.
func (r *run) halt(why string) {
	if why != "" && !r.in("PreCompact") { // there it ends without a word
		r.out.ToUser = append(r.out.ToUser, why)
	}
	switch {
	case r.in("SessionStart", "PreCompact", "UserPromptSubmit"):
		r.out.Blocked, r.out.SessionEnds = true, true
	case r.in("Stop", "SubagentStop"):
		r.out.SessionEnds = true
	case r.in("PostToolUse"):
		r.model(why) // it is the result then, and the session goes on
	}
}
