//go:build !unix

package pack

// syncDirectory does nothing: Windows keeps names by itself, and cannot sync
// directories.
func syncDirectory(string) error { return nil }
