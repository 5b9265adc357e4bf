package trust

import (
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// versioned is the name of an interpreter with its version, such as python3.12.
var versioned = regexp.MustCompile(`^(sh|ash|dash|bash|zsh|ksh|mksh|python|pypy|node|nodejs|deno|bun|ruby|perl|php)[0-9.]*$`)

// family is the kind of interpreter that a name stands for, such as "sh" and
// "python"; empty when it is none that is known.
func family(name string) string {
	m := versioned.FindStringSubmatch(strings.TrimSuffix(filepath.Base(name), ".exe"))
	if m == nil {
		return ""
	}
	switch m[1] {
	case "ash", "dash", "bash", "zsh", "ksh", "mksh":
		return "sh"
	case "pypy":
		return "python"
	case "nodejs":
		return "node"
	}
	return m[1]
}

// invocation is what an interpreter is asked to do.
type invocation struct {
	script int    // which argument is the script's path; -1 when none is
	text   int    // which argument is shell text; -1 when none is
	note   string // why it cannot be said what it runs
}

// invoked reads an interpreter's arguments as it would.
func invoked(family string, args []word) invocation {
	none := invocation{script: -1, text: -1}
	unclear := func(why string) invocation { return invocation{-1, -1, why} }
	start := 0
	if family == "deno" || family == "bun" {
		if len(args) == 0 {
			return none
		}
		switch sub := args[0].text; {
		case sub == "run":
			start = 1
		case sub == "x" || family == "deno" || sub == "install" || sub == "add":
			return unclear(family + " " + sub + " finds or downloads what it runs")
		}
	}
	for i := start; i < len(args); i++ {
		w := args[i]
		if !w.known {
			return unclear("the script it is given (" + w.text + ") is known only when it runs")
		}
		switch {
		case w.text == "--":
			if i+1 == len(args) {
				return unclear("it reads its script from standard input")
			}
			if !args[i+1].known {
				return unclear("the script it is given (" + args[i+1].text + ") is known only when it runs")
			}
			return invocation{i + 1, -1, ""}
		case w.text == "-":
			return unclear("it reads its script from standard input")
		case family == "sh" && strings.HasPrefix(w.text, "+"), w.isOption():
			o := readOption(family, w.text)
			if !o.ends {
				i += o.values
				continue
			}
			if o.text && i+1 < len(args) {
				// Options may stand between -c and its text.
				for i++; i < len(args) && args[i].isOption(); i++ {
				}
				if i < len(args) && args[i].known {
					return invocation{-1, i, ""}
				}
				return unclear("the text it is given is known only when it runs")
			}
			if o.file && i+1 < len(args) && args[i+1].known {
				return invocation{i + 1, -1, ""}
			}
			return invocation{-1, -1, o.note}
		default:
			return invocation{i, -1, ""}
		}
	}
	if family == "deno" || family == "bun" {
		return none
	}
	return unclear("it reads its script from standard input")
}

// option is what one option means for the words after it.
type option struct {
	values int    // how many of the next words belong to it
	ends   bool   // no script comes after it
	text   bool   // shell text comes after it
	file   bool   // the script comes after it
	note   string // with ends: why it cannot be said what runs
}

func readOption(family, o string) option {
	const inline = "" // code in the definition itself, which is hashed
	long := strings.HasPrefix(o, "--")
	switch family {
	case "sh":
		switch {
		case o == "--rcfile" || o == "--init-file":
			return option{values: 1}
		case long:
			return option{}
		case strings.HasPrefix(o, "-") && strings.Contains(o, "c"):
			return option{ends: true, text: true}
		case strings.HasPrefix(o, "-") && strings.Contains(o, "s"):
			return option{ends: true, note: "it reads its script from standard input"}
		case strings.HasSuffix(o, "o") || strings.HasSuffix(o, "O"):
			return option{values: 1}
		}
	case "python":
		if long {
			if o == "--check-hash-based-pycs" {
				return option{values: 1}
			}
			return option{}
		}
		// In a cluster, the first letter that takes a value takes the rest.
		for i, c := range o[1:] {
			last := i == len(o)-2
			switch c {
			case 'c':
				return option{ends: true, note: inline}
			case 'm':
				return option{ends: true, note: "python -m looks for a module when it runs"}
			case 'W', 'X':
				if last {
					return option{values: 1}
				}
				return option{}
			}
		}
	case "node":
		name, _, joined := strings.Cut(o, "=")
		switch name {
		case "-e", "--eval", "-p", "--print", "-pe":
			return option{ends: true, note: inline}
		case "-r", "--require", "--import", "--loader", "--experimental-loader", "--env-file", "--run", "--test", "--watch", "-i":
			return option{ends: true, note: "node " + name + " loads files that are not measured"}
		case "-C", "--conditions", "--input-type", "--title", "--icu-data-dir", "--disable-warning":
			if !joined {
				return option{values: 1}
			}
		}
	case "deno", "bun":
		name, _, joined := strings.Cut(o, "=")
		switch name {
		case "-e", "--eval", "-p", "--print":
			return option{ends: true, note: inline}
		case "-r", "--preload", "--require", "--import", "-c", "--config", "--import-map", "--env-file", "--cwd":
			if !joined {
				return option{ends: true, note: family + " " + name + " loads files that are not measured"}
			}
		}
	case "ruby", "perl":
		switch {
		case strings.HasPrefix(o, "-e"), family == "perl" && strings.HasPrefix(o, "-E"):
			return option{ends: true, note: inline}
		case o == "-S", strings.HasPrefix(o, "-x"):
			return option{ends: true, note: family + " " + o + " chooses the script when it runs"}
		case !long && strings.ContainsAny(o[1:], "eE") && !strings.ContainsAny(o[1:2], "IMmrCWEdFKx"):
			return option{ends: true, note: inline} // a cluster such as -ne
		case o == "-I", o == "-r", o == "-C" && family == "ruby", o == "-E":
			return option{values: 1}
		}
	case "php":
		switch o {
		case "-f", "--file":
			return option{ends: true, file: true}
		case "-r", "--run", "-B", "-R", "-E":
			return option{ends: true, note: inline}
		case "-d", "-c", "-z", "-t", "-S", "--php-ini", "--define":
			return option{values: 1}
		}
	}
	return option{}
}

// launcher says why it is not known what a command starts, when it is one that
// starts others by rules of its own; else it is empty.
func launcher(name string) string {
	switch base := filepath.Base(name); base {
	case "npx", "uvx", "pipx", "bunx", "pnpx":
		return base + " downloads what it runs, and that cannot be pinned"
	case "git", "npm", "pnpm", "yarn", "uv", "poetry", "make", "just", "task", "cargo", "go", "gradle", "mvn", "pre-commit", "docker", "podman", "ssh":
		return base + " runs what it finds by itself when it runs"
	case "xargs", "sudo", "doas", "find", "parallel", "watch", "script", "flock", "strace", "su", "busybox":
		return base + " starts other programs, which are not measured"
	}
	return ""
}

// handlesData says whether a command takes its arguments for data and never runs
// them. These change from run to run, as what they are must not.
func handlesData(name string) bool {
	return slices.Contains([]string{
		"cat", "tee", "touch", "rm", "mv", "cp", "ln", "mkdir", "rmdir", "ls", "chmod", "chown", "head", "tail", "wc",
		"grep", "egrep", "fgrep", "cmp", "diff", "stat", "basename", "dirname", "realpath", "readlink", "sort", "uniq",
		"cut", "tr", "date", "git", "logger", "sha256sum", "file", "du",
	}, filepath.Base(name))
}

// prefix says how many words a command takes before the command that it starts:
// 1 for nohup, 2 for "timeout 5". ok is false when it is no such command, or is
// used in another way; note says that it does start one then.
func prefix(words []word) (skip int, note string, ok bool) {
	name := filepath.Base(words[0].text)
	skip = 1
	switch name {
	case "command":
		if len(words) > 1 && (words[1].text == "-v" || words[1].text == "-V") {
			return 0, "", false // tells where a command is
		}
	case "exec", "builtin", "nohup", "setsid", "time":
	case "nice":
		if len(words) > 2 && words[1].text == "-n" {
			skip = 3
		}
	case "timeout":
		skip = 2
	case "env":
		for skip < len(words) && words[skip].known && !words[skip].isOption() && strings.Contains(words[skip].text, "=") {
			skip++
		}
	default:
		return 0, "", false
	}
	for i := 1; i < min(skip+1, len(words)); i++ {
		if words[i].isOption() && !(name == "nice" && i == 1 && skip == 3) {
			return 0, name + " with options starts another program, which is not measured", false
		}
	}
	if skip >= len(words) {
		return 0, "", false
	}
	return skip, "", true
}

// isBuiltin says whether a POSIX shell, or bash as sh, runs the name itself.
func isBuiltin(name string) bool {
	return slices.Contains([]string{
		":", ".", "[", "alias", "bg", "break", "cd", "command", "continue", "echo", "eval", "exec", "exit", "export",
		"false", "fc", "fg", "getopts", "hash", "jobs", "kill", "local", "printf", "pwd", "read", "readonly", "return",
		"set", "shift", "test", "times", "trap", "true", "type", "ulimit", "umask", "unalias", "unset", "wait",
		"source", "declare", "typeset", "let", "mapfile", "readarray", "shopt", "builtin", "enable", "caller",
		"pushd", "popd", "dirs", "disown", "history", "logout", "suspend", "help",
	}, name)
}
