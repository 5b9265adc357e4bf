// Package settings opens the files in which Claude Code's hooks can stand, for
// the dialects that read them: package claudecode and package claudeagent.
//
// There are four kinds ([Kind]): a settings file, a plugin's hooks.json, and
// the YAML front matter of a skill's and of a sub-agent's Markdown file. [Open]
// makes one JSON text of each, with the key "hooks" in it, so that one reader
// reads all of them.
//
// # Front matter
//
// YAML of a stranger is read with limits: [MaxFrontMatter] bytes, 64 levels,
// and no anchors, aliases, merge keys and tags, with which a short text means a
// long one. Of its keys only "name" and "hooks" are looked at.
//
// # Our own registration
//
// `grapnel install claude-code` writes hooks into these files that start
// grapnel itself. [IsRegistration] tells them from other people's hooks: run as
// hooks of the bus, they would put each event on the bus once more.
//
// Nothing here touches the file system or keeps what it is given.
package settings
