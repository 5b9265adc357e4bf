package shell

import (
	"strings"

	"github.com/grapnel-dev/grapnel/subscribers/policy/shell/place"
)

// shell reads the programs that run text: shells, and interpreters of other
// languages, whose text stays opaque.
func (a *analyzer) shell(sc *scope, c *Command, fields []field, out around) bool {
	switch c.Name {
	case "sh", "bash", "zsh", "dash", "ksh", "ksh93", "mksh", "ash", "rbash", "fish", "csh", "tcsh", "yash", "elvish", "nu", "xonsh":
		a.posix(sc, c, fields[1:], out, "ceuxlisvfmnbhkpaotCEHPTOo", "O", "o")
		return true
	case "su", "runuser":
		// su [-] [user] -c text
		for i, f := range fields[1:] {
			if (f.text == "-c" || f.text == "--command" || f.text == "--session-command") && i+2 < len(fields) {
				a.evaluate(sc, c, fields[i+2:i+3], out)
			} else if text, ok := strings.CutPrefix(f.text, "--command="); ok {
				a.evaluate(sc, c, []field{{text: text, dynamic: f.dynamic}}, out)
			}
		}
		if out.input.from != nil || out.input.here {
			a.stdin(sc, c, out)
		}
		return true
	case "at", "batch":
		c.Shell = true
		if out.input.from != nil || out.input.here {
			a.stdin(sc, c, out)
		}
		return true
	case "pwsh", "powershell", "cmd":
		c.Shell = true
		c.Code = strings.Join(c.Argv[1:], " ")
		a.because(c, ReasonLanguage, c.Name)
		return true
	}
	code, ok := inline(c.Name)
	if !ok {
		return false
	}
	a.interpret(sc, c, fields[1:], out, code)
	return true
}

// posix reads the arguments of a shell.
func (a *analyzer) posix(sc *scope, c *Command, args []field, out around, _ string, valued ...string) {
	c.Shell = true
	text := false
	for len(args) > 0 {
		w := args[0].text
		if args[0].dynamic || len(w) < 2 || w[0] != '-' && w[0] != '+' {
			break
		}
		args = args[1:]
		if w == "--" {
			break
		}
		if strings.HasPrefix(w, "--") {
			switch name, _, joined := strings.Cut(w[2:], "="); {
			case name == "command": // fish
				text = true
			case (name == "rcfile" || name == "init-file") && !joined && len(args) > 0:
				a.scriptFile(sc, c, args[0], out)
				args = args[1:]
			}
			continue
		}
		text = text || strings.Contains(w[1:], "c")
		for _, v := range valued {
			if strings.HasSuffix(w, v) && len(args) > 0 && !text {
				args = args[1:]
				break
			}
		}
		if strings.Contains(w[1:], "s") && !text {
			args = nil
		}
	}
	switch {
	case text && len(args) > 0:
		a.evaluate(sc.child(), c, args[:1], out)
	case text:
	case len(args) > 0 && args[0].text != "-":
		a.scriptFile(sc, c, args[0], out)
	default:
		a.stdin(sc, c, out)
	}
}

// scriptFile reads a file that is run as a script.
func (a *analyzer) scriptFile(sc *scope, c *Command, f field, out around) {
	switch {
	case len(f.from) > 0 || strings.HasPrefix(f.text, "/dev/fd/"):
		c.FedBy = append(c.FedBy, f.from...)
		a.because(c, ReasonPipe, "it runs the output of "+strings.Join(f.from, ", "))
	case f.text == "/dev/stdin" || f.text == "/proc/self/fd/0":
		a.stdin(sc, c, out)
	default:
		c.Paths = append(c.Paths, a.path(sc, f, place.Run))
		if f.dynamic {
			a.because(c, ReasonCode, f.text)
			return
		}
		a.runFile(sc, c, f.text, out)
	}
}

// stdin reads a script from standard input.
func (a *analyzer) stdin(sc *scope, c *Command, out around) {
	in := out.input
	switch {
	case in.known:
		a.text(sc.child(), in.text, around{wrappers: with(out.wrappers, c.Name), remote: out.remote})
	case in.file != "":
		a.runFile(sc, c, in.file, out)
	case in.here || len(in.from) > 0:
		a.because(c, ReasonPipe, "its script comes from "+strings.Join(in.from, ", "))
	}
}

