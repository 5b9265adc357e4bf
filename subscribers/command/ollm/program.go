package ollm

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode"
)

// errCommand is wrapped by what is wrong with a command.
var errCommand = errors.New("the command is not permitted")

// metacharacters are those that mean something to a shell.
const metacharacters = ";&|`$(){}[]<>"

// programs are those that need no path.
func programs() []string {
	return []string{"node", "python", "python3", "bash", "sh", "npx", "uvx"}
}

// check says which key of a hook is wrong and why.
func check(program string, args []string) (where string, err error) {
	switch {
	case strings.TrimSpace(program) == "":
		return "command", fmt.Errorf("%w: it is missing", errCommand)
	case !absolute(program) && !slices.Contains(programs(), program):
		return "command", fmt.Errorf("%w: %.80q is neither an absolute path nor one of %s", errCommand, program, strings.Join(programs(), ", "))
	}
	if err := plain(program); err != nil {
		return "command", err
	}
	for _, a := range args {
		if err := plain(a); err != nil {
			return "args", err
		}
	}
	return "", nil
}

// absolute reports whether a path is, on any system: what loads must not depend
// on where it is read.
func absolute(path string) bool {
	drive := len(path) > 3 && path[1] == ':' && (path[2] == '\\' || path[2] == '/')
	return strings.HasPrefix(path, "/") || drive && unicode.IsLetter(rune(path[0]))
}

func plain(word string) error {
	for _, c := range word {
		if strings.ContainsRune(metacharacters, c) || unicode.IsControl(c) || c == unicode.ReplacementChar {
			return fmt.Errorf("%w: %.80q has %q in it; put what needs that into a script", errCommand, word, c)
		}
	}
	return nil
}
