package process

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
)

// Environment makes a command's environment of three parts: from parent (as
// os.Environ gives it) the names of the allow list and those in names, then
// set, NAME=value, which wins.
//
// The allow list is PATH, HOME, USER, LOGNAME, SHELL, LANG, LC_*, TZ, TERM and
// TMPDIR (and what Windows cannot do without). Nothing else passes unasked:
// neither LD_PRELOAD, BASH_ENV, NODE_OPTIONS and their like, which would run
// code in the command, nor keys and tokens. PATH is replaced by path, which
// [CleanPath] made when the configuration was read.
func Environment(parent []string, path string, names, set []string) []string {
	env := make([]string, 0, len(names)+len(set)+12)
	place := make(map[string]int, cap(env))
	put := func(name, entry string) {
		if i, ok := place[name]; ok {
			env[i] = entry
			return
		}
		place[name] = len(env)
		env = append(env, entry)
	}
	for _, entry := range parent {
		name, _, ok := strings.Cut(entry, "=")
		if ok && name != "" && name != "PATH" && (inherited(name) || slices.Contains(names, name)) {
			put(name, entry)
		}
	}
	if path != "" {
		put("PATH", "PATH="+path)
	}
	for _, entry := range set {
		name, _, _ := strings.Cut(entry, "=")
		put(name, entry)
	}
	return env
}

func inherited(name string) bool {
	switch name {
	case "HOME", "USER", "LOGNAME", "SHELL", "LANG", "TZ", "TERM", "TMPDIR":
		return true
	case "SystemRoot", "SYSTEMROOT", "TEMP", "TMP", "USERPROFILE", "PATHEXT", "ComSpec", "COMSPEC":
		return needsWindowsNames
	}
	return strings.HasPrefix(name, "LC_")
}

// CheckName reports why name cannot be asked for as an environment variable to
// pass through, or nil.
func CheckName(name string) error {
	if name == "" {
		return fmt.Errorf("an environment variable's name is empty")
	}
	for i, c := range []byte(name) {
		letter := c == '_' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
		if !letter && (i == 0 || c < '0' || c > '9') {
			return fmt.Errorf("environment variable %.60q: name it exactly, with letters, digits and '_'", name)
		}
	}
	if strings.HasPrefix(name, "GRAPNEL_") {
		return fmt.Errorf("environment variable %.60q: GRAPNEL_ names are set by grapnel and cannot be passed through", name)
	}
	return nil
}

// CleanPath returns the PATH value without its relative and empty entries,
// through which a file in the working directory could pass for a command.
func CleanPath(path string) string {
	kept := slices.DeleteFunc(filepath.SplitList(path), func(d string) bool { return !filepath.IsAbs(d) })
	return strings.Join(kept, string(filepath.ListSeparator))
}
