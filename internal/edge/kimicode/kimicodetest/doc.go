// Package kimicodetest stands in for Kimi Code in tests: given what a hook
// process printed and how it ended, [Run] says what Kimi Code would do with it.
// It follows its documentation.
//
// It is for tests only and shares no code with the protocol that it judges.
package kimicodetest
