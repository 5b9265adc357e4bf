package shell

import (
	"strings"
)

// builtin reads the commands that change the shell itself or run text in it.
func (a *analyzer) builtin(sc *scope, c *Command, fields []field, out around) bool {
	args := fields[1:]
	switch c.Name {
	case "cd", "pushd", "chdir":
		a.cd(sc, args)
	case "popd":
		sc.dir, sc.before = "", ""
	case "eval":
		a.evaluate(sc, c, args, out)
	case "trap":
		args = skipFlags(args)
		if len(args) > 1 && args[0].text != "-" {
			a.evaluate(sc.child(), c, args[:1], out)
		}
	case "alias":
		for _, f := range args {
			if _, text, ok := strings.Cut(f.text, "="); ok && !f.dynamic {
				a.text(sc.child(), text, around{wrappers: with(out.wrappers, "alias")})
			} else if ok {
				a.because(c, ReasonCode, f.text)
			}
		}
	case "source", ".":
		c.Shell = true
		if len(args) > 0 {
			a.scriptFile(sc, c, args[0], out)
		}
	case "unset", "read", "mapfile", "readarray", "getopts":
		for _, f := range args {
			if !strings.HasPrefix(f.text, "-") {
				sc.set(f.text, value{dynamic: true})
			}
		}
	case "nix-shell", "tmux", "screen":
		a.terminal(sc, c, args, out)
	case "set", "shift":
	default:
		return false
	}
	return true
}

func (a *analyzer) cd(sc *scope, args []field) {
	args = skipFlags(args)
	to := ""
	switch {
	case len(args) == 0:
		to = a.places.Home
	case args[0].text == "-":
		to = sc.before
	case args[0].dynamic || args[0].glob || strings.HasPrefix(args[0].text, "+"):
	default:
		if to = sc.abs(args[0].text); len(a.links) > 0 {
			to = sc.abs(a.linked(sc, strings.TrimSuffix(args[0].text, "/")+"/"))
		}
	}
	sc.move(to)
}

// terminal reads the programs that run a text in a shell of their own.
func (a *analyzer) terminal(sc *scope, c *Command, args []field, out around) {
	for i, f := range args {
		switch {
		case c.Name == "nix-shell" && (f.text == "--run" || f.text == "--command") && i+1 < len(args):
			a.evaluate(sc.child(), c, args[i+1:i+2], out)
		case c.Name == "tmux" && !f.dynamic && strings.ContainsAny(f.text, " ;|"):
			a.text(sc.child(), f.text, around{wrappers: with(out.wrappers, c.Name)})
		case c.Name == "screen" && !f.dynamic && !strings.HasPrefix(f.text, "-"):
			if i > 0 && (args[i-1].text == "-S" || args[i-1].text == "-r" || args[i-1].text == "-c") {
				continue
			}
			a.run(sc.child(), args[i:], around{wrappers: with(out.wrappers, c.Name)})
			return
		}
	}
}

// evaluate reads words that are joined and run as a script.
func (a *analyzer) evaluate(sc *scope, c *Command, args []field, out around) {
	c.Shell = true
	texts := make([]string, 0, len(args))
	for _, f := range args {
		if f.dynamic {
			a.because(c, ReasonCode, f.text)
			c.FedBy = append(c.FedBy, f.from...)
			return
		}
		texts = append(texts, f.text)
	}
	a.text(sc, strings.Join(texts, " "), around{wrappers: with(out.wrappers, c.Name), input: out.input, remote: out.remote})
}

// skipFlags drops leading options.
func skipFlags(args []field) []field {
	for len(args) > 0 && len(args[0].text) > 1 && args[0].text[0] == '-' && !args[0].dynamic {
		if args[0].text == "--" {
			return args[1:]
		}
		args = args[1:]
	}
	return args
}
