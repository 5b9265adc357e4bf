package trust

import (
	"bytes"
	"fmt"
	"path/filepath"
	"strings"
)

// maxShebang is how much of a file the kernel looks at for its #! line.
const maxShebang = 256

// maxInterpreters is how many #! lines are followed from one command.
const maxInterpreters = 4

// shebang is a #! line: the interpreter and what follows it, which the kernel
// passes on as one argument.
type shebang struct{ interpreter, argument string }

// parseShebang reads the #! line in head, the first bytes of a file; ok is
// false when there is none. Lines that kernels read in different ways are
// refused.
func parseShebang(head []byte) (s shebang, ok bool, err error) {
	rest, ok := bytes.CutPrefix(head, []byte("#!"))
	if !ok {
		return s, false, nil
	}
	line, _, whole := bytes.Cut(rest, []byte("\n"))
	switch {
	case !whole && len(head) >= maxShebang || len(line)+2 >= maxShebang:
		return s, true, fmt.Errorf("%w: it is longer than %d bytes", ErrInterpreter, maxShebang-1)
	case bytes.HasSuffix(line, []byte("\r")):
		return s, true, fmt.Errorf("%w: it ends with a carriage return; save the script with Unix line ends", ErrInterpreter)
	case bytes.IndexByte(line, 0) >= 0:
		return s, true, fmt.Errorf("%w: there is a NUL byte in it", ErrInterpreter)
	}
	name, argument, _ := strings.Cut(strings.ReplaceAll(strings.Trim(string(line), " \t"), "\t", " "), " ")
	if name == "" {
		return s, true, fmt.Errorf("%w: it names no interpreter", ErrInterpreter)
	}
	if !filepath.IsAbs(name) {
		return s, true, fmt.Errorf("%w: %.100q is not an absolute path", ErrInterpreter, name)
	}
	// The argument is taken from the line itself: tabs in it are the script's.
	if argument != "" {
		line = bytes.Trim(line, " \t")
		argument = strings.Trim(string(line[len(name):]), " \t")
	}
	return shebang{name, argument}, true, nil
}

// env says what the line's interpreter runs where that is env: a name to look
// up, and arguments for it. ok is false for any other interpreter.
func (s shebang) env() (name string, args []string, ok bool, err error) {
	if s.interpreter != "/usr/bin/env" && s.interpreter != "/bin/env" {
		return "", nil, false, nil
	}
	text, split := strings.CutPrefix(s.argument, "-S")
	if !split {
		text, split = strings.CutPrefix(s.argument, "--split-string=")
	}
	words := []string{text}
	if split {
		if strings.ContainsAny(text, `\'"$#`) {
			return "", nil, true, fmt.Errorf("%w: env -S with quotes, escapes or variables (%.100q); use plain words", ErrInterpreter, text)
		}
		words = strings.FieldsFunc(text, func(r rune) bool { return r == ' ' || r == '\t' })
	}
	if len(words) == 0 || words[0] == "" {
		return "", nil, true, fmt.Errorf("%w: env is given no command", ErrInterpreter)
	}
	name = words[0]
	if strings.HasPrefix(name, "-") || strings.ContainsAny(name, "= \t") {
		return "", nil, true, fmt.Errorf("%w: env with options or variables (%.100q); name the interpreter alone, or use env -S NAME ARGUMENTS", ErrInterpreter, s.argument)
	}
	return name, words[1:], true, nil
}
