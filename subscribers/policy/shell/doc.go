// Package shell reads a shell command string and says what it would do: every
// simple command, with its words unquoted and expanded, the paths that it reads,
// writes and deletes, its redirections, and what it is piped into.
//
// # What is read
//
// Pipes, lists, groups, subshells, functions, loops, conditionals, command and
// process substitutions wherever they stand; the texts of sh -c, eval, trap,
// alias, su -c, ssh, watch, git's settings that run commands, scripts from
// here-documents, here-strings, known pipes (echo … | sh) and files that the
// same text has written; what sudo, doas, env, nohup, time, timeout, nice,
// stdbuf, command, builtin, exec, xargs, find -exec, busybox and many more pass
// on. Words are unquoted ('r'm, \rm, $'\x72m'), braces, tildes, and variables
// that the text itself sets are expanded, and cd is followed.
//
// # What is not known
//
// A script is [Script.Opaque] when it may do something that the facts do not
// show, and [Script.Reasons] says why: a command name or a script that is
// computed, a shell that reads from a pipe, inline code of other languages,
// text that does not parse, a limit. The facts that were found are there
// nevertheless. Not opaque means that the text is understood; it does not mean
// that the programs it runs are harmless: make, npm and a script on disk do
// what their files say. A sandbox is the boundary, not this package.
//
// Where a fact can be one of several things, all of them are reported: the
// values of a loop's variable, both branches of a conditional. A working
// directory that depends on a branch is not known afterwards.
//
// # Cost
//
// Time is linear in the text. The limits are [MaxText], [MaxDepth],
// [MaxCommands] and [MaxWords]. The file system is looked at only when somebody
// asks a path where it leads (package place); nothing is ever run.
package shell
