package codemie

import (
	"time"

	"github.com/grapnel-dev/grapnel/bus/hook"
	"github.com/grapnel-dev/grapnel/runner/trust"
	"github.com/grapnel-dev/grapnel/subscribers/command/dialect"
)

// Name is the dialect's name.
const Name = "codemie"

// timeout is how long a hook may take that says nothing else.
const timeout = 60 * time.Second

// retries is how often the hooks of SessionStart run again.
const retries = 5

// The events.
const (
	preToolUse       = "PreToolUse"
	postToolUse      = "PostToolUse"
	userPromptSubmit = "UserPromptSubmit"
	sessionStart     = "SessionStart"
	stop             = "Stop"
)

// New returns the dialect.
func New() *dialect.Dialect {
	return &dialect.Dialect{
		Name:       Name,
		About:      "CodeMie Code's hooks: the active profile of ~/.codemie/codemie-cli.config.json",
		Files:      []dialect.File{{Path: "~/.codemie/codemie-cli.config.json", Source: trust.User, Own: true}},
		Vocabulary: vocabulary(),
		Parallel:   true,
		Distinct:   true,
		Timeout:    timeout,
		Rewrites:   true,
		Retries:    retries,
		Read:       read,
		Write:      write,
		Feed:       feed,
		Answer:     answer,
		Merge:      merge,
	}
}

func vocabulary() dialect.Vocabulary {
	return dialect.Vocabulary{
		Events: []dialect.EventName{
			{Canonical: hook.PreToolUse, Name: preToolUse, Blocks: true},
			{Canonical: hook.PreShell, Name: preToolUse, Blocks: true},
			{Canonical: hook.PreMCPCall, Name: preToolUse, Blocks: true},
			{Canonical: hook.PreFileRead, Name: preToolUse, Blocks: true},
			{Canonical: hook.PostToolUse, Name: postToolUse},
			{Canonical: hook.PostToolUseFailure, Name: postToolUse},
			{Canonical: hook.PostShell, Name: postToolUse},
			{Canonical: hook.PostMCP, Name: postToolUse},
			{Canonical: hook.PostFileEdit, Name: postToolUse},
			{Canonical: hook.UserPromptSubmit, Name: userPromptSubmit, Blocks: true},
			{Canonical: hook.UserPromptExpand, Name: userPromptSubmit, Blocks: true},
			{Canonical: hook.SessionStart, Name: sessionStart, Blocks: true},
			{Canonical: hook.SessionResume, Name: sessionStart, Blocks: true},
			{Canonical: hook.Stop, Name: stop, Blocks: true},
		},
		Tools: []dialect.ToolName{
			{Tool: dialect.ToolShell, Name: "Bash"},
			{Tool: dialect.ToolRead, Name: "Read"},
			{Tool: dialect.ToolWrite, Name: "Write"},
			{Tool: dialect.ToolEdit, Name: "Edit"},
			{Tool: dialect.ToolGlob, Name: "Glob"},
			{Tool: dialect.ToolGrep, Name: "Grep"},
			{Tool: dialect.ToolList, Name: "LS"},
			{Tool: dialect.ToolFetch, Name: "WebFetch"},
			{Tool: dialect.ToolWebSearch, Name: "WebSearch"},
			{Tool: dialect.ToolSubagent, Name: "Task"},
		},
		Fields: []dialect.FieldName{
			{Tool: dialect.ToolShell, Field: dialect.FieldCommand, Name: "command"},
			{Tool: dialect.ToolShell, Field: dialect.FieldDescription, Name: "description"},
			{Tool: dialect.ToolRead, Field: dialect.FieldPath, Name: "file_path"},
			{Tool: dialect.ToolWrite, Field: dialect.FieldPath, Name: "file_path"},
			{Tool: dialect.ToolWrite, Field: dialect.FieldContent, Name: "content"},
			{Tool: dialect.ToolEdit, Field: dialect.FieldPath, Name: "file_path"},
			{Tool: dialect.ToolEdit, Field: dialect.FieldOld, Name: "old_string"},
			{Tool: dialect.ToolEdit, Field: dialect.FieldNew, Name: "new_string"},
			{Tool: dialect.ToolGlob, Field: dialect.FieldPattern, Name: "pattern"},
			{Tool: dialect.ToolGlob, Field: dialect.FieldPath, Name: "path"},
			{Tool: dialect.ToolGrep, Field: dialect.FieldPattern, Name: "pattern"},
			{Tool: dialect.ToolGrep, Field: dialect.FieldPath, Name: "path"},
			{Tool: dialect.ToolList, Field: dialect.FieldPath, Name: "path"},
			{Tool: dialect.ToolFetch, Field: dialect.FieldURL, Name: "url"},
			{Tool: dialect.ToolFetch, Field: dialect.FieldPrompt, Name: "prompt"},
			{Tool: dialect.ToolWebSearch, Field: dialect.FieldQuery, Name: "query"},
			{Tool: dialect.ToolSubagent, Field: dialect.FieldPrompt, Name: "prompt"},
			{Tool: dialect.ToolSubagent, Field: dialect.FieldDescription, Name: "description"},
		},
		MCP: true,
	}
}
