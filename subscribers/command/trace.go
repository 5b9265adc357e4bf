package command

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/grapnel-dev/grapnel/bus/hook"
	"github.com/grapnel-dev/grapnel/runner/process"
)

// Execution is one run of a hook command, as it is traced. It holds no value
// of any environment variable and nothing of the event but its id and key.
type Execution struct {
	Hook string `json:"hook"`
	// Dialect, Source and File say where the hook's definition stands; empty
	// for hooks of our own dialect.
	Dialect   string    `json:"dialect,omitempty"`
	Source    string    `json:"source,omitempty"`
	File      string    `json:"file,omitempty"`
	EventID   string    `json:"event_id"`
	Event     string    `json:"event"` // its key, "pre_tool_use.bash"
	SessionID string    `json:"session_id,omitempty"`
	Hops      int       `json:"hops,omitempty"`
	Started   time.Time `json:"started"`
	// DurationMS is in milliseconds, with everything around the command.
	DurationMS float64 `json:"duration_ms"`
	// ExitCode is -1 where there is none.
	ExitCode int     `json:"exit_code"`
	Signal   string  `json:"signal,omitempty"`
	Outcome  Outcome `json:"outcome"`
	// Effect is the decision's on a blocking event that was answered.
	Effect *hook.Effect `json:"effect,omitempty"`
	Reason string       `json:"reason,omitempty"`
	// Error says what went wrong.
	Error string `json:"error,omitempty"`
	// Stderr is the head of what it wrote there, fit to be shown.
	Stderr      string              `json:"stderr,omitempty"`
	StdoutBytes int64               `json:"stdout_bytes"`
	StderrBytes int64               `json:"stderr_bytes"`
	Leftover    int                 `json:"leftover,omitempty"` // processes it left behind, killed
	Confinement process.Confinement `json:"confinement,omitempty"`
	// Sandbox is what the command was really kept from.
	Sandbox process.Enforced `json:"sandbox,omitzero"`
	// Async says that nobody waited for it, Cached that an answer was used
	// again and nothing ran, Quiet that the hook asked not to be logged.
	Async  bool `json:"async,omitempty"`
	Cached bool `json:"cached,omitempty"`
	Quiet  bool `json:"quiet,omitempty"`
}

// Outcome says how a run ended.
type Outcome string

// The outcomes.
const (
	Decided  Outcome = "decided"   // it answered a blocking event
	Handled  Outcome = "handled"   // it took a notification event
	NotRun   Outcome = "not_run"   // it could not be given the event or not be started
	TimedOut Outcome = "timeout"   // its time was up
	Failed   Outcome = "failed"    // it ended badly
	Garbled  Outcome = "malformed" // its answer is no decision
)

// OutcomeOf says how a run ended that ended with err; started is what held its
// processes together.
func OutcomeOf(err error, started process.Confinement) Outcome {
	switch {
	case errors.Is(err, ErrAnswer):
		return Garbled
	case errors.Is(err, process.ErrTimedOut):
		return TimedOut
	case started == process.None:
		return NotRun
	}
	return Failed
}

// Report is all there is to know about one run, for the person who wrote the
// hook. Unlike an [Execution] it holds the event itself.
type Report struct {
	Execution
	// Command is the argument vector as it was started.
	Command []string `json:"command"`
	// EnvNames are the names of the environment variables it had.
	EnvNames []string `json:"env"`
	// Omitted names the variables that the event was too large for.
	Omitted []string `json:"omitted,omitempty"`
	Dir     string   `json:"dir"`
	// Stdin, Stdout and Stderr are raw.
	Stdin  []byte `json:"-"`
	Stdout []byte `json:"-"`
	Stderr []byte `json:"-"`
	// Decision is set when there was an answer to a blocking event.
	Decision *hook.Decision `json:"decision,omitempty"`
}

// Run starts what a specification says, waits for its end, and fills in
// everything about that. The error is the runner's.
func (r *Report) Run(ctx context.Context, runner *process.Runner, s process.Spec) (process.Result, error) {
	r.Command, r.Dir, r.Stdin = s.Command, s.Dir, s.Stdin
	if s.Shell != "" {
		r.Command = []string{"/bin/sh", "-c", s.Shell}
	}
	for _, entry := range s.Env {
		name, _, _ := strings.Cut(entry, "=")
		r.EnvNames = append(r.EnvNames, name)
	}
	result, err := runner.Run(ctx, s)
	r.ExitCode, r.Signal = result.ExitCode, result.Signal
	r.Leftover, r.Confinement, r.Sandbox = result.Leftover, result.Confinement, result.Sandbox
	r.Stdout, r.Stderr = result.Stdout.Bytes, result.Stderr.Bytes
	r.StdoutBytes, r.StderrBytes = result.Stdout.Total, result.Stderr.Total
	r.Execution.Stderr = process.Text(result.Stderr.Bytes, MaxReason)
	return result, err
}
