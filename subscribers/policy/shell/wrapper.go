package shell

import (
	"strings"

	"github.com/grapnel-dev/grapnel/subscribers/policy/shell/place"
)

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
			if value && c.Name == "env" && (name == "S" || name == "split-string") {
				// Its value is split, and the words after it follow.
				a.evaluate((*sc).child(), c, append([]field{joined}, args...), next)
				return nil
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
	case c.Name == "script" && (name == "c" || name == "command"),
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
