package shell

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"github.com/grapnel-dev/grapnel/subscribers/policy/shell/place"
)

// assign reads assignments that stay: x=1, export x=1.
func (a *analyzer) assign(sc *scope, list []*syntax.Assign) {
	for _, as := range list {
		a.inner(sc, as)
		if as.Name == nil {
			continue
		}
		v := a.assigned(sc, as)
		if as.Append {
			v = value{dynamic: true}
		}
		if as.Naked {
			continue
		}
		a.hooked(sc, as, v)
		sc.set(as.Name.Value, v)
	}
}

// assigned is the value of an assignment.
func (a *analyzer) assigned(sc *scope, as *syntax.Assign) value {
	if as.Array != nil || as.Index != nil {
		return value{dynamic: true}
	}
	if as.Value == nil {
		return value{texts: []string{""}}
	}
	var v value
	for _, fields := range a.alternatives(sc, as.Value.Parts) {
		var texts []string
		dynamic := false
		for _, f := range fields {
			dynamic = dynamic || f.dynamic
			texts = append(texts, f.text)
		}
		if text := strings.Join(texts, " "); dynamic || len(text) > maxValue {
			v.dynamic = true
		} else {
			v.texts = append(v.texts, text)
		}
	}
	return v
}

// hooked reads the values of variables that programs run as commands.
func (a *analyzer) hooked(sc *scope, as *syntax.Assign, v value) {
	switch as.Name.Value {
	case "GIT_SSH_COMMAND", "GIT_PAGER", "PAGER", "MANPAGER", "GIT_EDITOR", "EDITOR", "VISUAL", "GIT_SEQUENCE_EDITOR",
		"GIT_EXTERNAL_DIFF", "GIT_ASKPASS", "SSH_ASKPASS", "PROMPT_COMMAND", "LESSOPEN", "RIPGREP_CONFIG_PATH", "BASH_ENV", "ENV":
		for _, text := range v.texts {
			if strings.ContainsAny(text, " ;|&$`") {
				a.text(sc.child(), text, around{wrappers: []string{as.Name.Value}})
			}
		}
	}
}

// call reads one simple command.
func (a *analyzer) call(sc *scope, c *syntax.CallExpr, out around) {
	var fed []string
	for _, w := range c.Args {
		fed = append(fed, a.inner(sc, w)...)
	}
	if len(c.Args) == 0 {
		a.assign(sc, c.Assigns)
		a.bare(out)
		return
	}
	for _, as := range c.Assigns {
		a.inner(sc, as)
		if as.Name != nil && !as.Naked {
			a.hooked(sc, as, a.assigned(sc, as))
		}
	}
	out.env = c.Assigns
	if len(fed) > 0 {
		// What stands in the words is read by the command too; it is kept
		// apart from standard input by having no text.
		out.input.from = append(out.input.from[:len(out.input.from):len(out.input.from)], fed...)
	}
	rest := a.words(sc, c.Args[1:])
	syntax.SplitBraces(c.Args[0])
	if !braced(c.Args[0]) {
		variants := a.alternatives(sc, c.Args[0].Parts)
		for i, fields := range variants {
			at := sc
			if i < len(variants)-1 {
				at = sc.child()
			}
			a.run(at, slices.Concat(fields, rest), out)
		}
		return
	}
	a.run(sc, append(a.word(sc, c.Args[0]), rest...), out)
}

func braced(w *syntax.Word) bool {
	return slices.ContainsFunc(w.Parts, func(p syntax.WordPart) bool {
		_, ok := p.(*syntax.BraceExp)
		return ok
	})
}

// run reads a command whose words are known.
func (a *analyzer) run(sc *scope, fields []field, out around) {
	if len(fields) == 0 {
		a.bare(out)
		return
	}
	if len(a.script.Commands) >= MaxCommands {
		a.opaque(ReasonTooMany, "commands")
		return
	}
	if !a.enter("wrappers") {
		return
	}
	defer a.leave()

	for _, text := range out.extra {
		fields = append(fields[:len(fields):len(fields)], field{text: text})
	}
	if out.guess {
		fields = append(fields[:len(fields):len(fields)], field{text: "$(stdin)", dynamic: true})
	}
	out.extra, out.guess = nil, false

	c := &Command{Directory: sc.dir, Wrappers: out.wrappers, Remote: out.remote, Depth: a.depth}
	words := make([]string, 0, len(fields))
	for _, f := range fields {
		words = append(words, f.text)
		c.Dynamic = c.Dynamic || f.dynamic
		c.Vars = append(c.Vars, f.vars...)
	}
	c.Argv = words
	c.FedBy = out.input.from
	name := fields[0]
	switch {
	case name.dynamic && name.prefix < len(name.text)-len(base(name.text)):
		// The directory is not known, the name is: $BIN/tool.
		fallthrough
	case name.dynamic:
		if n := tail(name); n != "" {
			c.Name = n
		} else {
			a.because(c, ReasonName, name.text)
		}
	case name.glob:
		a.because(c, ReasonName, name.text)
	default:
		c.Name = base(strings.TrimPrefix(name.text, "="))
	}
	c.flags, c.Args = parseFlags(words[1:])
	c.Recurses = c.Name != "" && slices.Contains(sc.inside, c.Name)
	a.record(c, out)
	a.effects(sc, c, fields, out)
}

