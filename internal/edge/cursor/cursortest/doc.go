// Package cursortest stands in for Cursor in tests: given what a hook process
// printed and how it ended, [Run] says what Cursor would do with it. Nobody has
// watched it; this follows cursor.com/docs/hooks as of 2026-08-24. Where that
// leaves two readings it takes the worse one: an allow on the last hook before
// Cursor's question skips the question, and a permission that is not said
// blocks.
//
// It is for tests only and shares no code with the protocol that it judges.
package cursortest
