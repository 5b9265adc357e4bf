// Package install puts grapnel's hook entries into an agent's own settings
// files and takes them out again, for every agent that the edge knows.
//
// # Usage
//
// [New] names an agent's settings of a scope. PlanInstall and PlanUninstall
// read them and return a [Plan], which has touched nothing yet: print its Diff,
// or Apply it. [Inspect] says what is installed where and why a hook would not
// fire.
//
// # What is edited
//
// A settings file belongs to its owner. Everything in it that is not ours
// stays byte for byte: order, indentation, comments, trailing commas, line
// ends, a byte order mark. What is added follows the indentation around it.
// Taking out what was put in gives the same bytes again, but for objects and
// arrays that were empty before, which go with the last entry in them, for a
// "version" that the agent wants beside its hooks and that was missing, which
// stays, and for files in which there was nothing. A comment goes only if it
// stands inside one of our entries.
//
// An entry that starts something is ours when its command is this grapnel's hook binary, or any
// program named grapnel-hook, with the agent's name as its first argument (or
// "grapnel hook" and the agent's name). Commands that only mention it, such as
// a wrapper somebody wrote, are reported in [Plan.Left] and not touched.
//
// A file that does not parse, or is not shaped as the agent's settings are, is
// an error that wraps [ErrSettings], and is left as it is. So is one that
// changed between the plan and its application ([ErrChanged]), and a hook of
// somebody else where an agent has room for one.
//
// # Writing
//
// Each new file is written beside the old one, synced, and renamed over it with
// the same mode. A settings file that is a symbolic link, as in a repository
// of dotfiles, is edited at its target. The old bytes are kept beside it under
// a name with the time in it; not when nothing changes. A file that is ours
// alone goes when nothing of ours is left in it: a registration whose program
// is missing makes some agents block everything.
//
// # Entries
//
// Each event that the edge's table does not leave out has one entry, without a
// matcher and with the agent's name and the event's as arguments, since not
// every payload says them. The command is one line for a shell, quoted where
// the path needs it. It is the same each time: Codex trusts a hook by a hash of
// its definition. Where an agent has a switch that blocks when a hook fails, it
// stands on gates.
//
// Time-outs are longer than the hook program's own, so that its answer comes
// first, and in the agent's own unit; those of events at whose end the agent
// waits are small. A longer one that somebody has written stays.
//
//	agent          settings                                  form
//	claude-code    ~/.claude/settings.json                   JSON, groups; seconds; onFailure "block"
//	codex          ~/.codex/hooks.json                       JSON, groups; seconds; trusted in /hooks
//	gemini-cli     ~/.gemini/settings.json                   JSON, groups; milliseconds
//	cursor         ~/.cursor/hooks.json                      JSON, lists; seconds; failClosed
//	copilot        ~/.copilot/hooks/grapnel.json             JSON, lists; timeoutSec
//	vscode         ~/.copilot/hooks/grapnel-vscode.json      JSON, lists; seconds
//	qwen-code      ~/.qwen/settings.json                     JSON, groups; milliseconds, which all its versions read
//	opencode       ~/.config/opencode/plugins/grapnel.js     a plugin, package opencode's
//	windsurf       ~/.codeium/windsurf/hooks.json            JSON, lists; no time-out
//	cline          ~/Documents/Cline/Hooks                   a program for each event
//	factory-droid  ~/.factory/hooks.json                     JSON, groups, the events at the top; seconds
//	goose          ~/.agents/plugins/grapnel/hooks/hooks.json  JSON, groups; seconds; on_failure "block"
//	kimi-code      ~/.kimi-code/config.toml                  TOML, a table [[hooks]] each; seconds
//	kiro-cli       ~/.kiro/hooks/grapnel.json                JSON, one list; seconds
//	antigravity    ~/.gemini/config/hooks.json               JSON, under "grapnel", groups and lists; seconds
//
// Claude Code's WorktreeCreate is never registered, because a listener there
// takes git's own place. Pieces of streamed messages are registered on request
// alone: they start a process each, and can decide nothing.
//
// # Posted hooks
//
// With [Options.HTTP] the entries of an agent that can, which is Claude Code,
// have the URL http://HOST:PORT/hook/AGENT/EVENT of package httpedge and the
// token for it, and no process is started. An entry with such a URL on a
// loopback address is ours as one with our command is: an installation changes
// each into what it is asked for. What the agent does not post, and what only an
// exit code stops, stay commands: Setup, SessionStart, PreModelSwitch,
// PostModelSwitch, TaskCompleted and TeammateIdle. SessionStart's starts the
// daemon where none runs; later nothing does, and a post that nobody takes lets
// tools run before 2.1.295.
//
// The token makes the settings a secret: the file, and the backup of what it
// was, lose the permissions of all others, which [Plan.Notes] says and an
// uninstallation does not take back; no diff shows the token; and there are no
// posted hooks in a project's settings, since these are committed.
//
// # Concurrency
//
// Values may be used from one goroutine at a time. Two installers at once do
// not corrupt a file; the later one may be told that it changed.
package install
