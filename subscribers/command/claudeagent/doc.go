// Package claudeagent is the hook dialect of claude-agent.
package claudeagent
