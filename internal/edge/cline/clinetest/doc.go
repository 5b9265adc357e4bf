// Package clinetest stands in for Cline in tests: given what a hook process
// printed and how it ended, [Run] says what Cline would do with it. It follows
// Cline's hook reference.
//
// It is for tests only and shares no code with the protocol that it judges.
package clinetest
