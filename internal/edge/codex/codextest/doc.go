// Package codextest stands in for Codex in tests: given what a hook process
// printed and how it ended, [Run] says what Codex would do with it. It follows
// what Codex 0.169.0 was watched doing; the table of what was seen is replayed
// against it in the tests of package codex.
//
// It is for tests only and shares no code with the protocol that it judges.
package codextest