// tail is the known last component of a name whose directory is not known.
func tail(f field) string {
	i := strings.LastIndexByte(f.text, '/')
	if i < 0 || strings.ContainsAny(f.text[i:], "$`(") {
		return ""
	}
	return f.text[i+1:]
}

func (a *analyzer) because(c *Command, code, detail string) {
	c.Reasons = append(c.Reasons, Reason{Code: code, Detail: clip(detail)})
	a.opaque(code, detail)
}

// record adds a command with its redirections.
func (a *analyzer) record(c *Command, out around) *Command {
	c.Wrappers = out.wrappers
	for _, r := range out.redirs {
		if r.Command == "" {
			r.Command = c.Name
		}
		c.Paths = append(c.Paths, r.Target)
	}
	a.script.Commands = append(a.script.Commands, c)
	a.script.named[c.Name] = append(a.script.named[c.Name], c)
	for _, r := range out.redirs {
		if r.Op == place.Write && r.Target.Abs != "" {
			a.wrote(r.Target.Abs, written{by: append([]string{c.Name}, c.FedBy...)})
		}
	}
	return c
}

// effects reads what the command does.
func (a *analyzer) effects(sc *scope, c *Command, fields []field, out around) {
	if f := a.functions[c.Name]; f != nil && !c.Recurses {
		sc.merge(f)
	}
	switch {
	case c.Name == "":
	case a.builtin(sc, c, fields, out):
	case a.shell(sc, c, fields, out):
	case a.wrapper(sc, c, fields, out):
	case c.Remote:
	default:
		a.content(sc, c, fields, out)
		a.operands(sc, c, fields, out)
		a.ranWritten(sc, c, fields, out)
		a.guessWrapper(sc, c, fields, out)
	}
}

// content remembers what the script writes into files, so that running them
// is understood.
func (a *analyzer) content(sc *scope, c *Command, fields []field, out around) {
	text, known := "", false
	switch c.Name {
	case "echo", "printf":
		text, known = a.printed(sc, fields)
	case "cat", "tee":
		if len(c.Args) == 0 || c.Name == "tee" {
			text, known = out.input.text, out.input.known
		}
	}
	for _, r := range out.redirs {
		if r.Op == place.Write && !r.Target.Unknown {
			w := written{text: text, known: known && !r.Append, by: append([]string{c.Name}, c.FedBy...)}
			if old, ok := a.written[r.Target.Abs]; ok && r.Append && known && old.known {
				w.text, w.known = old.text+"\n"+text, true
			}
			a.wrote(r.Target.Abs, w)
		}
	}
	if c.Name == "tee" {
		for _, f := range fields[1:] {
			if at := sc.abs(f.text); at != "" && !strings.HasPrefix(f.text, "-") {
				a.wrote(at, written{text: text, known: known, by: append([]string{c.Name}, c.FedBy...)})
			}
		}
	}
}

func (a *analyzer) wrote(at string, w written) {
	if a.written == nil {
		a.written = map[string]written{}
	}
	a.written[at] = w
}

// ranWritten reads a file that the script wrote and now runs by its name.
func (a *analyzer) ranWritten(sc *scope, c *Command, fields []field, out around) {
	if !strings.Contains(fields[0].text, "/") {
		return
	}
	a.runFile(sc, c, fields[0].text, out)
}

// runFile reads a file that is run as a script, if this script wrote it.
func (a *analyzer) runFile(sc *scope, c *Command, name string, out around) {
	at := sc.abs(name)
	w, ok := a.written[at]
	if at == "" || !ok {
		return
	}
	c.Shell = true
	c.FedBy = append(c.FedBy, w.by...)
	if !w.known {
		a.because(c, ReasonPipe, "it runs "+name+", which it wrote itself")
		return
	}
	delete(a.written, at) // a file that runs itself is read once
	if shebang(w.text) {
		a.text(sc.child(), w.text, around{wrappers: with(out.wrappers, c.Name), input: out.input})
	} else {
		c.Code = w.text
		a.because(c, ReasonInline, c.Name)
	}
	a.written[at] = w
}

// shebang reports whether a script's first line leaves it to a shell.
func shebang(text string) bool {
	line, _, _ := strings.Cut(text, "\n")
	return !strings.HasPrefix(line, "#!") || strings.Contains(line, "sh")
}

func with(wrappers []string, name string) []string {
	return append(wrappers[:len(wrappers):len(wrappers)], name)
}
