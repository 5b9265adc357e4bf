package claudeagent

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

// output is what a hook may print, all of it optional.
type output struct {
	Continue   *bool           `json:"continue_execution"`
	StopReason *string         `json:"stop_reason"`
	Quiet      *bool           `json:"suppress_logging"`
	Message    *string         `json:"system_message"`
	Input      json.RawMessage `json:"updated_input"`
	Context    *string         `json:"additional_context"`
}

func failed(format string, args ...any) error {
	return fmt.Errorf("%w: "+format, append([]any{dialect.ErrFailed}, args...)...)
}

// answer reads what a hook did. A JSON answer that blocks counts at every exit
// code, and exit code 2 blocks whatever was printed.
func answer(h dialect.Hook, c *dialect.Call, o dialect.Output) (dialect.Answer, error) {
	a, err := printed(o)
	if err == nil && a.Effect == hook.Deny && a.Reason == "" {
		a.Reason = process.Text(bytes.TrimSpace(o.Stderr), command.MaxReason)
	}
	switch {
	case err == nil && a.Effect == hook.Deny:
	case o.ExitCode == 2:
		a = dialect.Answer{Effect: hook.Deny, Reason: process.Text(bytes.TrimSpace(o.Stderr), command.MaxReason)}
	case o.ExitCode != 0:
		return dialect.Answer{}, failed("exit code %d: %.200s", o.ExitCode, process.Text(bytes.TrimSpace(o.Stderr), 200))
	case err != nil:
		return dialect.Answer{}, err
	}
	if a.Effect == hook.Deny {
		a.Rewrite = nil
		if a.Reason == "" {
			a.Reason = "hook " + h.Label() + " blocked this and gave no reason"
		}
	}
	return a, nil
}

// printed reads standard output: nothing, text that is no JSON, or one object.
func printed(o dialect.Output) (dialect.Answer, error) {
	stdout := bytes.TrimSpace(o.Stdout)
	if len(stdout) == 0 || stdout[0] != '{' {
		return dialect.Answer{}, nil // an echo for people
	}
	if o.Truncated {
		return dialect.Answer{}, failed("its answer is longer than what is kept of the output")
	}
	var out output
	if err := strictjson.UnmarshalOpen(stdout, &out, 0); err != nil {
		return dialect.Answer{}, failed("its answer is not of claude-agent's form: %w", err)
	}
	if err := understood(stdout); err != nil {
		return dialect.Answer{}, err
	}
	a := dialect.Answer{Quiet: out.Quiet != nil && *out.Quiet}
	a.Reason = value(out.StopReason, command.MaxReason)
	a.Message = value(out.Message, command.MaxContext)
	a.Context = value(out.Context, command.MaxContext)
	if out.Continue != nil && !*out.Continue {
		a.Effect = hook.Deny
	}
	if len(out.Input) > 0 && string(out.Input) != "null" {
		if out.Input[0] != '{' {
			return dialect.Answer{}, failed("its updated_input is not a JSON object")
		}
		a.Rewrite = out.Input
	}
	return a, nil
}

// understood refuses an object that has keys and none of ours: it is said in
// another language, and may have been meant to block.
func understood(stdout []byte) error {
	var members map[string]json.RawMessage
	if err := strictjson.UnmarshalOpen(stdout, &members, 0); err != nil {
		return failed("%w", err)
	}
	for _, key := range []string{"continue_execution", "stop_reason", "suppress_logging", "system_message", "updated_input", "additional_context"} {
		if _, there := members[key]; there {
			return nil
		}
	}
	if len(members) == 0 {
		return nil
	}
	return failed("its answer has none of claude-agent's keys, such as continue_execution")
}

func value(s *string, limit int) string {
	if s == nil {
		return ""
	}
	return process.Text([]byte(*s), limit)
}

// merge joins the answers in the order of priority: one that blocks, blocks;
// of reason, message and input the latest counts; contexts are joined.
func merge(_ *dialect.Call, answers []dialect.Answer) dialect.Answer {
	var out dialect.Answer
	for _, a := range answers {
		out.Effect = max(out.Effect, a.Effect)
		out.Quiet = out.Quiet || a.Quiet
		if a.Reason != "" {
			out.Reason = a.Reason
		}
		if a.Message != "" {
			out.Message = a.Message
		}
		if a.Rewrite != nil {
			out.Rewrite = a.Rewrite
		}
		out.Context = dialect.Lines(out.Context, a.Context)
		out.Warning = dialect.Lines(out.Warning, a.Warning)
	}
	return out
}
