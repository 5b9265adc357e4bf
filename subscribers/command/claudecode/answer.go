package claudecode

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"
	"unicode"

	"github.com/grapnel-dev/grapnel/bus/hook"
	"github.com/grapnel-dev/grapnel/internal/strictjson"
	"github.com/grapnel-dev/grapnel/runner/process"
	"github.com/grapnel-dev/grapnel/subscribers/command"
	"github.com/grapnel-dev/grapnel/subscribers/command/dialect"
)

// output is what a hook may print. Keys that Claude Code does not know are
// passed over, as it does.
type output struct {
	Continue       *bool           `json:"continue"`
	StopReason     string          `json:"stopReason"`
	SuppressOutput bool            `json:"suppressOutput"`
	SystemMessage  string          `json:"systemMessage"`
	Decision       string          `json:"decision"`
	Reason         string          `json:"reason"`
	Specific       json.RawMessage `json:"hookSpecificOutput"`

	specific specific
}

// specific is the part about the event. It must name the event.
type specific struct {
	Event      string          `json:"hookEventName"`
	Permission string          `json:"permissionDecision"`
	Why        string          `json:"permissionDecisionReason"`
	Input      json.RawMessage `json:"updatedInput"`
	Context    string          `json:"additionalContext"`
	Decision   *struct {
		Behavior    string          `json:"behavior"`
		Message     string          `json:"message"`
		Interrupt   bool            `json:"interrupt"`
		Input       json.RawMessage `json:"updatedInput"`
		Permissions json.RawMessage `json:"updatedPermissions"`
	} `json:"decision"`
	Action string `json:"action"`
}

// answer reads what a hook did, by the rules of section "Output" of the package
// comment.
func answer(h dialect.Hook, c *dialect.Call, o dialect.Output) (dialect.Answer, error) {
	event, ok := rowOf(c.Name)
	if !ok {
		return dialect.Answer{}, failed("there is no event %s", c.Name)
	}
	r := &reply{row: event, hook: h, call: c, exit: o.ExitCode, stderr: text(o.Stderr, command.MaxReason)}
	stdout := bytes.TrimFunc(o.Stdout, unicode.IsSpace)
	var err error
	if len(stdout) > 0 && stdout[0] == '{' {
		if err = r.read(stdout, o.Truncated); err == nil {
			return r.spoken()
		}
		if event.plain && stdout[len(stdout)-1] != '}' && !o.Truncated {
			err = nil // text that begins like JSON
		}
	}
	return r.unspoken(stdout, err)
}

// reply is one answer being read.
type reply struct {
	row    row
	hook   dialect.Hook
	call   *dialect.Call
	exit   int
	stderr string
	out    output
	a      dialect.Answer
}

func text(b []byte, limit int) string { return strings.TrimSpace(process.Text(b, limit)) }

func (r *reply) reason(s string) string {
	if s = text([]byte(s), command.MaxReason); s != "" {
		return s
	}
	return "hook " + r.hook.Label() + " blocked this and gave no reason"
}

func (r *reply) warn(s string) { r.a.Warning = dialect.Lines(r.a.Warning, s) }

// read takes JSON that is of the shape that the event has.
func (r *reply) read(stdout []byte, truncated bool) error {
	if truncated {
		return failed("its answer is longer than what is kept of the output")
	}
	if err := strictjson.UnmarshalOpen(stdout, &r.out, 0); err != nil {
		return failed("its answer is not of Claude Code's form: %w", err)
	}
	switch r.out.Decision {
	case "", "block", "approve", "allow", "deny":
	default:
		return failed("its decision %.40q is not known; it is block or approve", r.out.Decision)
	}
	if r.out.Decision == "allow" || r.out.Decision == "deny" {
		return failed("its decision is %q; say block or approve, or permissionDecision", r.out.Decision)
	}
	if null(r.out.Specific) {
		return nil
	}
	s := &r.out.specific
	if err := strictjson.UnmarshalOpen(r.out.Specific, s, 0); err != nil {
		return failed("its hookSpecificOutput is not of Claude Code's form: %w", err)
	}
	switch {
	case s.Event != r.row.event:
		return failed("its hookSpecificOutput is for %.40q and not for %s", s.Event, r.row.event)
	case s.Permission != "" && s.Permission != "allow" && s.Permission != "deny" && s.Permission != "ask" && s.Permission != "defer":
		return failed("its permissionDecision %.40q is not known; it is allow, deny, ask or defer", s.Permission)
	case s.Action != "" && s.Action != "accept" && s.Action != "decline" && s.Action != "cancel":
		return failed("its action %.40q is not known; it is accept, decline or cancel", s.Action)
	case s.Decision != nil && s.Decision.Behavior != "allow" && s.Decision.Behavior != "deny":
		return failed("its behavior %.40q is not known; it is allow or deny", s.Decision.Behavior)
	case !object(s.Input), s.Decision != nil && !object(s.Decision.Input):
		return failed("its updatedInput is not a JSON object")
	}
	r.a.Metadata = r.out.Specific
	return nil
}

// object reports whether a value is missing or an object.
func object(raw json.RawMessage) bool {
	return null(raw) || raw[0] == '{'
}

// spoken is an answer in JSON, which counts at every exit code. Exit code 2
// blocks whatever the JSON says, but for the reason.
func (r *reply) spoken() (dialect.Answer, error) {
	r.decide()
	if r.exit == 2 && r.blocksByExit() && r.a.Effect < hook.Deny {
		r.a.Effect, r.a.Reason, r.a.Rewrite = hook.Deny, r.reason(r.stderr), nil
	}
	return r.a, nil
}

// unspoken is an answer without usable JSON: the exit code counts, and at 0 the
// text where the event takes any.
func (r *reply) unspoken(stdout []byte, err error) (dialect.Answer, error) {
	switch {
	case r.exit == 2 && r.blocksByExit():
		r.a.Effect, r.a.Reason = hook.Deny, r.reason(r.stderr)
		return r.a, nil
	case err != nil:
		return dialect.Answer{}, err
	case r.exit == 2:
		return dialect.Answer{}, failed("exit code 2 decides nothing on %s; answer in JSON: %.200s", r.row.event, r.stderr)
	case r.exit != 0 && r.row.speech == makesPath:
		r.a.Effect, r.a.Reason = hook.Deny, r.reason(r.stderr)
		return r.a, nil
	case r.exit != 0:
		return dialect.Answer{}, failed("exit code %s: %.200s", strconv.Itoa(r.exit), r.stderr)
	case r.hook.Type == dialect.TypeHTTP && len(stdout) > 0:
		return dialect.Answer{}, failed("the endpoint did not answer in JSON")
	case r.row.speech == makesPath:
		r.warn("the path of a worktree cannot be passed on from here")
	case r.row.plain:
		r.a.Context = text(stdout, command.MaxContext)
	}
	return r.a, nil
}

// blocksByExit reports whether exit code 2 says no on this event. On those that
// nothing blocks it is reported as a wish, and the reason is shown.
func (r *reply) blocksByExit() bool {
	return r.row.speech != dialog && (r.row.speech != unheard || r.row.block)
}
