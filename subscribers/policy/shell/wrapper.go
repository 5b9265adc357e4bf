package shell

import (
	"slices"
	"strings"

	"github.com/grapnel-dev/grapnel/subscribers/policy/shell/place"
)

// wrapping says how a program passes on a command in its arguments.
type wrapping struct {
	short   string // letters of options that take a value
	long    string // long options that take a value, space-separated
	skip    int    // words before the command
	assigns bool   // NAME=value words before the command
	remote  bool   // the command runs elsewhere
	text    bool   // the words are joined and run by a shell
	sub     string // subcommand that has to stand first
	dashes  bool   // the command comes after "--"
}

func wrapperOf(name, sub string) (wrapping, bool) {
	switch name {
	case "sudo", "doas":
		return wrapping{short: "ugpCcDhRrtTU", long: "user group prompt chdir chroot host role type other-user close-from command-timeout", assigns: true}, true
	case "env":
		return wrapping{short: "uCS", long: "unset chdir split-string", assigns: true}, true
	case "nohup", "setsid", "builtin", "busybox", "toybox", "unbuffer", "catchsegv", "chronic", "fakeroot", "eatmydata", "rtk",
		"caffeinate", "noglob", "nocorrect", "nx-exec", "rlwrap", "pkexec", "gosu-exec", "uvx", "winpty", "coproc":
		return wrapping{}, true
	case "command":
		return wrapping{}, true
	case "exec":
		return wrapping{short: "a"}, true
	case "time", "gtime":
		return wrapping{short: "fo", long: "format output"}, true
	case "timeout", "gtimeout":
		return wrapping{short: "ks", long: "kill-after signal", skip: 1}, true
	case "nice", "gnice":
		return wrapping{short: "n", long: "adjustment"}, true
	case "ionice":
		return wrapping{short: "cnpPu", long: "class classdata pid"}, true
	case "chrt":
		return wrapping{short: "TPD", skip: 1}, true
	case "taskset":
		return wrapping{skip: 1}, true
	case "stdbuf", "gstdbuf":
		return wrapping{short: "ioe", long: "input output error"}, true
	case "xargs", "gxargs":
		return wrapping{short: "aEdIiLlnPs", long: "arg-file delimiter eof replace max-lines max-args max-procs max-chars process-slot-var"}, true
	case "chroot":
		return wrapping{long: "userspec groups", skip: 1}, true
	case "unshare", "nsenter":
		return wrapping{short: "tSGRwW", long: "target setuid setgid root wd map-user map-group"}, true
	case "flock":
		return wrapping{short: "wEc", long: "timeout wait conflict-exit-code", skip: 1}, true
	case "strace", "ltrace":
		return wrapping{short: "aeEIoOpPsSuUX", long: "output expr attach"}, true
	case "firejail", "bwrap", "systemd-run", "proxychains", "proxychains4", "torsocks", "arch", "dbus-run-session", "dbus-launch",
		"xvfb-run", "sshpass", "op", "doppler", "infisical", "dotenv", "dotenvx", "aws-vault", "chamber", "with-contenv", "s6-setuidgid":
		return wrapping{short: "pnsue", long: "unit property uid gid setenv env profile bind ro-bind dev-bind tmpfs proc dev chdir", dashes: name == "op" || name == "doppler" || name == "infisical" || name == "aws-vault" || name == "chamber"}, true
	case "watch":
		return wrapping{short: "nqw", long: "interval", text: true}, true
	case "script":
		return wrapping{short: "cEIOBTmo", long: "command"}, true
	case "parallel":
		return wrapping{short: "jIaNnLsSP", long: "jobs colsep delay timeout retries joblog results tmpdir", text: true}, true
	case "ssh":
		return wrapping{short: "BbcDEeFIiJLlmOopQRSWw", skip: 1, remote: true, text: true}, true
	case "npx", "bunx", "pnpx":
		return wrapping{short: "pc", long: "package call"}, true
	case "npm", "pnpm", "yarn", "bun", "poetry", "pipenv", "uv", "bundle", "mise", "asdf", "rye", "hatch", "pdm", "direnv", "devbox", "nix", "volta", "pixi", "conda", "mamba", "dotnet", "cargo":
		switch sub {
		case "exec", "dlx", "x", "run", "tool":
			if sub == "run" && (name == "npm" || name == "pnpm" || name == "yarn" || name == "bun" || name == "nix" || name == "cargo" || name == "dotnet" || name == "pixi") {
				return wrapping{}, false
			}
			w := wrapping{sub: sub, short: "pnC", long: "package with python prefix name directory extra group from env-file"}
			w.dashes = name == "mise" || name == "npm" && sub == "exec"
			if name == "direnv" {
				w.skip = 1
			}
			return w, true
		}
	case "docker", "podman", "nerdctl":
		switch sub {
		case "exec":
			return wrapping{sub: sub, short: "euw", long: "env env-file user workdir detach-keys", skip: 1, remote: true}, true
		case "run":
			return wrapping{sub: sub, short: "aceuwvplhm", long: "attach add-host env env-file user workdir volume publish label hostname memory name network entrypoint mount platform cpus pull restart ipc pid device gpus cap-add cap-drop security-opt tmpfs ulimit shm-size log-driver dns link", skip: 1, remote: true}, true
		}
	case "kubectl", "oc":
		if sub == "exec" {
			return wrapping{sub: sub, short: "ncf", long: "namespace container", dashes: true, remote: true}, true
		}
	}
	return wrapping{}, false
}

