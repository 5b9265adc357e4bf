// Package vscodetest stands in for agent mode of Visual Studio Code in tests:
// given what a hook process printed and how it ended, [Run] says what VS Code
// would do with it. Nobody has watched it; this follows its hooks reference of
// 2026-06-03 and, where that is open, the extension's source.
//
// It is for tests only and shares no code with the protocol that it judges.
package vscodetest
