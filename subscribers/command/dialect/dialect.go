package dialect

import (
	"encoding/json"
	"time"

	"github.com/grapnel-dev/grapnel/bus/hook"
	"github.com/grapnel-dev/grapnel/runner/trust"
)

// Dialect is what makes one hook dialect different from another. Its functions
// are pure, are called concurrently, and keep nothing of what they are given.
type Dialect struct {
	// Name is its name in configuration, on the command line and in the
	// roster: one subject token.
	Name string
	// About is one line for people.
	About string
	// Agent is the agent whose own program runs the hooks of these files, as
	// named on our command line; empty when none of ours does. Its events are
	// not answered from [File.Own] files, or the hooks would run twice.
	Agent string
	// Files are where its hooks are configured, highest precedence first.
	Files []File
	// Vocabulary is its names.
	Vocabulary Vocabulary
	// Parallel says that the hooks of one event run at the same time; else
	// they run one after another.
	Parallel bool
	// Distinct says that hooks with the same configuration run once per event.
	Distinct bool
	// Timeout is how long a hook may take that says nothing else.
	Timeout time.Duration
	// MaxOutput is how much of each stream counts, in bytes; 0 means
	// process.DefaultMaxOutput.
	MaxOutput int
	// Rewrites says that answers may change a tool's input.
	Rewrites bool
	// Grants says that an allow of a hook whose source may loosen skips the
	// agent's own question, as it does in the dialect's own agent.
	Grants bool
	// Strict says that failures are not gone on from: what counts is the event's
	// class, as it is for our own hook commands.
	Strict bool
	// SkipSubagents says that events of sub-agents run no hooks, unless the host
	// says otherwise (A10).
	SkipSubagents bool
	// LastPrompt says that hooks are told what the person last wrote in the
	// event's session ([Call.Prompt]); prompts are heard of for that also where
	// the dialect has no name for them.
	LastPrompt bool
	// Retries is how often the hooks of one event are run again when an answer
	// says so ([Answer.Retry]).
	Retries int

	// Read reads one configuration file. Hooks that are wrong are problems;
	// the others load.
	Read func(text []byte, from Origin) ([]Hook, []Problem)
	// Settle decides what switches in one file mean for the hooks of all files,
	// and returns the hooks that are left. Nil leaves all.
	Settle func(texts []Text, hooks []Hook) ([]Hook, []Problem)
	// Write writes hooks as a configuration file of the dialect, and says what
	// of them it cannot express. The hooks' events and matchers are in this
	// dialect's words ([Convert] sees to that).
	Write func(hooks []Hook) (text []byte, lost []string, err error)
	// Order puts hooks into the order in which they run; nil leaves them as
	// read: by file, then by place.
	Order func(a, b Hook) int
	// Feed makes what a run of the hook gets.
	Feed func(h Hook, c *Call) (Feed, error)
	// Answer reads what a hook did. An error is a failure; see the package
	// comment for what that counts as.
	Answer func(h Hook, c *Call, o Output) (Answer, error)
	// Merge makes one answer of those that were given, in the order in which
	// the hooks stand. Nil means [Strictest].
	Merge func(c *Call, answers []Answer) Answer
}

// File is a configuration file of a dialect.
type File struct {
	// Path is where it is: "~/…" below the person's home, else below the
	// workspace. A path may have "*" for a name of one directory entry.
	Path string
	// Source is whose word it is.
	Source trust.Source
	// Own says that the dialect's own agent reads this file as well.
	Own bool
}

// Text is a configuration file as it was read.
type Text struct {
	From Origin
	Text []byte
}

// Origin says where a hook's definition stands.
type Origin struct {
	// File is the file's absolute path; "session" for registered hooks.
	File string `json:"file"`
	// Source is whose word it is.
	Source trust.Source `json:"source"`
	// Workspace is the workspace whose file it is; empty for the person's own.
	Workspace string `json:"workspace,omitempty"`
	// Own is as in [File].
	Own bool `json:"-"`
	// Base is the directory that a relative program of an extension or
	// download is relative to; empty means the workspace.
	Base string `json:"-"`
}

// Problem is something that is wrong in a configuration file.
type Problem struct {
	File string `json:"file"`
	// Where names the place, such as "hooks.PreToolUse[0].hooks[1]".
	Where string `json:"where,omitempty"`
	Text  string `json:"problem"`
}

// Error makes a problem an error for people.
func (p Problem) Error() string {
	if p.Where == "" {
		return p.File + ": " + p.Text
	}
	return p.File + ": " + p.Where + ": " + p.Text
}

// Feed is what one run of a hook gets.
type Feed struct {
	// Shell is text for /bin/sh -c, a constant of the configuration; else
	// Command is the argument vector.
	Shell   string
	Command []string
	// Stdin is the standard input, and what an HTTP hook is sent.
	Stdin []byte
	// Env are the dialect's variables, NAME=value. Values that cannot be
	// variables are the engine's matter, see [Set].
	Env []string
	// Dir is the working directory; empty means the workspace.
	Dir string
}

// Output is what a hook command did, or what an HTTP hook answered (with exit
// code 0).
type Output struct {
	ExitCode int
	Stdout   []byte
	Stderr   []byte
	// Truncated says that Stdout is not all there was.
	Truncated bool
}

// Answer is what one hook said, and what all of them said together.
type Answer struct {
	// Effect is the decision; [hook.Abstain] means that it goes on.
	Effect hook.Effect
	Reason string
	// Context is text for the model's context.
	Context string
	// Message is text for the conversation (B4's and D2's system message).
	Message string
	// Rewrite is the tool's whole new input in the dialect's words.
	Rewrite json.RawMessage
	// Patch is merged into the tool's input, member by member (A7).
	Patch json.RawMessage
	// End says that no further hook of this event runs.
	End bool
	// Retry says that the hooks of this event are to run again.
	Retry bool
	// Data goes on to the hooks that follow (D2).
	Data json.RawMessage
	// Quiet says that the run is not to be logged (B4). It is on record all
	// the same.
	Quiet bool
	// Metadata is whatever the hook says about itself, for the trace.
	Metadata json.RawMessage
	// Warning says what went wrong and was gone on from.
	Warning string
}
