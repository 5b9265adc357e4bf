package ollm

import (
	"cmp"
	"time"

	"github.com/grapnel-dev/grapnel/bus/hook"
	"github.com/grapnel-dev/grapnel/runner/trust"
	"github.com/grapnel-dev/grapnel/subscribers/command/dialect"
)

// Name is the dialect's name.
const Name = "ollm"

// timeout is how long a hook may take that says nothing else.
const timeout = 30 * time.Second

// maxOutput is how much a hook may print to each stream, in bytes.
const maxOutput = 1 << 20

// The events.
const (
	sessionStart        = "session_start"
	sessionEnd          = "session_end"
	beforeAgent         = "before_agent"
	afterAgent          = "after_agent"
	beforeModel         = "before_model"
	afterModel          = "after_model"
	beforeToolSelection = "before_tool_selection"
	beforeTool          = "before_tool"
	afterTool           = "after_tool"
	preCompress         = "pre_compress"
	postCompress        = "post_compress"
	notification        = "notification"
)

// New returns the dialect.
func New() *dialect.Dialect {
	return &dialect.Dialect{
		Name:  Name,
		About: "OLLM CLI's hooks: programs that read an event on stdin and say whether to continue",
		Files: []dialect.File{
			{Path: "~/.ollm/hooks/*.json", Source: trust.User},
			{Path: ".ollm/hooks/*.json", Source: trust.Workspace},
			{Path: "~/.ollm/extensions/*/hooks/*.json", Source: trust.Extension},
		},
		Vocabulary: vocabulary(),
		Timeout:    timeout,
		MaxOutput:  maxOutput,
		Read:       read,
		Write:      write,
		Order:      order,
		Feed:       feed,
		Answer:     answer,
	}
}

// order is by source, and then by priority.
func order(a, b dialect.Hook) int {
	if c := cmp.Compare(a.Origin.Source.Order(), b.Origin.Source.Order()); c != 0 {
		return c
	}
	return cmp.Compare(b.Priority, a.Priority)
}

func vocabulary() dialect.Vocabulary {
	return dialect.Vocabulary{
		Events: []dialect.EventName{
			{Canonical: hook.SessionStart, Name: sessionStart, Blocks: true},
			{Canonical: hook.SessionResume, Name: sessionStart, Blocks: true},
			{Canonical: hook.SessionEnd, Name: sessionEnd},
			{Canonical: hook.UserPromptSubmit, Name: beforeAgent, Blocks: true},
			{Canonical: hook.UserPromptExpand, Name: beforeAgent, Blocks: true},
			{Canonical: hook.Stop, Name: afterAgent},
			{Canonical: hook.BeforeModel, Name: beforeModel, Blocks: true},
			{Canonical: hook.AfterModel, Name: afterModel},
			{Canonical: hook.BeforeToolSelection, Name: beforeToolSelection, Blocks: true},
			{Canonical: hook.PreToolUse, Name: beforeTool, Blocks: true},
			{Canonical: hook.PreShell, Name: beforeTool, Blocks: true},
			{Canonical: hook.PreMCPCall, Name: beforeTool, Blocks: true},
			{Canonical: hook.PreFileRead, Name: beforeTool, Blocks: true},
			{Canonical: hook.PostToolUse, Name: afterTool},
			{Canonical: hook.PostToolUseFailure, Name: afterTool},
			{Canonical: hook.PostShell, Name: afterTool},
			{Canonical: hook.PostMCP, Name: afterTool},
			{Canonical: hook.PostFileEdit, Name: afterTool},
			{Canonical: hook.PreCompact, Name: preCompress, Blocks: true},
			{Canonical: hook.PostCompact, Name: postCompress},
			{Canonical: hook.Notification, Name: notification},
		},
		Tools: []dialect.ToolName{
			{Tool: dialect.ToolShell, Name: "shell"},
			{Tool: dialect.ToolRead, Name: "read_file"},
			{Tool: dialect.ToolWrite, Name: "write_file"},
			{Tool: dialect.ToolEdit, Name: "edit_file"},
			{Tool: dialect.ToolGlob, Name: "glob"},
			{Tool: dialect.ToolGrep, Name: "grep"},
			{Tool: dialect.ToolList, Name: "ls"},
			{Tool: dialect.ToolFetch, Name: "web_fetch"},
			{Tool: dialect.ToolWebSearch, Name: "web_search"},
		},
		Fields: []dialect.FieldName{
			{Tool: dialect.ToolShell, Field: dialect.FieldCommand, Name: "command"},
			{Tool: dialect.ToolRead, Field: dialect.FieldPath, Name: "path"},
			{Tool: dialect.ToolWrite, Field: dialect.FieldPath, Name: "path"},
			{Tool: dialect.ToolWrite, Field: dialect.FieldContent, Name: "content"},
			{Tool: dialect.ToolEdit, Field: dialect.FieldPath, Name: "path"},
			{Tool: dialect.ToolGlob, Field: dialect.FieldPattern, Name: "pattern"},
			{Tool: dialect.ToolGlob, Field: dialect.FieldPath, Name: "path"},
			{Tool: dialect.ToolGrep, Field: dialect.FieldPattern, Name: "pattern"},
			{Tool: dialect.ToolGrep, Field: dialect.FieldPath, Name: "path"},
			{Tool: dialect.ToolList, Field: dialect.FieldPath, Name: "path"},
			{Tool: dialect.ToolFetch, Field: dialect.FieldURL, Name: "url"},
			{Tool: dialect.ToolWebSearch, Field: dialect.FieldQuery, Name: "query"},
		},
	}
}
