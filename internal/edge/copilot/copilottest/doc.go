// Package copilottest stands in for the Copilot CLI in tests: given what a hook
// process printed and how it ended, [Run] says what Copilot would do with it.
// It follows what Copilot CLI 1.0.102 was watched doing, and its hooks reference
// where nobody watched; the table of what was seen is replayed against it in
// the tests of package copilot.
//
// It is for tests only and shares no code with the protocol that it judges.
package copilottest
