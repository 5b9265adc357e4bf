package codemie

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

// decision is the dialect's word for what is to happen.
type decision string

// The decisions, from the lowest priority to the highest. The empty one is no
// opinion.
const (
	allow   decision = "allow"
	approve decision = "approve"
	deny    decision = "deny"
	block   decision = "block"
)

// exitBlock is the exit code that blocks.
const exitBlock = 2

// output is what standard output may hold.
type output struct {
	Decision decision        `json:"decision"`
	Reason   string          `json:"reason"`
	Input    json.RawMessage `json:"updatedInput"`
	Context  string          `json:"additionalContext"`
}

// answer reads what a hook did.
func answer(h dialect.Hook, c *dialect.Call, o dialect.Output) (dialect.Answer, error) {
	switch o.ExitCode {
	case 0:
		return said(h, c, o)
	case exitBlock:
		return blocked(h, c, o), nil
	}
	err := fmt.Errorf("%w with exit code %d", dialect.ErrFailed, o.ExitCode)
	if text := process.Text(bytes.TrimSpace(o.Stderr), 500); text != "" {
		err = fmt.Errorf("%w: %s", err, text)
	}
	return dialect.Answer{}, err
}

// said reads standard output.
func said(h dialect.Hook, c *dialect.Call, o dialect.Output) (dialect.Answer, error) {
	bad := func(format string, args ...any) (dialect.Answer, error) {
		return dialect.Answer{}, fmt.Errorf("%w: stdout: "+format, append([]any{dialect.ErrFailed}, args...)...)
	}
	text := bytes.TrimSpace(o.Stdout)
	switch {
	case o.Truncated:
		return bad("it is too long and was not read in full")
	case len(text) == 0:
		return dialect.Answer{}, nil
	case text[0] != '{':
		return bad("%.60q is not a JSON object; print the decision alone, and everything else to stderr", process.Text(text, 60))
	}
	var out output
	if err := strictjson.UnmarshalOpen(text, &out, process.DefaultMaxOutput); err != nil {
		return bad("%w", err)
	}
	a := dialect.Answer{
		Reason:   process.Text([]byte(out.Reason), command.MaxReason),
		Context:  process.Text([]byte(out.Context), command.MaxContext),
		Metadata: metadata(out.Decision),
	}
	switch out.Decision {
	case "":
	case allow, approve:
		a.Effect = hook.Allow
	case deny, block:
		a.Effect = hook.Deny
		if a.Reason == "" {
			a.Reason = fmt.Sprintf("hook %s says %s and gave no reason", h.Label(), out.Decision)
		}
	default:
		return bad("the decision %.40q is none of allow, approve, deny, block", string(out.Decision))
	}
	patch := bytes.TrimSpace(out.Input)
	switch {
	case len(patch) == 0 || string(patch) == "null":
	case patch[0] != '{':
		return bad("updatedInput is not a JSON object")
	case c.Name != preToolUse:
		a.Warning = "hook " + h.Label() + ": updatedInput means nothing for " + c.Name
	default:
		a.Patch = json.RawMessage(patch)
	}
	return a, nil
}

// blocked is the answer of exit code 2. What is on stdout may add to it.
func blocked(h dialect.Hook, c *dialect.Call, o dialect.Output) dialect.Answer {
	a := dialect.Answer{
		Effect: hook.Deny, Reason: process.Text(bytes.TrimSpace(o.Stderr), command.MaxReason), Metadata: metadata(block),
	}
	a.Retry = c.Name == sessionStart && a.Reason != ""
	var out output
	if !o.Truncated && strictjson.UnmarshalOpen(bytes.TrimSpace(o.Stdout), &out, process.DefaultMaxOutput) == nil {
		a.Context = process.Text([]byte(out.Context), command.MaxContext)
		if a.Reason == "" {
			a.Reason = process.Text([]byte(out.Reason), command.MaxReason)
		}
	}
	if a.Reason == "" {
		a.Reason = fmt.Sprintf("hook %s blocked it (exit code %d) and gave no reason", h.Label(), exitBlock)
	}
	return a
}

// metadata keeps the hook's own word, which the effect alone does not tell.
func metadata(d decision) json.RawMessage {
	if d == "" {
		return nil
	}
	return json.RawMessage(`{"decision":"` + string(d) + `"}`)
}

// decisionOf is the word of an answer; one that no hook process gave has the
// word of its effect.
func decisionOf(a dialect.Answer) decision {
	switch {
	case a.Effect >= hook.Deny && bytes.Equal(a.Metadata, metadata(deny)):
		return deny
	case a.Effect >= hook.Deny:
		return block
	case a.Effect == hook.Allow && bytes.Equal(a.Metadata, metadata(approve)):
		return approve
	case a.Effect == hook.Allow:
		return allow
	}
	return ""
}
