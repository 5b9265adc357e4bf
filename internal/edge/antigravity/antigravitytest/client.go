package antigravitytest

import (
	"bytes"
	"encoding/json"
	"io"
	"strings"

	"github.com/grapnel-dev/grapnel/internal/edge/protocol/protocoltest"
)

// The answers, which are read as protojson: a key that is not there fails.
type (
	toolAnswer struct {
		Decision            string          `json:"decision"`
		Reason              string          `json:"reason"`
		PermissionOverrides json.RawMessage `json:"permissionOverrides"`
	}
	stopAnswer struct {
		Decision string `json:"decision"`
		Reason   string `json:"reason"`
	}
	invocationAnswer struct {
		Steps []struct {
			Ephemeral string `json:"ephemeralMessage"`
			User      string `json:"userMessage"`
		} `json:"injectSteps"`
	}
)

// Run says what agy does with a hook's answer.
func Run(s protocoltest.Situation, p protocoltest.Process) protocoltest.Outcome {
	var out protocoltest.Outcome
	text := strings.TrimSpace(p.Stdout)
	failed := p.Ending != protocoltest.Exited || p.Exit != 0
	switch s.Event {
	case "PreToolUse":
		tool(s, text, failed, &out)
	case "Stop":
		var a stopAnswer
		if !failed && read(text, &a, &out) && a.Decision == "continue" {
			out.Continued = true
			out.ToModel = append(out.ToModel, a.Reason)
		}
	case "PreInvocation":
		var a invocationAnswer
		if !failed && read(text, &a, &out) {
			for _, step := range a.Steps {
				out.ToModel = append(out.ToModel, step.Ephemeral+step.User)
			}
		}
	case "PostToolUse", "PostInvocation", "SessionStart":
		read(text, &struct{}{}, &out)
	}
	return out
}

// tool is a hook before a tool: all that is no decision denies, but to end with
// 0 and say nothing.
func tool(s protocoltest.Situation, text string, failed bool, out *protocoltest.Outcome) {
	var a toolAnswer
	switch {
	case failed:
		out.Blocked = true
	case text == "":
		out.Blocked = !s.Approved // nobody is there to be asked
	case !read(text, &a, out):
		out.Blocked = true
	case a.Decision == "allow":
		out.Granted = true
	case a.Decision == "ask": // answered by what was always allowed
		out.Asked, out.Blocked = !s.Approved, !s.Approved
	case a.Decision == "force_ask":
		out.Asked, out.Blocked = true, true
	default: // deny, and any other
		out.Blocked = true
		if out.ToModel = nil; a.Reason != "" {
			out.ToModel = []string{a.Reason}
		}
	}
}

// read decodes an answer; nothing is one that says nothing.
func read(text string, v any, out *protocoltest.Outcome) bool {
	if text == "" {
		return true
	}
	d := json.NewDecoder(bytes.NewReader([]byte(text)))
	d.DisallowUnknownFields()
	if d.Decode(v) != nil {
		out.Dropped = true
		return false
	}
	if _, err := d.Token(); err != io.EOF {
		out.Dropped = true
	}
	return !out.Dropped
}