// wrapper reads the command in the arguments of a wrapper.
func (a *analyzer) wrapper(sc *scope, c *Command, fields []field, out around) bool {
	if c.Name == "find" || c.Name == "fd" || c.Name == "fdfind" {
		a.find(sc, c, fields, out)
		return true
	}
	sub := ""
	if len(fields) > 1 {
		sub = fields[1].text
	}
	w, ok := wrapperOf(c.Name, sub)
	if !ok {
		return false
	}
	args := fields[1:]
	if c.Name == "command" && len(args) > 0 && (args[0].text == "-v" || args[0].text == "-V") {
		return true
	}
	if w.sub != "" {
		c.Sub = w.sub
		args = args[1:]
	}
	next := around{wrappers: with(out.wrappers, c.Name), remote: out.remote || w.remote, input: out.input}
	at := sc
	rest := a.wrapped(&at, c, args, w, next)
	switch {
	case len(rest) == 0:
		if c.Remote = w.remote; w.remote && c.Name == "ssh" && (out.input.here || len(out.input.from) > 0) {
			next.input = out.input
			c.Shell = true
			a.stdin(sc, c, around{wrappers: out.wrappers, input: out.input, remote: true})
		}
		if (c.Name == "sudo" || c.Name == "doas") && (c.HasFlag("s") || c.HasFlag("i")) || c.Name == "busybox" {
			c.Shell = true
			a.stdin(sc, c, out)
		}
		if c.Name == "xargs" {
			a.opaqueIfFed(c, out)
		}
		return true
	case w.text:
		if c.Name == "parallel" {
			rest = a.parallel(c, rest, &next, out)
		}
		a.evaluate(at, c, rest, next.as(out))
		return true
	}
	if c.Name == "xargs" {
		rest = a.xargs(c, rest, &next, out)
	}
	if c.Name == "npx" || c.Name == "bunx" || c.Name == "pnpx" {
		rest[0].text = packageName(rest[0].text)
	}
	a.run(at, rest, next)
	return true
}

// as is what surrounds the text of a wrapper.
func (n around) as(out around) around {
	return around{wrappers: out.wrappers, input: out.input, remote: n.remote}
}

func (a *analyzer) opaqueIfFed(_ *Command, _ around) {} // plain xargs echoes

// packageName is the program of a package: rimraf@5 is rimraf.
func packageName(p string) string {
	if i := strings.LastIndexByte(p, '@'); i > 0 {
		return p[:i]
	}
	return p
}

