package cliagent

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/grapnel-dev/grapnel/bus/hook"
	"github.com/grapnel-dev/grapnel/runner/trust"
	"github.com/grapnel-dev/grapnel/subscribers/command/dialect"
)

// Name is the dialect's name.
const Name = "cli-agent"

// The dialect's events.
const (
	PreToolUse   = "PreToolUse"
	PostToolUse  = "PostToolUse"
	Notification = "Notification"
	Stop         = "Stop"
)

// DefaultTimeout is how long a hook may take that says nothing else, and
// MaxTimeout the most that HOOKS_TIMEOUT may say.
const (
	DefaultTimeout = 30 * time.Second
	MaxTimeout     = 10 * time.Minute
)

// ErrEnvironment is wrapped by the errors of [ReadEnvironment].
var ErrEnvironment = errors.New("cli-agent: bad setting")

// Options are the dialect's settings, which its document calls HOOKS_ENABLED
// and HOOKS_TIMEOUT. The zero value is its defaults.
type Options struct {
	// Off keeps the dialect's files from being read. Hooks that a program
	// registers still run.
	Off bool
	// Timeout is how long a hook may take that says nothing else; 0 means
	// [DefaultTimeout].
	Timeout time.Duration
}

// ReadEnvironment reads HOOKS_ENABLED and HOOKS_TIMEOUT (seconds) from an
// environment as os.Environ gives it: that of the program which hosts the
// hooks, at its start, and never one that comes with an event. The error wraps
// [ErrEnvironment].
func ReadEnvironment(environ []string) (*Options, error) {
	o := new(Options)
	for _, entry := range environ {
		name, text, _ := strings.Cut(entry, "=")
		switch name {
		case "HOOKS_ENABLED":
			switch strings.ToLower(text) {
			case "", "1", "true", "t", "yes", "y", "on":
			case "0", "false", "f", "no", "n", "off":
				o.Off = true
			default:
				return nil, fmt.Errorf("%w: HOOKS_ENABLED=%.40q is neither true nor false", ErrEnvironment, text)
			}
		case "HOOKS_TIMEOUT":
			if text == "" {
				continue
			}
			n, err := strconv.Atoi(text)
			if err != nil || n < 1 || n > int(MaxTimeout/time.Second) {
				return nil, fmt.Errorf("%w: HOOKS_TIMEOUT=%.40q is not a number of seconds from 1 to %d", ErrEnvironment, text, MaxTimeout/time.Second)
			}
			o.Timeout = time.Duration(n) * time.Second
		}
	}
	return o, nil
}

// New returns the dialect.
func New(o *Options) *dialect.Dialect {
	if o == nil {
		o = new(Options)
	}
	d := &dialect.Dialect{
		Name:          Name,
		About:         "cli-agent hooks: .config/agent/settings.json, templates, exit codes and JSON",
		SkipSubagents: true,
		LastPrompt:    true,
		Files:         files(),
		Vocabulary:    vocabulary(),
		Timeout:       DefaultTimeout,
		Rewrites:      true,
		Read:          Read,
		Write:         Write,
		Feed:          feed,
		Answer:        answer,
		Merge:         merge,
	}
	if o.Timeout > 0 {
		d.Timeout = min(o.Timeout, MaxTimeout)
	}
	if o.Off {
		d.Files = nil
	}
	return d
}

// files are the document's four places, highest precedence first.
func files() []dialect.File {
	return []dialect.File{
		{Path: ".config/agent/settings.local.json", Source: trust.Workspace, Own: true},
		{Path: ".config/agent/settings.json", Source: trust.Workspace, Own: true},
		{Path: "~/.config/agent/settings.json", Source: trust.User, Own: true},
		{Path: "~/.config/cli-agent/settings.json", Source: trust.User, Own: true},
	}
}

func vocabulary() dialect.Vocabulary {
	return dialect.Vocabulary{
		Events: []dialect.EventName{
			{Canonical: hook.PreToolUse, Name: PreToolUse, Blocks: true},
			{Canonical: hook.PreShell, Name: PreToolUse, Blocks: true},
			{Canonical: hook.PreMCPCall, Name: PreToolUse, Blocks: true},
			{Canonical: hook.PreFileRead, Name: PreToolUse, Blocks: true},
			{Canonical: hook.PostToolUse, Name: PostToolUse},
			{Canonical: hook.PostToolUseFailure, Name: PostToolUse},
			{Canonical: hook.PostShell, Name: PostToolUse},
			{Canonical: hook.PostMCP, Name: PostToolUse},
			{Canonical: hook.PostFileEdit, Name: PostToolUse},
			{Canonical: hook.Notification, Name: Notification},
			{Canonical: hook.Error, Name: Notification},
			{Canonical: hook.StopFailure, Name: Notification},
			{Canonical: hook.PermissionDenied, Name: Notification},
			{Canonical: hook.Heartbeat, Name: Notification},
			{Canonical: hook.Stop, Name: Stop},
		},
		Tools: []dialect.ToolName{
			{Tool: dialect.ToolShell, Name: "bash_execute"},
			{Tool: dialect.ToolRead, Name: "read_file"},
			{Tool: dialect.ToolWrite, Name: "write_file"},
			{Tool: dialect.ToolEdit, Name: "replace_in_file"},
			{Tool: dialect.ToolList, Name: "list_directory"},
			{Tool: dialect.ToolGlob, Name: "find_files"},
			{Tool: dialect.ToolGrep, Name: "search_files"},
			{Tool: dialect.ToolFetch, Name: "web_fetch"},
			{Tool: dialect.ToolWebSearch, Name: "web_search"},
			{Tool: dialect.ToolSubagent, Name: "task"},
		},
		Fields: []dialect.FieldName{
			{Tool: dialect.ToolShell, Field: dialect.FieldCommand, Name: "command"},
			{Tool: dialect.ToolRead, Field: dialect.FieldPath, Name: "file_path"},
			{Tool: dialect.ToolWrite, Field: dialect.FieldPath, Name: "file_path"},
			{Tool: dialect.ToolWrite, Field: dialect.FieldContent, Name: "content"},
			{Tool: dialect.ToolEdit, Field: dialect.FieldPath, Name: "file_path"},
			{Tool: dialect.ToolEdit, Field: dialect.FieldOld, Name: "old_text"},
			{Tool: dialect.ToolEdit, Field: dialect.FieldNew, Name: "new_text"},
			{Tool: dialect.ToolList, Field: dialect.FieldPath, Name: "directory_path"},
			{Tool: dialect.ToolGlob, Field: dialect.FieldPattern, Name: "pattern"},
			{Tool: dialect.ToolGrep, Field: dialect.FieldPattern, Name: "pattern"},
			{Tool: dialect.ToolFetch, Field: dialect.FieldURL, Name: "url"},
			{Tool: dialect.ToolWebSearch, Field: dialect.FieldQuery, Name: "query"},
			{Tool: dialect.ToolSubagent, Field: dialect.FieldPrompt, Name: "prompt"},
			{Tool: dialect.ToolSubagent, Field: dialect.FieldDescription, Name: "description"},
		},
		MCP: true,
	}
}

// notificationType is the document's event_type of an event that triggers
// Notification hooks.
func notificationType(n hook.Name) string {
	switch n {
	case hook.Error, hook.StopFailure:
		return "error"
	case hook.Heartbeat:
		return "status"
	}
	return "system_message"
}
