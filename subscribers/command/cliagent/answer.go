package cliagent

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/grapnel-dev/grapnel/bus/hook"
	"github.com/grapnel-dev/grapnel/internal/strictjson"
	"github.com/grapnel-dev/grapnel/runner/process"
	"github.com/grapnel-dev/grapnel/subscribers/command"
	"github.com/grapnel-dev/grapnel/subscribers/command/dialect"
)

// exitBlock is the exit code of a blocking error.
const exitBlock = 2

// output is what a hook may print.
type output struct {
	Continue     *bool           `json:"continue"`
	Decision     string          `json:"decision"`
	Reason       string          `json:"reason"`
	Metadata     json.RawMessage `json:"metadata"`
	ModifiedArgs json.RawMessage `json:"modified_args"`
}

// answer reads what a hook did.
func answer(_ dialect.Hook, c *dialect.Call, o dialect.Output) (dialect.Answer, error) {
	switch o.ExitCode {
	case 0:
		return read(c, o)
	case exitBlock:
		a := dialect.Answer{Effect: hook.Deny, Reason: process.Text(bytes.TrimSpace(o.Stderr), command.MaxReason)}
		if said, err := read(c, o); err == nil {
			a.Metadata = said.Metadata
			if a.Reason == "" {
				a.Reason = said.Reason
			}
		}
		if a.Reason == "" {
			a.Reason = "Tool execution blocked by hook (exit code 2), which gave no reason"
		}
		return a, nil
	}
	err := fmt.Errorf("%w with exit code %d", dialect.ErrFailed, o.ExitCode)
	if said := process.Text(bytes.TrimSpace(o.Stderr), 500); said != "" {
		err = fmt.Errorf("%w: %s", err, said)
	}
	return dialect.Answer{}, err
}

// read reads standard output: a JSON object is an answer, anything else is
// what the command has to say to nobody.
func read(c *dialect.Call, o dialect.Output) (dialect.Answer, error) {
	bad := func(format string, args ...any) (dialect.Answer, error) {
		return dialect.Answer{}, fmt.Errorf("%w: stdout: "+format, append([]any{dialect.ErrFailed}, args...)...)
	}
	text := bytes.TrimSpace(o.Stdout)
	if len(text) == 0 || text[0] != '{' {
		return dialect.Answer{}, nil
	}
	if o.Truncated {
		return bad("there is more of it than is read")
	}
	var out output
	if err := strictjson.UnmarshalOpen(text, &out, process.DefaultMaxOutput); err != nil {
		return bad("%w", err)
	}
	a := dialect.Answer{Reason: process.Text([]byte(out.Reason), command.MaxReason), Metadata: given(out.Metadata)}
	patch := given(out.ModifiedArgs)
	if patch != nil && patch[0] != '{' {
		return bad("modified_args is not an object")
	}
	switch out.Decision {
	case "":
	case "approve":
		a.Effect = hook.Allow
	case "block":
		a.Effect = hook.Deny
	case "modify":
		if patch == nil {
			return bad("the decision is modify, and there are no modified_args")
		}
	default:
		return bad("the decision %.40q is not known; it is approve, block or modify", out.Decision)
	}
	if out.Continue != nil && !*out.Continue {
		a.Effect = hook.Deny
	}
	switch {
	case a.Effect == hook.Deny:
		if a.Reason == "" {
			a.Reason = "Tool execution blocked by hook, which gave no reason"
		}
	case patch != nil && c.Name == PreToolUse:
		a.Patch = patch
	case patch != nil:
		a.Warning = "modified_args count in PreToolUse only"
	}
	return a, nil
}

func given(raw json.RawMessage) json.RawMessage {
	raw = bytes.TrimSpace(raw)
	if len(raw) == 0 || string(raw) == "null" {
		return nil
	}
	return raw
}

// merge takes the strictest answer; all hooks of an event have run by then.
// Modified arguments are merged in the order of the hooks.
func merge(c *dialect.Call, answers []dialect.Answer) dialect.Answer {
	out := dialect.Strictest(c, answers)
	out.Patch = nil
	if out.Effect >= hook.Deny {
		return out
	}
	members := make(map[string]json.RawMessage)
	for _, a := range answers {
		var more map[string]json.RawMessage
		if a.Patch == nil || strictjson.UnmarshalOpen(a.Patch, &more, 0) != nil {
			continue
		}
		for name, v := range more {
			members[name] = v
		}
	}
	if len(members) > 0 {
		if b, err := json.Marshal(members); err == nil {
			out.Patch = b
		}
	}
	return out
}
