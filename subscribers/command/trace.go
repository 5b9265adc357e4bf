package command

import (
	"time"

	"github.com/grapnel-dev/grapnel/bus/hook"
	"github.com/grapnel-dev/grapnel/runner/process"
)

// Execution is one run of a hook command, as it is traced. It holds no value
// of any environment variable and nothing of the event but its id and key.
type Execution struct {
	Hook      string    `json:"hook"`
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
