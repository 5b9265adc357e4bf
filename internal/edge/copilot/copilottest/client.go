package copilottest

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/grapnel-dev/grapnel/internal/edge/protocol/protocoltest"
)

// moment is an event in whichever dialect.
func moment(event string) string {
	return map[string]string{
		"sessionStart": "start", "SessionStart": "start", "sessionEnd": "end", "SessionEnd": "end",
		"userPromptSubmitted": "prompt", "UserPromptSubmit": "prompt", "userPromptTransformed": "transformed",
		"preToolUse": "pre", "PreToolUse": "pre", "permissionRequest": "permission", "PermissionRequest": "permission",
		"postToolUse": "post", "PostToolUse": "post", "postToolUseFailure": "failure", "PostToolUseFailure": "failure",
		"agentStop": "stop", "Stop": "stop", "subagentStart": "substart", "subagentStop": "substop", "SubagentStop": "substop",
		"notification": "notification", "errorOccurred": "error", "ErrorOccurred": "error", "preCompact": "compact", "PreCompact": "compact",
		"preMcpToolCall": "mcp",
	}[event]
}

// keys are those that an event takes at the top level.
func keys(moment string) []string {
	switch moment {
	case "pre":
		return []string{"permissionDecision", "permissionDecisionReason", "modifiedArgs", "additionalContext"}
	case "permission":
		return []string{"behavior", "message", "interrupt"}
	case "prompt":
		return []string{"decision", "reason", "additionalContext", "modifiedPrompt"}
	case "transformed":
		return []string{"modifiedTransformedPrompt"}
	case "post":
		return []string{"decision", "reason", "additionalContext", "modifiedResult"}
	case "start", "substart", "notification", "failure":
		return []string{"additionalContext"}
	case "stop":
		return []string{"decision", "reason"}
	case "substop":
		return []string{"decision", "reason", "modifiedResponse"}
	}
	return nil
}

// postLimit is where contexts after a tool are cut.
const postLimit = 10 << 10

type run struct {
	s      protocoltest.Situation
	p      protocoltest.Process
	moment string
	out    protocoltest.Outcome
}

// Run says what Copilot does with a hook's answer.
func Run(s protocoltest.Situation, p protocoltest.Process) protocoltest.Outcome {
	r := run{s: s, p: p, moment: moment(s.Event)}
	if !s.Approved && (r.moment == "pre" || r.moment == "permission") {
		r.out.Blocked = true // nobody is there to be asked
	}
	failed := p.Ending == protocoltest.Killed || p.Ending == protocoltest.NotFound || p.Exit != 0 && p.Exit != 2
	switch {
	case p.Ending == protocoltest.TimedOut:
	case failed && r.moment == "pre":
		r.out.Blocked = true // "hook errored"
	case failed:
	case p.Exit == 2:
		r.exit2()
	default:
		r.answer()
	}
	return r.out
}

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

// exit2 denies a tool, whatever the JSON says, of which the reason counts. It
// is text for the model after a failure, and a warning elsewhere.
func (r *run) exit2() {
	switch r.moment {
	case "pre", "permission":
		o, _ := r.parse()
		r.follow(o)
		r.out.Blocked, r.out.Granted, r.out.Changed = true, false, nil
	case "failure":
		r.model(r.p.Stdout)
		r.model(r.p.Stderr)
	default:
		r.user(r.p.Stderr)
	}
}

// answer follows exit code 0.
func (r *run) answer() {
	o, ok := r.parse()
	r.out.Dropped = !ok
	for _, key := range slices.Sorted(maps.Keys(o)) {
		if !slices.Contains(keys(r.moment), key) && !(key == "hookSpecificOutput" && r.claude()) {
			r.out.Unknown = append(r.out.Unknown, key)
		}
	}
	r.follow(o)
}

// claude reports whether the hook was registered under Claude Code's name.
func (r *run) claude() bool { return r.s.Event[0] >= 'A' && r.s.Event[0] <= 'Z' }

type object map[string]json.RawMessage

func (o object) text(key string) string {
	var s string
	_ = json.Unmarshal(o[key], &s)
	return s
}

// parse reads what is left of stdout without the lines that tell of progress:
// one JSON document, or it is as if there were nothing.
func (r *run) parse() (object, bool) {
	var left strings.Builder
	for line := range strings.Lines(r.p.Stdout) {
		var o object
		if json.Unmarshal([]byte(line), &o) == nil && o.text("type") == "progress" {
			continue
		}
		left.WriteString(line)
	}
	text := strings.TrimSpace(left.String())
	if text == "" {
		return nil, true
	}
	var o object
	if json.Unmarshal([]byte(text), &o) != nil {
		return nil, false
	}
	var nested object
	if json.Unmarshal(o["hookSpecificOutput"], &nested) == nil && r.claude() && nested.text("hookEventName") == r.s.Event {
		for key, value := range nested {
			o[key] = value
		}
		delete(o, "hookEventName")
		if input := o["updatedInput"]; input != nil {
			o["modifiedArgs"] = input
			delete(o, "updatedInput")
		}
	}
	return o, true
}

func (r *run) follow(o object) {
	blocks := o.text("decision") == "block" && o.text("reason") != ""
	switch r.moment {
	case "pre":
		r.tool(o)
	case "permission":
		r.permission(o)
	case "prompt":
		if blocks {
			r.out.Blocked = true
			r.user(o.text("reason"))
			return
		}
		r.model(o.text("modifiedPrompt"))
		r.model(o.text("additionalContext"))
	case "post":
		if blocks {
			r.model("Tool result blocked: " + o.text("reason"))
			r.user(o.text("reason"))
		}
		var result object
		if json.Unmarshal(o["modifiedResult"], &result) == nil {
			r.model(result.text("textResultForLlm"))
		}
		context := o.text("additionalContext")
		r.model(context[:min(len(context), postLimit)])
	case "stop", "substop":
		if blocks {
			r.out.Continued = true
			r.model(o.text("reason"))
		}
	case "start", "substart", "failure", "notification":
		r.model(o.text("additionalContext"))
	}
}

func (r *run) tool(o object) {
	why := o.text("permissionDecisionReason")
	switch o.text("permissionDecision") {
	case "deny":
		r.out.Blocked = true
		r.model(why)
		r.user(why)
	case "ask": // nobody is there
		r.out.Asked, r.out.Blocked = true, true
		r.model(why)
		r.user(why)
	case "allow":
		r.out.Granted, r.out.Blocked = true, false
		r.out.Changed = o["modifiedArgs"]
	default:
		// Not seen: whether a changed input counts without a decision. The
		// worse of the two is that it does not.
	}
	r.model(o.text("additionalContext"))
}

func (r *run) permission(o object) {
	switch o.text("behavior") {
	case "allow":
		r.out.Granted, r.out.Blocked = true, false
	case "deny":
		r.out.Blocked = true
		r.user(o.text("message"))
		if string(o["interrupt"]) == "true" {
			r.out.SessionEnds = true
			return
		}
		r.model(o.text("message"))
	}
}
