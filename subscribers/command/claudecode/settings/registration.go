package settings

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// IsRegistration reports whether a hook starts grapnel's own hook program:
// shell text, or where that is empty an argument vector. Text that is more than
// one plain command is somebody's own.
func IsRegistration(shell string, argv []string) bool {
	if shell != "" {
		argv = words(shell)
	}
	if len(argv) == 0 {
		return false
	}
	switch baseName(argv[0]) {
	case "grapnel-hook":
		return true
	case "grapnel":
		return len(argv) > 1 && argv[1] == "hook"
	}
	return false
}

// baseName is the last part of a path of any system, without ".exe".
func baseName(path string) string {
	if i := strings.LastIndexAny(path, `/\`); i >= 0 {
		path = path[i+1:]
	}
	return strings.TrimSuffix(path, ".exe")
}

// words splits a command line that is one plain command, and returns nil for
// all else. What the shell would expand becomes "$".
func words(line string) []string {
	if len(line) > 4096 || !strings.Contains(line, "grapnel") {
		return nil
	}
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
		list = append(list, WordText(w, "$"))
	}
	if len(list) > 1 && list[0] == "exec" {
		list = list[1:]
	}
	return list
}
