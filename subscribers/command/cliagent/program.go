package cliagent

import (
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"
)

// executes reports why a program would execute one of its arguments, or nil.
// Of the words that are hot, only what stands before the value is known.
//
// This is about programs that are known to read arguments as program text, so
// that a mistake is noticed when the configuration is read. Any program may do
// with its arguments what it likes; that no shell reads the value is not up to
// this list.
func executes(words []string, hot []bool) error {
	name := path.Base(words[0])
	bad := func(why string) error {
		return fmt.Errorf("%s %s; give it the value by standard input or by an environment variable, which its own program text refers to", name, why)
	}
	first := slices.Index(hot, true)
	switch {
	case first < 0:
		return nil
	case first == 0:
		return errors.New("the value would be the command itself")
	case evaluates(name):
		return bad("evaluates its arguments")
	case isShell(name):
		return shellArguments(words, hot, bad)
	case isScripted(name):
		return scriptArguments(words, hot, bad)
	case isInterpreter(name):
		return bad("reads its arguments as program text, or opens them in ways that execute")
	case isRemote(name):
		return bad("passes its arguments to another shell or command")
	}
	if rest, ok := unwrapped(words); ok {
		skipped := len(words) - len(rest)
		if slices.Contains(hot[:skipped], true) {
			return bad("would take the value for what to run, or for an option")
		}
		if rest[0] == "?" {
			return errors.New("the command is not known before it runs, and might execute the value")
		}
		return executes(rest, hot[skipped:])
	}
	switch name {
	case "printf":
		return printfArguments(words, hot, bad)
	case "test", "[", "[[":
		for i, w := range words {
			near := (i > 0 && hot[i-1]) || (i+1 < len(hot) && hot[i+1])
			if (w == "-v" || w == "-R" || numeric(w)) && near {
				return bad("evaluates the value after " + w + " in some shells; compare it as text")
			}
		}
	case "find":
		for i, w := range words {
			if slices.Contains([]string{"-exec", "-execdir", "-ok", "-okdir"}, w) && i+1 < len(words) {
				if err := executes(words[i+1:], hot[i+1:]); err != nil {
					return err
				}
			}
		}
	case "sed":
		return sedArguments(words, hot, bad)
	case "jq":
		return jqArguments(words, hot, bad)
	case "git":
		return gitArguments(words, hot, bad)
	case "set":
		if !slices.Contains(words[:first], "--") {
			return bad("reads the value as options; write set -- first")
		}
	case "export", "readonly", "local":
		for i, w := range words {
			v, _, ok := strings.Cut(w, "=")
			if hot[i] && (!ok || commands(v)) {
				return bad("would set a variable that changes what programs do, or one that the value names")
			}
		}
	}
	for i, w := range words {
		if hot[i] && (strings.HasPrefix(w, "--eval=") || strings.HasPrefix(w, "--exec=") || strings.HasPrefix(w, "--command=") || strings.HasPrefix(w, "--rsh=")) ||
			hot[i] && i > 0 && slices.Contains([]string{"--eval", "--exec", "--command", "--rsh", "--to-command", "--checkpoint-action"}, words[i-1]) {
			return bad("would execute the value")
		}
	}
	return nil
}

// evaluates lists the shell's own commands that read arguments as its language.
func evaluates(name string) bool {
	switch name {
	case "eval", ".", "source", "trap", "alias", "let", "declare", "typeset", "nameref", "unset", "read", "getopts", "mapfile", "readarray",
		"complete", "compgen", "bind", "fc", "history", "enable", "exit", "return", "break", "continue", "shift", "ulimit", "wait", "jobs",
		"hash", "suspend", "coproc":
		return true
	}
	return false
}

func isShell(name string) bool {
	switch name {
	case "sh", "bash", "dash", "ash", "zsh", "ksh", "ksh93", "mksh", "pdksh", "yash", "rbash", "posh":
		return true
	}
	return false
}

// isScripted lists interpreters that, given a script, hand it its arguments.
func isScripted(name string) bool {
	switch name {
	case "node", "nodejs", "python", "python2", "python3", "pypy", "pypy3":
		return true
	}
	return strings.HasPrefix(name, "python3.")
}

func isInterpreter(name string) bool {
	switch name {
	case "perl", "ruby", "php", "lua", "luajit", "awk", "gawk", "mawk", "nawk", "osascript", "expect", "tclsh", "wish", "vi", "vim", "nvim", "ex", "ed",
		"emacs", "emacsclient", "gdb", "lldb", "sqlite3", "psql", "mysql", "mongo", "mongosh", "redis-cli", "yq", "bc", "dc", "make", "gmake", "ninja", "just", "m4",
		"gnuplot", "R", "Rscript", "irb", "ghci", "scala", "julia", "groovy", "elixir", "erl", "deno", "bun", "ts-node", "tsx", "fish", "csh", "tcsh",
		"nu", "pwsh", "powershell", "cmd", "cmd.exe", "powershell.exe", "busybox", "toybox", "less", "more", "man", "w3m", "ffmpeg", "convert", "magick":
		return true
	}
	return isScripted(name) || strings.HasPrefix(name, "perl5") || strings.HasPrefix(name, "ruby2") || strings.HasPrefix(name, "lua5")
}