// inline names the options after which an interpreter takes code; the first
// word is code where the name is followed by "1".
func inline(name string) (flags string, ok bool) {
	switch trimVersion(name) {
	case "python", "pypy", "ipython":
		return "c", true
	case "node", "nodejs", "bun":
		return "e p eval print", true
	case "perl":
		return "e E", true
	case "ruby", "lua", "luajit", "Rscript", "julia", "elixir", "groovy", "scala", "osascript", "guile", "raku", "ghc", "crystal", "swift":
		return "e eval", true
	case "php":
		return "r B E", true
	case "deno":
		return "eval", true
	case "awk", "gawk", "mawk", "nawk":
		return "1", true
	case "emacs":
		return "eval", true
	case "vim", "vi", "nvim", "ex":
		return "c cmd", true
	case "tclsh", "expect":
		return "c", true
	case "sqlite", "psql", "mysql", "mongosh", "redis-cli":
		return "", false
	}
	return "", false
}

func trimVersion(name string) string { return strings.TrimRight(name, "0123456789.") }

// interpret looks for inline code.
func (a *analyzer) interpret(sc *scope, c *Command, args []field, out around, flags string) {
	want := strings.Fields(flags)
	operand := false
	for i := 0; i < len(args); i++ {
		f := args[i]
		w := f.text
		switch {
		case flags == "1" && !operand && !strings.HasPrefix(w, "-"):
			operand = true
			a.awk(c, f)
		case flags == "1" && (w == "-f" || w == "-v" || w == "-F"):
			operand = operand || w == "-f"
			i++
		case !operand && strings.HasPrefix(w, "-") && w != "-":
			name, joined, has := strings.Cut(strings.TrimLeft(w, "-"), "=")
			for _, v := range want {
				short := len(v) == 1 && !strings.HasPrefix(w, "--") && strings.HasSuffix(name, v) && !strings.ContainsAny(name, "/.")
				switch {
				case (name == v || short) && has:
					a.code(c, field{text: joined, dynamic: f.dynamic, from: f.from})
				case (name == v || short) && i+1 < len(args):
					i++
					a.code(c, args[i])
				case len(v) == 1 && strings.HasPrefix(name, v) && !strings.HasPrefix(w, "--") && len(name) > 1 && trimVersion(c.Name) != "perl":
					a.code(c, field{text: name[1:], dynamic: f.dynamic, from: f.from})
				default:
					continue
				}
				break
			}
			if w == "-m" || w == "--module" {
				o := operandReader{a: a, sc: sc, c: c, fields: args[min(i+2, len(args)):], out: out}
				o.unknown()
				return
			}
		case flags == "eval" && c.Name == "deno" && !operand && w == "eval" && i+1 < len(args):
			a.code(c, args[len(args)-1])
			return
		case !operand && w != "-":
			operand = true
			if len(f.from) > 0 {
				c.FedBy = append(c.FedBy, f.from...)
				a.because(c, ReasonPipe, "it runs the output of "+strings.Join(f.from, ", "))
				continue
			}
			p := a.path(sc, f, place.Run)
			c.Paths = append(c.Paths, p)
			if written, ok := a.written[p.Abs]; ok && p.Abs != "" {
				c.FedBy = append(c.FedBy, written.by...)
				a.code(c, field{text: written.text})
			}
		default:
			if looksLikePath(w) && !f.dynamic {
				c.Paths = append(c.Paths, a.path(sc, f, place.Use))
			}
		}
	}
	if !operand && c.Code == "" && flags != "1" {
		switch in := out.input; {
		case in.known:
			a.code(c, field{text: in.text})
		case in.here || len(in.from) > 0:
			a.because(c, ReasonPipe, "its program comes from "+strings.Join(in.from, ", "))
		}
	}
}

func (a *analyzer) code(c *Command, f field) {
	if c.Code != "" {
		c.Code += "\n"
	}
	c.Code += f.text
	c.FedBy = append(c.FedBy, f.from...)
	a.because(c, ReasonInline, c.Name)
	if len(f.from) > 0 {
		a.because(c, ReasonCode, "code from "+strings.Join(f.from, ", "))
	}
}

// awk programs are code when they can do more than print.
func (a *analyzer) awk(c *Command, f field) {
	if f.dynamic || strings.Contains(f.text, "system") || strings.Contains(f.text, "getline") || strings.Contains(f.text, "print") && strings.ContainsAny(f.text, ">|") ||
		strings.Contains(f.text, "|") && !strings.Contains(f.text, "||") {
		a.code(c, f)
	}
}
