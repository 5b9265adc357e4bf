// Package claudecodetest stands in for Claude Code in tests: given what a hook
// process printed and how it ended, [Run] says what Claude Code would do with
// it. It follows what Claude Code 2.1.329 was watched doing, and its
// documentation where nobody watched; the table of what was seen is replayed
// against it in the tests of package claudecode.
//
// It is for tests only and shares no code with the protocol that it judges.
package claudecodetest
