package trust

import "strings"

// word is one word of a command, before it runs.
type word struct {
	text string
	// known says that text is what the word will be; else text is how it is
	// written, for people.
	known bool
}

// isOption says whether the word is, or may turn out to be, an option.
func (w word) isOption() bool { return strings.HasPrefix(w.text, "-") && w.text != "-" }

// piece is what a word becomes when the command is bound: a literal, which may
// be the path of a measured file that is run by that; the path of a file's
// pinned bytes; or shell text with pieces in it.
type piece struct {
	literal string
	file    *file
	// as is the base name that the file must be called by; empty where any
	// will do.
	as     string
	nested *script
}

// edit replaces a word by one or more.
type edit struct {
	index  int
	pieces []piece
}
