package prompt

import (
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/grapnel-dev/grapnel/bus/hook"
)

// Defaults and limits of a hook.
const (
	// DefaultTimeout is how long a question may take, with all its retries.
	DefaultTimeout = 30 * time.Second
	// DefaultMaxTokens is how long an answer may be. Models that think aloud
	// need more.
	DefaultMaxTokens = 512
	// MaxPrompt is how long a hook's text may be, in bytes.
	MaxPrompt = 64 << 10

	maxMaxTokens = 64 << 10
)

// Syntax is how a hook's text refers to the event. The zero value is Codemie.
type Syntax int

// The syntaxes. They differ in the placeholders and in the form of the answer
// that the model is asked for where the hook's text asks for none; answers are
// read in all forms.
const (
	// Codemie has $ARGUMENTS, $TOOL_NAME, $TOOL_INPUT, $PROMPT, $SESSION_ID
	// and $CWD, and answers with a decision. It is our own as well.
	Codemie Syntax = iota
	// ClaudeCode has $ARGUMENTS, and answers {"ok": true|false}.
	ClaudeCode
)

// Hook is one prompt hook.
type Hook struct {
	// Name is the hook's name in the roster, one subject token.
	Name string `json:"name" yaml:"name"`
	// On lists the events it wants, see [hook.Pattern]; any may match. Empty
	// means all blocking events.
	On []string `json:"on,omitempty" yaml:"on,omitempty"`
	// When is as in [hook.Entry].
	When string `json:"when,omitempty" yaml:"when,omitempty"`
	// Prompt is what the model is to decide by; see the package comment.
	Prompt string `json:"prompt" yaml:"prompt"`
	// Syntax is the spelling of placeholders in Prompt.
	Syntax Syntax `json:"-" yaml:"-"`
	// Timeout defaults to [DefaultTimeout].
	Timeout hook.Duration `json:"timeout,omitzero" yaml:"timeout,omitempty"`
	// MaxTokens limits the answer; defaults to [DefaultMaxTokens].
	MaxTokens int `json:"max_tokens,omitempty" yaml:"max_tokens,omitempty"`
	// Priority, OnFailure and Shadow are as in [hook.Entry].
	Priority  int                `json:"priority,omitempty" yaml:"priority,omitempty"`
	OnFailure hook.FailurePolicy `json:"on_failure,omitempty" yaml:"on_failure,omitempty"`
	Shadow    bool               `json:"shadow,omitempty" yaml:"shadow,omitempty"`
	// Rewrites lets the model change the tool's input. Think twice: what it
	// writes was written by somebody who read the event.
	Rewrites bool `json:"rewrites,omitempty" yaml:"rewrites,omitempty"`
}

// Entry is the hook's place in the roster. Grants is never set: a model's allow
// must not skip the agent's own prompt.
func (h Hook) Entry() hook.Entry {
	return hook.Entry{
		Name:      h.Name,
		Filter:    strings.Join(h.On, ","),
		When:      h.When,
		Priority:  h.Priority,
		Timeout:   hook.Duration(h.timeout()),
		OnFailure: h.OnFailure,
		Rewrites:  h.Rewrites,
		Shadow:    h.Shadow,
	}
}

func (h Hook) timeout() time.Duration {
	if h.Timeout == 0 {
		return DefaultTimeout
	}
	return time.Duration(h.Timeout)
}

func (h Hook) maxTokens() int64 {
	if h.MaxTokens == 0 {
		return DefaultMaxTokens
	}
	return int64(h.MaxTokens)
}

// Validate reports everything that is wrong with the hook; each error wraps
// [ErrConfig].
func (h Hook) Validate() error {
	var list []error
	bad := func(format string, args ...any) {
		list = append(list, fmt.Errorf("%w: hook %.80q: "+format, append([]any{ErrConfig, h.Name}, args...)...))
	}
	if err := h.Entry().Validate(); err != nil {
		bad("%w", err)
	}
	switch {
	case strings.TrimSpace(h.Prompt) == "":
		bad("prompt: say what the model is to decide by")
	case len(h.Prompt) > MaxPrompt:
		bad("prompt: %d bytes, at most %d", len(h.Prompt), MaxPrompt)
	case !utf8.ValidString(h.Prompt):
		bad("prompt: it is not UTF-8")
	}
	if h.Syntax != Codemie && h.Syntax != ClaudeCode {
		bad("syntax %d does not exist", h.Syntax)
	}
	if h.MaxTokens < 0 || h.MaxTokens > maxMaxTokens {
		bad("max_tokens: %d must be between 1 and %d", h.MaxTokens, maxMaxTokens)
	}
	return errors.Join(list...)
}