// wrapped skips a wrapper's own words. A directory that it changes to makes a
// scope of its own.
func (a *analyzer) wrapped(sc **scope, c *Command, args []field, w wrapping, next around) []field {
	if w.dashes {
		for i, f := range args {
			if f.text == "--" {
				return args[i+1:]
			}
		}
		return nil
	}
	for len(args) > 0 {
		f := args[0]
		word := f.text
		switch {
		case word == "--":
			args = args[1:]
			return args[min(w.skip, len(args)):]
		case len(word) > 1 && word[0] == '-' && !(f.dynamic && f.prefix == 0):
			args = args[1:]
			name, joined, value := strings.TrimLeft(word, "-"), field{}, false
			if strings.HasPrefix(word, "--") {
				var has bool
				var text string
				if name, text, has = strings.Cut(name, "="); has {
					joined, value = field{text: text, dynamic: f.dynamic, from: f.from}, true
				} else if contains(w.long, name) && len(args) > 0 {
					joined, value, args = args[0], true, args[1:]
				}
			} else if i := strings.IndexAny(name, w.short); w.short != "" && i >= 0 {
				if text := name[i+1:]; text != "" {
					joined, value = field{text: text, dynamic: f.dynamic, from: f.from}, true
				} else if len(args) > 0 {
					joined, value, args = args[0], true, args[1:]
				}
				name = name[i : i+1]
			}
			if value {
				a.wrapperOption(sc, c, name, joined, next)
			}
		case w.assigns && assignment(word):
			args = args[1:]
		default:
			if w.skip > 0 && c.Name == "flock" && len(args) > 2 && args[1].text == "-c" {
				a.evaluate((*sc).child(), c, args[2:3], next)
				return nil
			}
			return args[min(w.skip, len(args)):]
		}
	}
	return nil
}

// wrapperOption reads the options of wrappers that matter.
func (a *analyzer) wrapperOption(sc **scope, c *Command, name string, v field, next around) {
	switch {
	case c.Name == "env" && (name == "C" || name == "chdir"), c.Name == "sudo" && (name == "D" || name == "chdir"):
		child := (*sc).child()
		a.cd(child, []field{v})
		*sc = child
	case c.Name == "env" && (name == "S" || name == "split-string"),
		c.Name == "script" && (name == "c" || name == "command"),
		c.Name == "flock" && name == "c",
		c.Name == "npx" && (name == "c" || name == "call"):
		a.evaluate((*sc).child(), c, []field{v}, next)
	case c.Name == "ssh" && name == "o":
		if _, text, ok := strings.Cut(v.text, "ProxyCommand="); ok && !v.dynamic {
			a.text((*sc).child(), text, around{wrappers: next.wrappers})
		}
	case c.Name == "ssh" && name == "i":
		// The key is used as it is meant to be.
	case (c.Name == "docker" || c.Name == "podman") && (name == "v" || name == "volume"):
		from, _, _ := strings.Cut(v.text, ":")
		if strings.ContainsAny(from, "/.~") {
			v.text = from
			c.Paths = append(c.Paths, recursive(a.path(*sc, v, place.Use)))
		}
	}
}

func contains(words, name string) bool {
	for w := range strings.FieldsSeq(words) {
		if w == name {
			return true
		}
	}
	return false
}

func assignment(word string) bool {
	i := strings.IndexByte(word, '=')
	return i > 0 && strings.Trim(word[:i], "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_") == ""
}

