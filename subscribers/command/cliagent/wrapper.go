package cliagent

import (
	"path"
	"slices"
	"strings"
)

// wrapper is a program that runs another one with the arguments that follow.
type wrapper struct {
	// flags have no value, values have the next word as theirs; attached may
	// have it in the same word.
	flags, values, attached []string
	operands                int  // before the program
	assigns                 bool // NAME=value may stand before it
}

func wrapperOf(name string) (wrapper, bool) {
	switch name {
	case "command":
		return wrapper{flags: []string{"-p"}}, true
	case "builtin", "nohup", "time":
		return wrapper{flags: []string{"-p"}}, true
	case "exec":
		return wrapper{flags: []string{"-c", "-l"}, values: []string{"-a"}}, true
	case "nice":
		return wrapper{values: []string{"-n"}, attached: []string{"-"}}, true
	case "env":
		return wrapper{flags: []string{"-i", "-0"}, values: []string{"-u", "-C"}, assigns: true}, true
	case "sudo":
		return wrapper{flags: []string{"-n", "-E", "-H", "-k", "-b"}, values: []string{"-u", "-g", "-h", "-p", "-C", "-T", "-D"}, assigns: true}, true
	case "doas":
		return wrapper{flags: []string{"-n"}, values: []string{"-u"}}, true
	case "timeout", "gtimeout":
		return wrapper{flags: []string{"--foreground", "--preserve-status", "-v"}, values: []string{"-k", "-s"}, attached: []string{"--kill-after=", "--signal="}, operands: 1}, true
	case "setsid":
		return wrapper{flags: []string{"-c", "-f", "-w"}}, true
	case "stdbuf":
		return wrapper{values: []string{"-i", "-o", "-e"}, attached: []string{"-i", "-o", "-e"}}, true
	case "ionice":
		return wrapper{flags: []string{"-t"}, values: []string{"-c", "-n"}, attached: []string{"-c", "-n"}}, true
	case "xargs":
		return wrapper{flags: []string{"-0", "-r", "-t"}, values: []string{"-I", "-n", "-P", "-L", "-d", "-E", "-s", "-a"}, attached: []string{"-n", "-P", "-I"}}, true
	case "npx", "bunx", "uvx", "pipx":
		return wrapper{flags: []string{"--yes", "-y", "--no-install", "--no", "run"}}, true
	}
	return wrapper{}, false
}

// unwrapped returns the command that a wrapper runs; false when the first word
// is no wrapper. A wrapper that cannot be seen through, or runs nothing, leaves
// a word "?" that nobody knows.
func unwrapped(words []string) (rest []string, ok bool) {
	w, ok := wrapperOf(path.Base(words[0]))
	if !ok {
		return nil, false
	}
	rest = words[1:]
	for len(rest) > 0 {
		word := rest[0]
		switch {
		case word == "--":
			return w.after(rest[1:]), true
		case slices.Contains(w.flags, word):
			rest = rest[1:]
		case slices.Contains(w.values, word) && len(rest) > 1:
			rest = rest[2:]
		case slices.ContainsFunc(w.attached, func(a string) bool { return strings.HasPrefix(word, a) && len(word) > len(a) }):
			rest = rest[1:]
		case strings.HasPrefix(word, "-"):
			return []string{"?"}, true
		default:
			return w.after(rest), true
		}
	}
	return []string{"?"}, true
}

func (w wrapper) after(rest []string) []string {
	for w.assigns && len(rest) > 0 && strings.Contains(rest[0], "=") {
		rest = rest[1:]
	}
	if len(rest) <= w.operands {
		return []string{"?"}
	}
	return rest[w.operands:]
}
