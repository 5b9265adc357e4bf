// Package goosetest stands in for Goose in tests: given what a hook process
// printed and how it ended, [Run] says what Goose would do with it. It follows
// Goose's guide to hooks.
//
// It is for tests only and shares no code with the protocol that it judges.
package goosetest
