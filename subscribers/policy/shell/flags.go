package shell

import (
	"strings"
)

// flag is one option of a command: a letter, or a long name.
type flag struct {
	name  string // without dashes
	value string // what follows "=" in a long one
	long  bool   // written with two dashes
}

// HasFlag reports whether the command has one of these options. A name of one
// letter is found in clusters ("r" in -rf); a longer one is found with one dash
// or two, and when abbreviated, as getopt allows ("--recur" is "recursive").
func (c *Command) HasFlag(names ...string) bool {
	for _, f := range c.flags {
		for _, name := range names {
			if f.name == name || f.long && len(name) > 1 && f.name != "" && strings.HasPrefix(name, f.name) {
				return true
			}
		}
	}
	return false
}

// Flags lists the options in the order in which they stand: letters one by
// one, long names without dashes and values.
func (c *Command) Flags() []string {
	out := make([]string, 0, len(c.flags))
	for _, f := range c.flags {
		out = append(out, f.name)
	}
	return out
}

// parseFlags sorts words into options and the rest.
func parseFlags(words []string) (flags []flag, rest []string) {
	for i, w := range words {
		switch {
		case w == "--":
			return flags, append(rest, words[i+1:]...)
		case len(w) < 2 || w[0] != '-':
			rest = append(rest, w)
		case strings.HasPrefix(w, "--"):
			name, value, _ := strings.Cut(w[2:], "=")
			flags = append(flags, flag{name: name, value: value, long: true})
		default:
			name, _, _ := strings.Cut(w[1:], "=")
			if len(name) > 1 { // find -delete, java -version
				flags = append(flags, flag{name: name})
			}
			for j := range len(name) {
				flags = append(flags, flag{name: name[j : j+1]})
			}
		}
	}
	return flags, rest
}
