package claudecode

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"github.com/grapnel-dev/grapnel/subscribers/command/claudecode/settings"
)

// Limits of one look at a command line; beyond them a rule matches.
const (
	maxShell    = 64 << 10
	maxCommands = 1000
	maxScripts  = 4       // sh -c in sh -c
	maxCompared = 1 << 20 // bytes of text
)

// hole stands in a text for what is only known when the shell runs. It matches
// anything.
const hole = '\x00'

// shellMatches reports whether a rule's specifier selects a command line: the
// whole, or any simple command in it, wherever it stands. Text that cannot be
// read matches.
func shellMatches(specifier, line string) bool {
	s := shellSearch{patterns: []string{specifier}}
	if prefix, ok := strings.CutSuffix(specifier, ":*"); ok {
		s.patterns = []string{prefix, prefix + " *"}
	} else if prefix, ok := strings.CutSuffix(specifier, " *"); ok {
		s.patterns = []string{prefix, specifier}
	}
	if strings.IndexByte(line, 0) >= 0 || len(line) > maxShell {
		return true
	}
	return s.text(strings.TrimSpace(line)) || s.script(line, 0)
}

type shellSearch struct {
	patterns []string
	commands int
	compared int // bytes
}

// text reports whether a pattern matches, with holes in the text.
func (s *shellSearch) text(text string) bool {
	if s.compared += len(text); s.compared > maxCompared {
		return true
	}
	return slices.ContainsFunc(s.patterns, func(p string) bool { return wildcard(p, text) })
}

func (s *shellSearch) script(text string, depth int) bool {
	if depth > maxScripts {
		return true
	}
	file, err := syntax.NewParser(syntax.Variant(syntax.LangBash)).Parse(strings.NewReader(text), "")
	if err != nil {
		return true
	}
	found := false
	syntax.Walk(file, func(n syntax.Node) bool {
		if found || n == nil {
			return !found
		}
		switch n := n.(type) {
		case *syntax.CallExpr:
			if s.commands++; s.commands > maxCommands || s.call(n, depth) {
				found = true
			}
		case *syntax.DeclClause, *syntax.TestClause, *syntax.LetClause:
			var b strings.Builder
			if syntax.NewPrinter().Print(&b, n) != nil || s.text(b.String()) {
				found = true
			}
		}
		return !found
	})
	return found
}

// call looks at one simple command: without its assignments and redirections,
// and behind what only passes a command on.
func (s *shellSearch) call(c *syntax.CallExpr, depth int) bool {
	if len(c.Args) == 0 {
		return false
	}
	words := make([]string, len(c.Args))
	for i, w := range c.Args {
		words[i] = settings.WordText(w, string(hole))
	}
	passes := true
	for i := 0; i < len(words) && passes; i++ {
		name := words[i][strings.LastIndexByte(words[i], '/')+1:]
		line := strings.Join(words[i:], " ")
		if s.text(line) || name != words[i] && s.text(strings.Join(append([]string{name}, words[i+1:]...), " ")) {
			return true
		}
		if s.nested(name, words[i+1:], depth) {
			return true
		}
		if i == 0 {
			passes = wraps(name)
		}
		if i > 100 {
			return true
		}
	}
	return false
}

// wraps reports whether a command runs the command in its arguments.
func wraps(name string) bool {
	return slices.Contains([]string{
		"timeout", "time", "nice", "nohup", "stdbuf", "command", "builtin", "exec", "env", "sudo", "doas", "xargs", "setsid", "ionice",
	}, name)
}

// nested looks into the text that a shell is given.
func (s *shellSearch) nested(name string, args []string, depth int) bool {
	switch name {
	case "sh", "bash", "zsh", "dash", "ksh", "ash":
		for i, a := range args {
			if strings.HasPrefix(a, "-") && !strings.HasPrefix(a, "--") && strings.Contains(a, "c") && i+1 < len(args) {
				return strings.ContainsRune(args[i+1], hole) || s.script(args[i+1], depth+1)
			}
		}
	case "eval":
		text := strings.Join(args, " ")
		return strings.ContainsRune(text, hole) || s.script(text, depth+1)
	}
	return false
}

// wildcard reports whether some text that a pattern with "*" stands for is also
// one that a text with holes stands for. It takes time in proportion to the
// product of their lengths.
func wildcard(pattern, text string) bool {
	// can[j] says that pattern[i:] and text[j:] have a text in common.
	can, next := make([]bool, len(text)+1), make([]bool, len(text)+1)
	for i := len(pattern); i >= 0; i-- {
		for j := len(text); j >= 0; j-- {
			star, gap := i < len(pattern) && pattern[i] == '*', j < len(text) && text[j] == byte(hole)
			switch {
			case i == len(pattern) && j == len(text):
				next[j] = true
			case star && (can[j] || j < len(text) && next[j+1]):
				next[j] = true
			case gap && (next[j+1] || i < len(pattern) && can[j]):
				next[j] = true
			default:
				next[j] = i < len(pattern) && j < len(text) && !star && !gap && pattern[i] == text[j] && can[j+1]
			}
		}
		can, next = next, can
	}
	return can[0]
}