// xargs adds what standard input is known to hold to the words.
func (a *analyzer) xargs(c *Command, rest []field, next *around, out around) []field {
	replace := ""
	for i, w := range c.Argv {
		switch {
		case w == "-I" && i+1 < len(c.Argv):
			replace = c.Argv[i+1]
		case strings.HasPrefix(w, "-I") && len(w) > 2:
			replace = w[2:]
		case w == "-i" || w == "--replace":
			replace = "{}"
		case strings.HasPrefix(w, "--replace="):
			replace = w[len("--replace="):]
		}
	}
	var items []string
	known := true
	switch in := out.input; {
	case in.known:
		items = strings.Fields(in.text)
	case len(in.under) > 0:
		items = in.under
	default:
		known = false
	}
	next.input = input{from: out.input.from}
	if replace != "" {
		var expanded []field
		for _, f := range rest {
			if !strings.Contains(f.text, replace) {
				expanded = append(expanded, f)
				continue
			}
			if !known {
				f.dynamic, f.prefix = true, strings.Index(f.text, replace)
				f.text = strings.ReplaceAll(f.text, replace, "$(stdin)")
				expanded = append(expanded, f)
				continue
			}
			for _, item := range items {
				if len(expanded) > maxFields {
					a.because(c, ReasonTooMany, "words for xargs")
					return expanded
				}
				g := f
				g.text = strings.ReplaceAll(f.text, replace, item)
				g.glob = g.glob || !out.input.known
				expanded = append(expanded, g)
			}
		}
		return expanded
	}
	rest = rest[:len(rest):len(rest)]
	for _, item := range items {
		rest = append(rest, field{text: item, glob: !out.input.known})
	}
	next.guess = !known
	return rest
}

// parallel replaces its ::: list.
func (a *analyzer) parallel(c *Command, rest []field, _ *around, out around) []field {
	for i, f := range rest {
		if f.text != ":::" && f.text != ":::+" && f.text != "::::" {
			continue
		}
		line := rest[:i:i]
		line = slices.Clone(line)
		braces, items, total := false, joinFields(rest[i+1:]), 0
		for j := range line {
			if strings.Contains(line[j].text, "{}") {
				braces = true
				if total += strings.Count(line[j].text, "{}") * len(items); total > MaxText {
					a.because(c, ReasonTooLong, "words for parallel")
					return line
				}
				line[j].text = strings.ReplaceAll(line[j].text, "{}", items)
			}
		}
		if !braces {
			line = append(line, rest[i+1:]...)
		}
		return line
	}
	if len(out.input.from) > 0 {
		return append(rest[:len(rest):len(rest)], field{text: "$(stdin)", dynamic: true})
	}
	return rest
}

func joinFields(fields []field) string {
	texts := make([]string, 0, len(fields))
	for _, f := range fields {
		texts = append(texts, f.text)
	}
	return strings.Join(texts, " ")
}

// find reads roots, -exec and -delete.
func (a *analyzer) find(sc *scope, c *Command, fields []field, out around) {
	args := fields[1:]
	var roots []field
	if c.Name == "find" {
		for len(args) > 0 && (args[0].text == "-H" || args[0].text == "-L" || args[0].text == "-P") {
			args = args[1:]
		}
		for len(args) > 0 && !strings.HasPrefix(args[0].text, "-") && args[0].text != "(" && args[0].text != "!" {
			roots, args = append(roots, args[0]), args[1:]
		}
	} else { // fd: pattern, then roots
		plain := c.Args
		for i, w := range plain {
			if i > 0 && looksLikePath(w) {
				roots = append(roots, field{text: w})
			}
		}
	}
	if len(roots) == 0 {
		roots = []field{{text: "."}}
	}
	op := place.List
	for _, f := range args {
		if f.text == "-delete" {
			op = place.Delete
		}
	}
	filtered := false
	for _, f := range args {
		switch f.text {
		case "-name", "-iname", "-path", "-ipath", "-regex", "-iregex", "-newer", "-mtime", "-size", "-empty", "-wholename", "-mmin", "-maxdepth":
			filtered = true
		case "-fprint", "-fls", "-fprintf", "-fprint0":
			a.because(c, ReasonArgs, f.text)
		}
	}
	for _, f := range roots {
		p := a.path(sc, f, op)
		if op == place.Delete && filtered && !p.Glob && !p.Unknown {
			// Some of what is below, not the directory itself.
			f.text, f.glob = strings.TrimSuffix(f.text, "/")+"/**/*?", true
			p = a.path(sc, f, op)
		}
		c.Paths = append(c.Paths, recursive(p))
	}
	for i := 0; i < len(args); i++ {
		switch args[i].text {
		case "-exec", "-execdir", "-ok", "-okdir", "-x", "--exec", "-X", "--exec-batch":
		default:
			continue
		}
		var inner []field
		for i++; i < len(args) && args[i].text != ";" && args[i].text != "+"; i++ {
			f := args[i]
			if !strings.Contains(f.text, "{}") {
				inner = append(inner, f)
				continue
			}
			for _, root := range roots {
				if len(inner) > maxFields {
					a.because(c, ReasonTooMany, "words for -exec")
					break
				}
				g := f
				below := root.text
				if filtered {
					below = strings.TrimSuffix(below, "/") + "/**/*?"
					g.glob = true
				}
				g.text = strings.ReplaceAll(f.text, "{}", below)
				g.dynamic = g.dynamic || root.dynamic
				inner = append(inner, g)
			}
		}
		if len(inner) > 0 {
			a.run(sc.child(), inner, around{wrappers: with(out.wrappers, c.Name), remote: out.remote, input: input{from: out.input.from}})
		}
	}
}

