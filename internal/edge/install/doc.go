// Package install puts grapnel's hook entries into an agent's own settings
// files and takes them out again.
//
// # Usage
//
// [NewClaudeCode] names a settings file. PlanInstall and PlanUninstall read it
// and return a [Change], which has touched nothing yet: print its Diff, or
// Apply it. [Inspect] says what is installed where and why a hook would not
// fire.
//
// # What is edited
//
// A settings file belongs to its owner. Everything in it that is not ours
// stays byte for byte: order, indentation, comments, trailing commas, line
// ends, a byte order mark. What is added follows the indentation around it.
// Taking out what was put in gives the same bytes again, but for objects and
// arrays that were empty before, which go with the last entry in them. A
// comment goes only if it stands inside one of our entries.
//
// An entry is ours when its command is this grapnel's hook binary, or any
// program named grapnel-hook, with the agent's name as its first argument (or
// "grapnel hook" and the agent's name). Commands that only mention it, such as
// a wrapper somebody wrote, are reported in [Change.Left] and not touched.
//
// A file that does not parse, or is not shaped as the agent's settings are, is
// an error that wraps [ErrSettings], and is left as it is. So is one that
// changed between the plan and its application ([ErrChanged]).
//
// # Writing
//
// The new file is written beside the old one, synced, and renamed over it with
// the same mode. A settings file that is a symbolic link, as in a repository
// of dotfiles, is edited at its target. The old bytes are kept beside it under
// a name with the time in it; not when nothing changes.
//
// # Entries for Claude Code
//
// The command is one line for a shell, quoted where the path needs it: that is
// how Claude Code was seen to start hooks in every version, while the form
// with "args" is newer, and a version that does not know it would start the
// program without them.
//
// WorktreeCreate is never registered, because a listener there takes git's own
// place. MessageDisplay is registered on request alone: it fires for each
// streamed piece of text, each time starting a process, and can decide
// nothing. A key onFailure "block" stands where the agent honours it and an
// unanswered hook must not let the action through: on tool, prompt and
// permission events. The time-outs are longer than the hook program's own, so
// that its answer comes first; the one of SessionEnd is small, since the agent
// waits for it at its end.
//
// # Concurrency
//
// Values may be used from one goroutine at a time. Two installers at once do
// not corrupt a file; the later one may be told that it changed.
package install
