// Package geminiclitest stands in for Gemini CLI in tests: given what a hook
// process printed and how it ended, [Run] says what Gemini CLI would do with
// it. It follows what Gemini CLI 0.61.0 was watched doing; the table of what was
// seen is replayed against it in the tests of package geminicli.
//
// It is for tests only and shares no code with the protocol that it judges.
package geminiclitest