func recursive(p *place.Path) *place.Path {
	p.Recursive = true
	return p
}

// guessWrapper reads the tail of a program that is not known when it looks
// like a command.
func (a *analyzer) guessWrapper(sc *scope, c *Command, fields []field, out around) {
	if ordinary(c.Name) {
		return
	}
	for i, f := range fields[1:] {
		if f.dynamic || strings.HasPrefix(f.text, "-") {
			continue
		}
		switch name := base(f.text); {
		case name == "rm" || name == "dd" || name == "shred" || strings.HasPrefix(name, "mkfs") || name == "rimraf" ||
			(name == "sh" || name == "bash" || name == "zsh") && i+2 < len(fields) && strings.HasPrefix(fields[i+2].text, "-"):
			if i+2 >= len(fields) {
				return
			}
			a.because(c, ReasonWrapper, c.Name+" … "+name)
			a.run(sc.child(), fields[i+1:], around{wrappers: with(out.wrappers, c.Name)})
			return
		}
	}
}

// ordinary knows programs for which the words rm, dd and sh are only words.
func ordinary(name string) bool {
	switch name {
	case "", "echo", "printf", "git", "gh", "glab", "jj", "hg", "svn", "grep", "egrep", "fgrep", "rg", "ag", "ack", "man", "which", "whereis", "type", "whatis", "apropos",
		"hash", "test", "[", "docker", "podman", "nerdctl", "docker-compose", "kubectl", "helm", "npm", "pnpm", "yarn", "bun", "pip", "pip3", "cargo", "go",
		"apt", "apt-get", "dnf", "yum", "apk", "brew", "pacman", "snap", "aws", "gcloud", "gsutil", "az", "terraform", "conda", "mamba",
		"sed", "awk", "cat", "ls", "less", "head", "tail", "diff", "cp", "mv", "ln", "mkdir", "touch", "chmod", "chown", "rm", "dd", "shred", "rimraf",
		"curl", "wget", "tldr", "help", "info", "say", "logger", "basename", "dirname", "readlink", "realpath", "stat", "file", "command", "pgrep", "pkill", "killall",
		"ps", "kill", "fly", "flyctl", "heroku", "vercel", "rclone", "mc", "s3cmd", "restic", "ipfs", "vault", "consul", "nomad", "bd", "task", "make", "just",
		"nix-env", "shellcheck", "shfmt", "jq", "yq", "vagrant", "virsh", "lxc", "multipass", "zfs", "btrfs", "lvm", "uv", "poetry", "gem", "bundle", "mise", "asdf", "cd",
		"ip", "nmcli", "ssh-add", "ssh-keygen", "gpg", "tmux", "screen", "systemctl", "service", "crontab", "launchctl", "dpkg", "rpm", "code", "cursor", "grapnel", "dvc":
		return true
	}
	return false
}
