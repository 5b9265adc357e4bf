// Package windsurftest stands in for Windsurf in tests: given what a hook
// process printed and how it ended, [Run] says what Windsurf would do with it.
// It follows Windsurf's documentation.
//
// It is for tests only and shares no code with the protocol that it judges.
package windsurftest
