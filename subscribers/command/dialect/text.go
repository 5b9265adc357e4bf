package dialect

import (
	"slices"
	"strings"
)

// ShellWords writes an argument vector as text that a POSIX shell reads as
// these very words. Words that need no quotes have none, since other readers
// than a shell know them then, too.
func ShellWords(words []string) string {
	quoted := make([]string, len(words))
	for i, w := range words {
		quoted[i] = w
		if !plainWord(w) || i == 0 && slices.Contains(reserved(), w) {
			quoted[i] = "'" + strings.ReplaceAll(w, "'", `'\''`) + "'"
		}
	}
	return strings.Join(quoted, " ")
}

// plainWord reports whether a word means itself to every shell. One with "="
// could be an assignment.
func plainWord(w string) bool {
	const plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./:,@%+"
	return w != "" && strings.Trim(w, plain) == ""
}

// reserved are words that are no program's name at the beginning of a command.
func reserved() []string {
	return []string{
		"case", "coproc", "do", "done", "elif", "else", "esac", "fi", "for", "function", "if", "in", "select", "then", "time", "until", "while",
	}
}
