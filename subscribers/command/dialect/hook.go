package dialect

import (
	"encoding/json"
	"time"

	"github.com/grapnel-dev/grapnel/bus/hook"
	"github.com/grapnel-dev/grapnel/runner/process"
)

// Type says how a hook is asked.
type Type string

// The types.
const (
	TypeCommand Type = "command" // an external program
	TypePrompt  Type = "prompt"  // a language model
	TypeHTTP    Type = "http"    // an HTTP endpoint
)

// Hook is one hook as a dialect's configuration says it. It is what all
// dialects have in common; what a dialect has no word for is zero.
type Hook struct {
	// Name is what people call it; unique or empty.
	Name string `json:"name,omitempty"`
	Type Type   `json:"type"`
	// Events are the dialect's own event names, without patterns: Read has
	// expanded them.
	Events []string `json:"events"`
	// Matcher is the dialect's matcher as written, or the dialect's word for
	// what it selects.
	Matcher string `json:"matcher,omitempty"`
	// Tools are the tool names that Matcher stands for, where it is a list of
	// names; nil means that it is not one. [Convert] uses it.
	Tools []string `json:"tools,omitempty"`

	// Shell is text for a shell, or Command an argument vector (TypeCommand).
	Shell   string   `json:"shell,omitempty"`
	Command []string `json:"command,omitempty"`
	// Written is the shell text as its file has it, where Shell is made of it.
	Written string `json:"-"`
	// Prompt is the text for the model, and Model who is asked (TypePrompt).
	Prompt string `json:"prompt,omitempty"`
	Model  *Model `json:"model,omitempty"`
	// URL and Headers are whom to ask and how; AllowedEnv names the variables
	// that may stand in Headers (TypeHTTP).
	URL        string            `json:"url,omitempty"`
	Headers    map[string]string `json:"headers,omitempty"`
	AllowedEnv []string          `json:"allowed_env,omitempty"`

	// Timeout is how long it may take; 0 means the dialect's.
	Timeout time.Duration `json:"timeout,omitempty"`
	// Dir is the working directory, relative to the workspace or absolute.
	Dir string `json:"dir,omitempty"`
	// Env are variables for the process.
	Env map[string]string `json:"env,omitempty"`
	// Priority orders hooks where the dialect has priorities.
	Priority int `json:"priority,omitempty"`
	// Disabled keeps it from running.
	Disabled    bool   `json:"disabled,omitempty"`
	Description string `json:"description,omitempty"`
	// KeepGoing says that what follows runs also when this one blocks or fails
	// (E5's stop_on_failure turned off).
	KeepGoing bool `json:"keep_going,omitempty"`
	// Rewrites permits it to change the input, where a dialect asks for leave.
	Rewrites bool `json:"rewrites,omitempty"`
	// Parallel lets it run at the same time as its neighbours that say so too,
	// where hooks run one after another (D8).
	Parallel bool `json:"parallel,omitempty"`
	// Retries overrides [Dialect.Retries]; nil means the dialect's.
	Retries *int `json:"retries,omitempty"`
	// If is one permission rule of Claude Code, such as "Bash(git *)".
	If string `json:"if,omitempty"`
	// Once says that it runs once in a session.
	Once bool `json:"once,omitempty"`

	Extras

	// Origin is where it stands, and Where the place in that file.
	Origin Origin `json:"origin"`
	Where  string `json:"where,omitempty"`
	// Profile is the part of the file that it belongs to, where a file has
	// several and one of them counts.
	Profile string `json:"profile,omitempty"`
	// Definition is its definition as written, which its approval covers.
	Definition json.RawMessage `json:"-"`
	// Matches reports whether the matcher selects the call; nil means that all
	// calls are. The event has been looked at.
	Matches func(*Call) bool `json:"-"`
	// Variables are set in the environment, each with a value of the event:
	// what a template in shell text refers to.
	Variables []Variable `json:"-"`
}

// Variable is an environment variable whose value comes from the event.
type Variable struct {
	Name string
	// Value returns it. An error means that the hook cannot be given the event.
	Value func(*Call) (string, error)
}

// Model says which language model decides, and how to reach it.
type Model struct {
	Provider string `json:"provider,omitempty"`
	BaseURL  string `json:"base_url,omitempty"`
	Name     string `json:"name,omitempty"`
	// Key is a secret; it is never shown, hashed or written.
	Key string `json:"-"`
}

// Extras are the keys that a hook of every dialect may have besides its own;
// see the package comment.
type Extras struct {
	When      string             `json:"when,omitempty"`
	After     []string           `json:"after,omitempty"`
	Async     bool               `json:"async,omitempty"`
	Cache     time.Duration      `json:"cache,omitempty"`
	Files     []string           `json:"files,omitempty"`
	Sandbox   process.Sandbox    `json:"sandbox,omitzero"`
	OnFailure hook.FailurePolicy `json:"on_failure,omitempty"`
	Version   string             `json:"version,omitempty"`
}

// ID names the hook among all of its dialect, and stays the same when its
// definition changes: the file and the place in it, or its name.
func (h Hook) ID() string {
	if h.Name != "" {
		return h.Origin.File + "#" + h.Name
	}
	return h.Origin.File + "#" + h.Where
}

// Label is what to call it in messages.
func (h Hook) Label() string {
	switch {
	case h.Name != "":
		return h.Name
	case h.Where != "":
		return h.Where
	}
	return h.ID()
}

// Text is what the hook runs, for people: as they wrote it.
func (h Hook) Text() string {
	switch {
	case h.Type == TypePrompt:
		return "prompt: " + h.Prompt
	case h.Type == TypeHTTP:
		return h.URL
	case h.Written != "":
		return h.Written
	case h.Shell != "":
		return h.Shell
	}
	return ShellWords(h.Command)
}
