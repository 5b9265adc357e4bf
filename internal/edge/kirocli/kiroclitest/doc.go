// Package kiroclitest stands in for Kiro CLI in tests: given what a hook process
// printed and how it ended, [Run] says what Kiro CLI would do with it. It
// follows the documentation of versions 2 and 3, which differ.
//
// It is for tests only and shares no code with the protocol that it judges.
package kiroclitest
