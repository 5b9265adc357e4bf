package codeforge

import (
	"time"

	"github.com/grapnel-dev/grapnel/bus/hook"
	"github.com/grapnel-dev/grapnel/runner/trust"
	"github.com/grapnel-dev/grapnel/subscribers/command/dialect"
)

// Name is the dialect's name.
const Name = "code-forge"

// DefaultTimeout is how long a hook may take that says nothing else.
const DefaultTimeout = 10 * time.Second

// Where hooks are configured: the person's, below the home directory, and a
// project's, below its root.
const (
	UserFile    = ".config/src/forge/hooks.json"
	ProjectFile = ".src/forge/hooks.json"
)

// The dialect's events.
const (
	ToolPreExecute   = "tool:pre_execute"
	ToolPostExecute  = "tool:post_execute"
	ToolError        = "tool:error"
	LLMPreRequest    = "llm:pre_request"
	LLMPostResponse  = "llm:post_response"
	LLMStreamStart   = "llm:stream_start"
	LLMStreamEnd     = "llm:stream_end"
	SessionStart     = "session:start"
	SessionEnd       = "session:end"
	SessionMessage   = "session:message"
	PermissionCheck  = "permission:check"
	PermissionPrompt = "permission:prompt"
	PermissionGrant  = "permission:granted"
	PermissionDeny   = "permission:denied"
	UserPromptSubmit = "user:prompt_submit"
	UserInterrupt    = "user:interrupt"
)

// New returns the dialect.
func New() *dialect.Dialect {
	return &dialect.Dialect{
		Name:  Name,
		About: "code-forge hooks: .src/forge/hooks.json, event patterns, FORGE_ variables, exit codes",
		// Registration order: the person's hooks are registered first.
		Files: []dialect.File{
			{Path: "~/" + UserFile, Source: trust.User, Own: true},
			{Path: ProjectFile, Source: trust.Workspace, Own: true},
		},
		Vocabulary: vocabulary(),
		Timeout:    DefaultTimeout,
		Read:       Read,
		Write:      Write,
		Feed:       feed,
		Answer:     answer,
	}
}

func vocabulary() dialect.Vocabulary {
	return dialect.Vocabulary{
		Events: []dialect.EventName{
			{Canonical: hook.PreToolUse, Name: ToolPreExecute, Blocks: true},
			{Canonical: hook.PreShell, Name: ToolPreExecute, Blocks: true},
			{Canonical: hook.PreMCPCall, Name: ToolPreExecute, Blocks: true},
			{Canonical: hook.PreFileRead, Name: ToolPreExecute, Blocks: true},
			{Canonical: hook.PostToolUse, Name: ToolPostExecute},
			{Canonical: hook.PostShell, Name: ToolPostExecute},
			{Canonical: hook.PostMCP, Name: ToolPostExecute},
			{Canonical: hook.PostFileEdit, Name: ToolPostExecute},
			{Canonical: hook.PostToolUseFailure, Name: ToolError},
			{Canonical: hook.BeforeModel, Name: LLMPreRequest, Blocks: true},
			{Canonical: hook.AfterModel, Name: LLMPostResponse},
			{Canonical: hook.ModelStreamStart, Name: LLMStreamStart},
			{Canonical: hook.ModelStreamEnd, Name: LLMStreamEnd},
			{Canonical: hook.SessionStart, Name: SessionStart},
			{Canonical: hook.SessionResume, Name: SessionStart},
			{Canonical: hook.SessionEnd, Name: SessionEnd},
			{Canonical: hook.SessionMessage, Name: SessionMessage},
			{Canonical: hook.AgentMessage, Name: SessionMessage},
			{Canonical: hook.PermissionCheck, Name: PermissionCheck, Blocks: true},
			{Canonical: hook.PermissionRequest, Name: PermissionPrompt},
			{Canonical: hook.PermissionGranted, Name: PermissionGrant},
			{Canonical: hook.PermissionDenied, Name: PermissionDeny},
			{Canonical: hook.UserPromptSubmit, Name: UserPromptSubmit, Blocks: true},
			{Canonical: hook.Interrupt, Name: UserInterrupt},
		},
		Tools: []dialect.ToolName{
			{Tool: dialect.ToolShell, Name: "bash"},
			{Tool: dialect.ToolRead, Name: "read"},
			{Tool: dialect.ToolWrite, Name: "write"},
			{Tool: dialect.ToolEdit, Name: "edit"},
			{Tool: dialect.ToolGlob, Name: "glob"},
			{Tool: dialect.ToolGrep, Name: "grep"},
			{Tool: dialect.ToolList, Name: "list"},
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
			{Tool: dialect.ToolEdit, Field: dialect.FieldOld, Name: "old_string"},
			{Tool: dialect.ToolEdit, Field: dialect.FieldNew, Name: "new_string"},
			{Tool: dialect.ToolGlob, Field: dialect.FieldPattern, Name: "pattern"},
			{Tool: dialect.ToolGrep, Field: dialect.FieldPattern, Name: "pattern"},
			{Tool: dialect.ToolFetch, Field: dialect.FieldURL, Name: "url"},
			{Tool: dialect.ToolWebSearch, Field: dialect.FieldQuery, Name: "query"},
			{Tool: dialect.ToolSubagent, Field: dialect.FieldPrompt, Name: "prompt"},
		},
		MCP: true,
	}
}
