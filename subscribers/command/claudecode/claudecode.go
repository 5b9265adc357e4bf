package claudecode

import (
	"github.com/grapnel-dev/grapnel/runner/trust"
	"github.com/grapnel-dev/grapnel/subscribers/command/dialect"
)

// Agent is the agent's name on our command line, and the dialect's.
const Agent = "claude-code"

// New returns the dialect.
func New() *dialect.Dialect {
	return &dialect.Dialect{
		Name:       Agent,
		About:      "Claude Code's own hook configuration: settings.json, plugins, skills and sub-agents",
		Agent:      Agent,
		Files:      files(),
		Vocabulary: dialect.Vocabulary{Events: events(), Tools: Tools(), Fields: Fields(), MCP: true},
		Parallel:   true,
		Distinct:   true,
		Timeout:    commandTimeout,
		Rewrites:   true,
		Grants:     true,
		Read:       read,
		Settle:     Settle,
		Write:      write,
		Feed:       feed,
		Answer:     answer,
	}
}

// files are those that Claude Code itself reads, so each is its own.
func files() []dialect.File {
	own := func(path string, source trust.Source) dialect.File {
		return dialect.File{Path: path, Source: source, Own: true}
	}
	return []dialect.File{
		own("/etc/claude-code/managed-settings.json", trust.Managed),
		own("/etc/claude-code/managed-settings.d/*.json", trust.Managed),
		own(".claude/settings.local.json", trust.Workspace),
		own(".claude/settings.json", trust.Workspace),
		own("~/.claude/settings.json", trust.User),
		own(".claude/skills/*/SKILL.md", trust.Workspace),
		own("~/.claude/skills/*/SKILL.md", trust.User),
		own(".claude/agents/*.md", trust.Workspace),
		own("~/.claude/agents/*.md", trust.User),
		own("~/.claude/plugins/*/hooks/hooks.json", trust.Extension),
	}
}
