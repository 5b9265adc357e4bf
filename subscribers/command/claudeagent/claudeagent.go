package claudeagent

import (
	"cmp"
	"time"

	"github.com/grapnel-dev/grapnel/bus/hook"
	"github.com/grapnel-dev/grapnel/runner/trust"
	"github.com/grapnel-dev/grapnel/subscribers/command/claudecode"
	"github.com/grapnel-dev/grapnel/subscribers/command/dialect"
)

// Name is the dialect's name.
const Name = "claude-agent"

// New returns the dialect.
func New() *dialect.Dialect {
	tools := claudecode.Tools()
	// Its own tool for sub-agents is called Task.
	for i := range tools {
		switch tools[i].Name {
		case "Agent":
			tools[i].Name = "Task"
		case "Task":
			tools[i].Name = "Agent"
		}
	}
	return &dialect.Dialect{
		Name:       Name,
		About:      "claude-agent: named hooks in .claude/settings.json, hook rules of plugins, skills and sub-agents",
		Agent:      claudecode.Agent,
		Files:      files(),
		Vocabulary: dialect.Vocabulary{Events: events(), Tools: tools, Fields: claudecode.Fields(), MCP: true},
		Timeout:    60 * time.Second,
		Rewrites:   true,
		Read:       read,
		Write:      write,
		Order:      func(a, b dialect.Hook) int { return cmp.Compare(b.Priority, a.Priority) },
		Feed:       feed,
		Answer:     answer,
		Merge:      merge,
	}
}

// files are read by Claude Code, too, which runs of them what is in its own
// form.
func files() []dialect.File {
	own := func(path string, source trust.Source) dialect.File {
		return dialect.File{Path: path, Source: source, Own: true}
	}
	return []dialect.File{
		own(".claude/settings.json", trust.Workspace),
		own("~/.claude/settings.json", trust.User),
		own(".claude/skills/*/SKILL.md", trust.Workspace),
		own("~/.claude/skills/*/SKILL.md", trust.User),
		own(".claude/agents/*.md", trust.Workspace),
		own("~/.claude/agents/*.md", trust.User),
		own("~/.claude/plugins/*/hooks/hooks.json", trust.Extension),
	}
}

// row is one of the ten events.
type row struct {
	event     string // as in settings, PascalCase
	input     string // as on standard input
	canonical []hook.Name
	block     bool
}

func rows() []row {
	return []row{
		{"PreToolUse", "pre_tool_use", []hook.Name{hook.PreToolUse, hook.PreShell, hook.PreMCPCall, hook.PreFileRead}, true},
		{"PostToolUse", "post_tool_use", []hook.Name{hook.PostToolUse, hook.PostShell, hook.PostMCP, hook.PostFileEdit}, false},
		{"PostToolUseFailure", "post_tool_use_failure", []hook.Name{hook.PostToolUseFailure}, false},
		{"UserPromptSubmit", "user_prompt_submit", []hook.Name{hook.UserPromptSubmit}, true},
		{"Stop", "stop", []hook.Name{hook.Stop}, false},
		{"SubagentStart", "subagent_start", []hook.Name{hook.SubagentStart}, true},
		{"SubagentStop", "subagent_stop", []hook.Name{hook.SubagentStop}, false},
		{"PreCompact", "pre_compact", []hook.Name{hook.PreCompact}, false},
		{"SessionStart", "session_start", []hook.Name{hook.SessionStart, hook.SessionResume}, true},
		{"SessionEnd", "session_end", []hook.Name{hook.SessionEnd}, false},
	}
}

// rowOf finds an event by its name in PascalCase or camelCase; pascal says
// which of them it is.
func rowOf(key string) (r row, pascal, ok bool) {
	for _, r := range rows() {
		if r.event == key {
			return r, true, true
		}
		if camel(r.event) == key {
			return r, false, true
		}
	}
	return row{}, false, false
}

// camel is an event's key in camelCase.
func camel(event string) string { return string(event[0]|0x20) + event[1:] }

func events() []dialect.EventName {
	var names []dialect.EventName
	for _, r := range rows() {
		for _, canonical := range r.canonical {
			names = append(names, dialect.EventName{Canonical: canonical, Name: r.event, Blocks: r.block})
		}
	}
	return names
}
