package command

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/grapnel-dev/grapnel/bus/hook"
	"github.com/grapnel-dev/grapnel/internal/strictjson"
	"github.com/grapnel-dev/grapnel/runner/process"
)

// Limits of what a hook command may say, in bytes. More is cut off.
const (
	MaxReason  = 4 << 10
	MaxContext = 32 << 10
)

// exitDeny is the exit code by which a hook command denies.
const exitDeny = 2

// Errors about what a hook command did. The failure policy counts then.
var (
	// ErrAnswer: standard output is neither empty nor one decision.
	ErrAnswer = errors.New("hook command gave no usable answer")
	// ErrExit: an exit code that says neither yes nor no.
	ErrExit = errors.New("hook command failed")
)

// answer is what standard output may hold.
type answer struct {
	Effect  *hook.Effect    `json:"effect"`
	Reason  string          `json:"reason"`
	Context string          `json:"context"`
	Rewrite json.RawMessage `json:"rewrite"`
}

// ReadAnswer reads a hook command's standard output: nothing but white space is
// an abstention, else it must be exactly one JSON object with an effect. The
// error wraps [ErrAnswer]. Text is cleaned of terminal escapes and cut to
// [MaxReason] and [MaxContext].
func ReadAnswer(stdout []byte) (hook.Decision, error) {
	bad := func(format string, args ...any) (hook.Decision, error) {
		return hook.Decision{}, fmt.Errorf("%w: stdout: "+format, append([]any{ErrAnswer}, args...)...)
	}
	trimmed := bytes.Trim(stdout, " \t\r\n")
	if len(trimmed) == 0 {
		return hook.Decision{}, nil
	}
	if trimmed[0] != '{' {
		return bad("%.60q is not a JSON object; print the decision alone, and everything else to stderr", process.Text(trimmed, 60))
	}
	var a answer
	if err := strictjson.Unmarshal(trimmed, &a, process.DefaultMaxOutput); err != nil {
		return bad("%w", err)
	}
	if a.Effect == nil {
		return bad("the decision has no effect; it is one of abstain, allow, ask, deny, halt")
	}
	rewrite := bytes.TrimSpace(a.Rewrite)
	if bytes.Equal(rewrite, []byte("null")) {
		rewrite = nil
	}
	if len(rewrite) > 0 && rewrite[0] != '{' {
		return bad("rewrite is not a JSON object; it is the tool's whole new input")
	}
	return hook.Decision{
		Effect:  *a.Effect,
		Reason:  process.Text([]byte(a.Reason), MaxReason),
		Context: process.Text([]byte(a.Context), MaxContext),
		Rewrite: json.RawMessage(rewrite),
	}, nil
}

func (c *Command) read(r process.Result) (hook.Decision, error) {
	return ReadResult(c.hook.Name, c.hook.Rewrites, r)
}

// ReadResult turns what a hook command of our dialect did into its decision,
// see the package comment. There is no failure that comes out as a decision:
// the error wraps [ErrAnswer] or [ErrExit].
func ReadResult(name string, rewrites bool, r process.Result) (hook.Decision, error) {
	switch r.ExitCode {
	case 0:
		if r.Stdout.Truncated {
			return hook.Decision{}, fmt.Errorf("%w: stdout has %d bytes and was not read in full", ErrAnswer, r.Stdout.Total)
		}
		d, err := ReadAnswer(r.Stdout.Bytes)
		if err == nil && d.Rewrite != nil && !rewrites {
			return hook.Decision{}, fmt.Errorf("%w: it rewrites the tool's input, which the hook's configuration does not permit (rewrites: true)", ErrAnswer)
		}
		if err == nil && d.Effect >= hook.Ask && d.Reason == "" {
			d.Reason = fmt.Sprintf("hook %s says %s and gave no reason", name, d.Effect)
		}
		return d, err
	case exitDeny:
		return denial(name, r), nil
	}
	return hook.Decision{}, exitError(r)
}

// denial is the decision of exit code 2. What is on stdout can only make it
// stricter.
func denial(name string, r process.Result) hook.Decision {
	deny := hook.Decision{Effect: hook.Deny, Reason: process.Text(r.Stderr.Bytes, MaxReason)}
	if d, err := ReadAnswer(r.Stdout.Bytes); err == nil && !r.Stdout.Truncated && d.Effect >= hook.Deny {
		deny.Effect, deny.Context = d.Effect, d.Context
		if d.Reason != "" {
			deny.Reason = d.Reason
		}
	}
	if deny.Reason == "" {
		deny.Reason = fmt.Sprintf("hook %s denied it (exit code %d) and gave no reason", name, exitDeny)
	}
	return deny
}

func exitError(r process.Result) error {
	err := fmt.Errorf("%w with exit code %d", ErrExit, r.ExitCode)
	if said := process.Text(r.Stderr.Bytes, 500); said != "" {
		err = fmt.Errorf("%w: %s", err, said)
	}
	return err
}
