// Package factorydroidtest stands in for Factory's Droid in tests: given what a
// hook process printed and how it ended, [Run] says what Droid would do with
// it. It follows docs.factory.ai/reference/hooks-reference.
//
// It is for tests only and shares no code with the protocol that it judges.
package factorydroidtest
