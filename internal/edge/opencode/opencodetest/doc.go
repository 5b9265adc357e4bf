// Package opencodetest stands in for OpenCode in tests: given what a hook
// process printed and how it ended, [Run] says what OpenCode would do with it.
// Between the two is our own plugin, so Run does in Go what plugin.js does, and
// then what OpenCode 1.18.33 was watched doing with a plugin that throws or
// changes arguments; the table of what was seen is replayed in the tests of
// package opencode.
//
// It is for tests only and shares no code with the protocol that it judges.
package opencodetest
