package cliagent

import (
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// bound is a command whose templates are references to environment variables.
// The text is a constant of the configuration.
type bound struct {
	text      string
	variables []boundVariable
}

// boundVariable is one variable and what it holds.
type boundVariable struct {
	name     string
	template template
	options  options
}

// options says what a value must not begin with, where a program could take it
// for an option.
type options int

const (
	anything  options = iota
	echoes            // not one of echo's options
	noOptions         // no '-'
)

// bind turns each template of a command into a reference to an environment
// variable, quoted as its place wants it. The command is analysed once, as sh
// and as bash read it, since /bin/sh is the one or the other; where they
// disagree, or a value would be read as program text, it is an error. Text
// without templates is left alone and is not looked at.
func bind(text string) (bound, error) {
	list, err := find(text)
	if err != nil || len(list) == 0 {
		return bound{text: text}, err
	}
	switch {
	case len(text) > maxText:
		return bound{}, fmt.Errorf("it has %d bytes; with templates in it, it may have %d", len(text), maxText)
	case strings.ContainsRune(text, 0):
		return bound{}, errors.New("there is a NUL byte in it")
	}
	m := mask(text, list)
	posix, err := parse(m, syntax.LangPOSIX)
	if err != nil {
		return bound{}, fmt.Errorf("the shell text cannot be read, so nothing can be put into it: %w", err)
	}
	bash, err := parse(m, syntax.LangBash)
	if err != nil {
		return bound{}, fmt.Errorf("the shell text cannot be read by every shell, so nothing can be put into it: %w", err)
	}
	if !slices.Equal(posix.places, bash.places) {
		return bound{}, errors.New("shells do not agree about the quotes around a template; write plain sh")
	}
	for _, t := range []*tree{posix, bash} {
		if err := t.hazard(); err != nil {
			return bound{}, fmt.Errorf("a value of the event would be executed: %w", err)
		}
	}
	b, refs := posix.write(text, list)
	return b, b.verify(refs)
}

// write puts the references in. What is not a template stays as it is.
func (t *tree) write(text string, list []template) (bound, []int) {
	var b bound
	var out strings.Builder
	var refs []int
	last := 0
	starts := t.optionPlaces()
	for i, original := range list {
		if t.places[i] == comment {
			continue
		}
		name := b.variable(original, starts[i])
		before, ref, after := t.places[i].reference(name)
		out.WriteString(text[last:original.start] + before)
		refs = append(refs, out.Len())
		out.WriteString(ref + after)
		last = original.end
	}
	out.WriteString(text[last:])
	b.text = out.String()
	return b, refs
}

// variable returns the name of the variable for a template, and adds it.
func (b *bound) variable(t template, o options) string {
	name := t.variable()
	for n := 2; ; n++ {
		i := slices.IndexFunc(b.variables, func(v boundVariable) bool { return v.name == name })
		if i < 0 {
			b.variables = append(b.variables, boundVariable{name: name, template: t, options: o})
			return name
		}
		if b.variables[i].template.String() == t.String() {
			b.variables[i].options = max(b.variables[i].options, o)
			return name
		}
		name = fmt.Sprintf("%s_%d", t.variable(), n)
	}
}

// verify reads the result again: each reference must be one, in double quotes
// or in a here-document.
func (b bound) verify(refs []int) error {
	for _, lang := range []syntax.LangVariant{syntax.LangPOSIX, syntax.LangBash} {
		file, err := syntax.NewParser(syntax.Variant(lang)).Parse(strings.NewReader(b.text), "")
		if err != nil {
			return fmt.Errorf("nothing can be put into this text: %w", err)
		}
		found := make(map[int]bool)
		t := tree{file: file}
		t.visit(func(n syntax.Node, above []syntax.Node) {
			p, ok := n.(*syntax.ParamExp)
			if !ok || p.Short || len(above) == 0 {
				return
			}
			for k := len(above) - 1; k >= 0; k-- {
				switch a := above[k].(type) {
				case *syntax.CmdSubst:
					return
				case *syntax.DblQuoted:
					found[int(p.Dollar.Offset())] = true
					return
				case *syntax.Redirect:
					if a.Hdoc != nil && a.Hdoc.Pos().Offset() <= p.Dollar.Offset() {
						found[int(p.Dollar.Offset())] = true
						return
					}
				}
			}
		})
		for _, at := range refs {
			if !found[at] {
				return errors.New("a template stands where it cannot be said how shells quote it; put the value into a variable of your own first: x={{…}}; and then \"$x\"")
			}
		}
	}
	return nil
}

// optionPlaces finds the templates with which a word of a command begins.
func (t *tree) optionPlaces() []options {
	list := make([]options, len(t.templates))
	t.visit(func(n syntax.Node, _ []syntax.Node) {
		call, ok := n.(*syntax.CallExpr)
		if !ok || len(call.Args) == 0 {
			return
		}
		name, _ := static(call.Args[0])
		rule := noOptions
		switch path.Base(name) {
		case "printf", ":", "true", "false":
			rule = anything
		case "echo":
			rule = echoes
		}
		for _, w := range call.Args[1:] {
			if text, ok := static(w); ok && text == "--" {
				return
			}
			for _, i := range t.in(w) {
				before := t.text[w.Pos().Offset():t.templates[i].start]
				for _, other := range t.in(w) {
					before = strings.ReplaceAll(before, t.text[t.templates[other].start:t.templates[other].end], "")
				}
				if strings.Trim(before, `'"`) == "" {
					list[i] = max(list[i], rule)
				}
			}
		}
	})
	return list
}
