package command

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/grapnel-dev/grapnel/bus/hook"
	"github.com/grapnel-dev/grapnel/runner/process"
)

// DefaultTimeout is how long a hook command may take that says nothing else.
const DefaultTimeout = 30 * time.Second

// ErrConfig is wrapped by every error about a hook's configuration.
var ErrConfig = errors.New("bad hook configuration")

// Hook is one hook command as configured in our own dialect.
type Hook struct {
	// Name is the hook's name in the roster, one subject token.
	Name string `json:"name" yaml:"name"`
	// On lists the events it wants, see [hook.Pattern]; any may match.
	On []string `json:"on" yaml:"on"`
	// When is a CEL expression over the event; empty means always. Whoever
	// hosts the hook evaluates it.
	When string `json:"when,omitempty" yaml:"when,omitempty"`
	// Command is the program and its arguments. The program is an absolute
	// path or a bare name that is looked up in PATH once. An argument may be
	// one template, such as "{{tool.input.path}}"; see the package comment.
	Command []string `json:"command,omitempty" yaml:"command,omitempty,flow"`
	// Shell is text for /bin/sh, instead of Command. Event values are in
	// environment variables only.
	Shell string `json:"shell,omitempty" yaml:"shell,omitempty"`
	// Timeout defaults to [DefaultTimeout].
	Timeout hook.Duration `json:"timeout,omitzero" yaml:"timeout,omitempty"`
	// Priority, OnFailure, Rewrites and Grants are as in [hook.Entry].
	Priority  int                `json:"priority,omitempty" yaml:"priority,omitempty"`
	OnFailure hook.FailurePolicy `json:"on_failure,omitempty" yaml:"on_failure,omitempty"`
	Rewrites  bool               `json:"rewrites,omitempty" yaml:"rewrites,omitempty"`
	Grants    bool               `json:"grants,omitempty" yaml:"grants,omitempty"`
	// Env names environment variables that the command gets besides the
	// usual ones.
	Env []string `json:"env,omitempty" yaml:"env,omitempty,flow"`
}

// Entry is the hook's place in the roster.
func (h Hook) Entry() hook.Entry {
	return hook.Entry{
		Name:      h.Name,
		Filter:    strings.Join(h.On, ","),
		When:      h.When,
		Priority:  h.Priority,
		Timeout:   hook.Duration(h.timeout()),
		OnFailure: h.OnFailure,
		Rewrites:  h.Rewrites,
		Grants:    h.Grants,
	}
}

// Pattern selects the hook's events.
func (h Hook) Pattern() (hook.Pattern, error) { return hook.ParsePattern(h.Entry().Filter) }

func (h Hook) timeout() time.Duration {
	if h.Timeout == 0 {
		return DefaultTimeout
	}
	return time.Duration(h.Timeout)
}

// Validate reports everything that is wrong with the hook, without looking at
// the file system; each error wraps [ErrConfig]. It does not compile When.
func (h Hook) Validate() error {
	var list []error
	bad := func(format string, args ...any) {
		list = append(list, fmt.Errorf("%w: hook %.80q: "+format, append([]any{ErrConfig, h.Name}, args...)...))
	}
	if err := h.Entry().Validate(); err != nil {
		bad("%w", err)
	}
	if len(h.On) == 0 {
		bad("on: name the events it wants, such as pre_tool_use.bash")
	}
	for _, pattern := range h.On {
		if strings.TrimSpace(pattern) == "" {
			bad("on: there is an empty pattern; write > for every event")
		}
	}
	if h.Timeout < 0 {
		bad("timeout: it cannot be negative")
	}
	switch {
	case len(h.Command) > 0 && h.Shell != "":
		bad("set command or shell, not both")
	case len(h.Command) > 0:
		if _, err := parseArguments(h.Command); err != nil {
			bad("command: %w", err)
		}
	case strings.TrimSpace(h.Shell) == "":
		bad("there is nothing to run: set command: [/path/to/program, argument] or shell: 'text'")
	}
	if i := strings.Index(h.Shell, "{{"); i >= 0 {
		bad("shell: %.60q: nothing is put into shell text, where a value could become a command; use the environment variable instead, such as \"$GRAPNEL_TOOL_NAME\", or read the event from stdin", h.Shell[i:])
	}
	if strings.IndexByte(h.Shell, 0) >= 0 {
		bad("shell: there is a NUL byte in it")
	}
	for _, name := range h.Env {
		if err := process.CheckName(name); err != nil {
			bad("env: %w", err)
		}
	}
	return errors.Join(list...)
}
