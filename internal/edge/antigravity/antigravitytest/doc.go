// Package antigravitytest stands in for Antigravity's agy in tests: given what a
// hook process printed and how it ended, [Run] says what agy would do with it.
// It follows what others measured on agy 1.1.2 to 1.2.3.
//
// It is for tests only and shares no code with the protocol that it judges.
package antigravitytest
