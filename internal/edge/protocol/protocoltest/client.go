package protocoltest

import (
	"encoding/json"

	"github.com/grapnel-dev/grapnel/internal/edge/hookwire"
)

// Ending is how a hook process ended.
type Ending int

// The endings.
const (
	Exited Ending = iota
	TimedOut
	Killed
	NotFound // there was no such program; Exit and Stderr are the shell's
)

// Process is what is left of a hook process.
type Process struct {
	Stdout, Stderr string
	Exit           int
	Ending         Ending
}

// Of is the process that prints an answer.
func Of(r hookwire.Response) Process {
	return Process{Stdout: string(r.Stdout), Stderr: string(r.Stderr), Exit: r.Exit}
}

// Situation is what the hook was called for.
type Situation struct {
	// Event is the agent's own name.
	Event string
	// Approved says that nothing would be asked without the hook; otherwise
	// the person would be, and nobody is there.
	Approved bool
}

// Outcome is what the agent does.
type Outcome struct {
	// Blocked: the action (tool call, prompt, compaction, switch …) does not
	// happen, because of the hook or because nobody was there to be asked.
	Blocked bool
	// Asked: the hook wanted the person to be asked.
	Asked bool
	// Granted: the hook skipped the question to the person.
	Granted bool
	// Changed is the input that the action ran with, when the hook changed it.
	Changed json.RawMessage
	// Continued: the agent carries on although it was done.
	Continued bool
	// SessionEnds: nothing more is done.
	SessionEnds bool
	// ToModel and ToUser hold the texts that reached them.
	ToModel, ToUser []string
	// Action is the answer given to an elicitation, or "".
	Action string
	// Path is the worktree's path that was taken from stdout.
	Path string
	// Dropped: stdout was not understood, and nothing in it counted.
	Dropped bool
	// Unknown lists the keys that the agent passes over.
	Unknown []string
}

// Client is what an agent does with a hook's answer.
type Client func(Situation, Process) Outcome
