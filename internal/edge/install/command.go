package install

import (
	"regexp"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

const (
	shimName = "grapnel-hook"
	fullName = "grapnel"
)

var plainWord = regexp.MustCompile(`\A[A-Za-z0-9_@%+=:,./-]+\z`)

// commandLine is what the agent gives to a shell to start the hook.
func commandLine(binary string, flags []string, agent, event string) string {
	line := quote(binary)
	for _, f := range flags {
		line += " " + quote(f)
	}
	return line + " " + agent + " " + event
}

// quote makes one shell word of s.
func quote(s string) string {
	if plainWord.MatchString(s) {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

// words splits a command line that is one plain command. What is not (pipes,
// assignments, several commands) gives nil. Expansions stay as "$" in the
// word.
func words(line string) []string {
	file, err := syntax.NewParser(syntax.Variant(syntax.LangPOSIX)).Parse(strings.NewReader(line), "")
	if err != nil || len(file.Stmts) != 1 {
		return nil
	}
	statement := file.Stmts[0]
	call, ok := statement.Cmd.(*syntax.CallExpr)
	if !ok || len(call.Assigns) > 0 || len(statement.Redirs) > 0 || statement.Negated || statement.Background {
		return nil
	}
	var list []string
	for _, w := range call.Args {
		list = append(list, wordText(w.Parts))
	}
	if len(list) > 0 && list[0] == "exec" {
		list = list[1:]
	}
	return list
}

func wordText(parts []syntax.WordPart) string {
	var b strings.Builder
	for _, part := range parts {
		switch part := part.(type) {
		case *syntax.Lit:
			for i := 0; i < len(part.Value); i++ {
				if part.Value[i] == '\\' && i+1 < len(part.Value) {
					i++
				}
				b.WriteByte(part.Value[i])
			}
		case *syntax.SglQuoted:
			b.WriteString(part.Value)
		case *syntax.DblQuoted:
			b.WriteString(wordText(part.Parts))
		default:
			b.WriteByte('$')
		}
	}
	return b.String()
}

// isOurs reports whether argv starts our hook for the agent. binary may be
// empty.
func isOurs(argv []string, binary, agent string) bool {
	if len(argv) < 2 {
		return false
	}
	rest := argv[1:]
	switch name := baseName(argv[0]); {
	case name == shimName, binary != "" && argv[0] == binary:
	case name == fullName && rest[0] == "hook":
		rest = rest[1:]
	default:
		return false
	}
	for len(rest) > 1 && strings.HasPrefix(rest[0], "--") {
		if !strings.Contains(rest[0], "=") {
			rest = rest[1:]
		}
		rest = rest[1:]
	}
	return len(rest) > 0 && rest[0] == agent
}

// baseName is the last part of a path of any system, without ".exe".
func baseName(path string) string {
	if i := strings.LastIndexAny(path, `/\`); i >= 0 {
		path = path[i+1:]
	}
	return strings.TrimSuffix(path, ".exe")
}