// isRemote lists programs that run commands in ways that are not looked into.
func isRemote(name string) bool {
	switch name {
	case "ssh", "rsh", "mosh", "scp", "sftp", "rsync", "su", "runuser", "chroot", "unshare", "nsenter", "setpriv", "flock", "watch", "script", "strace",
		"ltrace", "gdbserver", "parallel", "docker", "podman", "nerdctl", "kubectl", "oc", "lxc", "machinectl", "systemd-run", "nix", "nix-shell", "tmux",
		"screen", "at", "batch", "crontab", "npm", "yarn", "pnpm", "ansible", "entr", "fd", "fdfind", "taskset", "chrt", "unbuffer", "socat", "nc", "ncat",
		"xterm", "open", "start", "rlwrap", "dbus-send", "gdbus", "qdbus", "busctl":
		return true
	}
	return false
}

// shellArguments permits what comes after the program text: its parameters.
func shellArguments(words []string, hot []bool, bad func(string) error) error {
	for i := 1; i < len(words); i++ {
		w := words[i]
		switch {
		case hot[i], w == "?":
			return bad("would execute the value or the file that it names")
		case strings.HasPrefix(w, "-") && !strings.HasPrefix(w, "--") && strings.Contains(w, "c"):
			if i+1 < len(words) && hot[i+1] {
				return bad("would execute the value")
			}
			return nil
		case w == "-o" || w == "+o" || strings.HasPrefix(w, "--rcfile") || strings.HasPrefix(w, "--init-file"):
			i++
		case strings.HasPrefix(w, "-") || strings.HasPrefix(w, "+"):
		default:
			return nil // a script of its own
		}
	}
	return nil
}

// scriptArguments permits what comes after a script or after -c and its text.
func scriptArguments(words []string, hot []bool, bad func(string) error) error {
	for i := 1; i < len(words); i++ {
		w := words[i]
		switch {
		case hot[i], w == "?":
			return bad("would execute the value or the file that it names")
		case w == "-c" || w == "-m" || w == "-e" || w == "-p" || w == "--eval" || w == "--print":
			if i+1 < len(words) && (hot[i+1] || words[i+1] == "?") {
				return bad("would execute the value")
			}
			return nil
		case w == "-u" || w == "-B" || w == "-I" || w == "-E" || w == "-s" || w == "-S" || w == "-O":
		case strings.HasPrefix(w, "-"):
			return bad("has an option here whose meaning is not known")
		default:
			return nil
		}
	}
	return nil
}

func printfArguments(words []string, hot []bool, bad func(string) error) error {
	format := 1
	if words[format] == "--" && !hot[format] {
		format++
	}
	if format >= len(words) || hot[format] || words[format] == "?" || strings.HasPrefix(words[format], "-") {
		return bad("reads its first argument as a format or an option; write printf '%s\\n' before the value")
	}
	for i := 0; i < len(words[format]); i++ {
		if words[format][i] != '%' {
			continue
		}
		i++
		for i < len(words[format]) && strings.IndexByte("-+ #0123456789.", words[format][i]) >= 0 {
			i++
		}
		if i == len(words[format]) || strings.IndexByte("%scbq", words[format][i]) < 0 {
			return bad("evaluates a number as arithmetic in some shells; use %s")
		}
	}
	return nil
}

func sedArguments(words []string, hot []bool, bad func(string) error) error {
	scripted := false
	for i := 1; i < len(words); i++ {
		w := words[i]
		switch {
		case hot[i] && (!scripted || strings.HasPrefix(w, "-")), w == "?":
			return bad("reads its script from its arguments")
		case hot[i]:
		case w == "-e" || w == "-f" || w == "--expression" || w == "--file":
			if i+1 < len(words) && hot[i+1] {
				return bad("reads its script from its arguments")
			}
			scripted = true
			i++
		case strings.HasPrefix(w, "-i") || w == "-n" || w == "-E" || w == "-r" || w == "-s" || w == "-u" || w == "-z" || w == "-b" || w == "--":
		case strings.HasPrefix(w, "-"):
			return bad("has an option here whose meaning is not known")
		default:
			scripted = true
		}
	}
	return nil
}

func gitArguments(words []string, hot []bool, bad func(string) error) error {
	for i, w := range words {
		switch {
		case hot[i] && i == 1:
			return bad("would take the value for a subcommand")
		case hot[i] && slices.Contains([]string{"-c", "-x", "--config-env", "--exec-path", "--upload-pack", "--receive-pack"}, words[i-1]):
			return bad("would execute the value")
		case slices.Contains([]string{"filter-branch", "bisect", "submodule", "difftool", "mergetool", "config", "clone", "fetch", "pull", "push", "remote", "ls-remote"}, w) && !hot[i]:
			return bad(w + " may execute what its arguments say")
		}
	}
	return nil
}

// jqArguments permits the values of --arg and --argjson.
func jqArguments(words []string, hot []bool, bad func(string) error) error {
	for i := range words {
		if hot[i] && (i < 2 || hot[i-1] || hot[i-2] || words[i-2] != "--arg" && words[i-2] != "--argjson") {
			return bad("reads its filter from its arguments; write --arg name value")
		}
	}
	return nil
}
