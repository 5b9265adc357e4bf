package opencodetest

import (
	"encoding/json"
	"strings"

	"github.com/grapnel-dev/grapnel/internal/edge/protocol/protocoltest"
)

// Run says what OpenCode and the plugin do with a hook's answer.
func Run(s protocoltest.Situation, p protocoltest.Process) protocoltest.Outcome {
	var out protocoltest.Outcome
	tool := s.Event == "tool.execute.before"
	out.Blocked = tool && !s.Approved // OpenCode's question comes later, and nobody is there
	if !tool && s.Event != "chat.message" && s.Event != "command.execute.before" {
		return out // the plugin does not wait
	}
	input, thrown := ask(p)
	switch {
	case thrown != "":
	case input == nil:
		return out
	case !tool:
		thrown = "a message cannot be changed"
	default:
		var object, args map[string]json.RawMessage
		if json.Unmarshal(input, &object) != nil || json.Unmarshal(object["args"], &args) != nil || args == nil {
			thrown = "the changed arguments cannot be handed over"
			break
		}
		out.Changed = object["args"]
		return out
	}
	out.Blocked = true
	out.ToUser = append(out.ToUser, thrown)
	if tool {
		out.ToModel = append(out.ToModel, thrown)
	}
	return out
}

// ask is the plugin's: the output that is to be, or what it throws.
func ask(p protocoltest.Process) (output json.RawMessage, thrown string) {
	if p.Ending != protocoltest.Exited {
		return nil, "no answer"
	}
	var said map[string]json.RawMessage
	readable := json.Unmarshal([]byte(p.Stdout), &said) == nil && said != nil
	other := false
	for key := range said {
		other = other || key != "output"
	}
	var decision, reason string
	if readable && said["decision"] != nil && json.Unmarshal(said["decision"], &decision) != nil {
		decision = ""
	}
	if readable && said["reason"] != nil && json.Unmarshal(said["reason"], &reason) != nil {
		reason = string(said["reason"])
	}
	switch {
	case p.Exit == 0 && readable && !other:
		return said["output"], ""
	case p.Exit != 2 && decision != "block":
		return nil, "the answer cannot be read"
	case reason != "":
		return nil, reason
	case strings.TrimSpace(p.Stderr) != "":
		return nil, strings.TrimSpace(p.Stderr)
	}
	return nil, "denied without a reason"
}
