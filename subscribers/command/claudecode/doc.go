// Package claudecode is the hook dialect of Claude Code's own configuration.
package claudecode
