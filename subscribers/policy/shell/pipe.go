package shell

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

func (a *analyzer) pipe(sc *scope, c *syntax.BinaryCmd, out around) {
	stages := flatten(c, syntax.Pipe, syntax.PipeAll)
	in := out.input
	var spans [][2]int
	for i, s := range stages {
		stage := out
		stage.input = in
		start := len(a.script.Commands)
		a.stmt(sc.child(), s, stage)
		spans = append(spans, [2]int{start, len(a.script.Commands)})
		if i+1 < len(stages) {
			in = a.piped(sc, s, in, a.script.Commands[start:])
		}
	}
	// What a command feeds is known once the rest has been read.
	for i, span := range spans[:len(spans)-1] {
		var feeds []string
		for _, later := range spans[i+1:] {
			for _, c := range a.script.Commands[later[0]:later[1]] {
				if feeds = append(feeds, c.Name); len(feeds) >= 64 {
					break
				}
			}
		}
		for _, c := range a.script.Commands[span[0]:span[1]] {
			c.Feeds = append(c.Feeds, feeds...)
		}
	}
}

// piped is what a stage hands to the next.
func (a *analyzer) piped(sc *scope, s *syntax.Stmt, in input, ran []*Command) input {
	next := input{from: in.from}
	for _, c := range ran {
		name := c.Name
		if name == "" {
			name = "?"
		}
		if len(next.from) < 64 {
			next.from = append(next.from[:len(next.from):len(next.from)], name)
		}
	}
	if call, ok := s.Cmd.(*syntax.CallExpr); ok && len(s.Redirs) == 0 && len(call.Args) > 0 {
		next.text, next.known = a.printed(sc, a.words(sc, call.Args))
	}
	if len(ran) > 0 {
		switch first := ran[0]; first.Name {
		case "find", "fd", "fdfind":
			for _, p := range first.Paths {
				if !p.Unknown {
					next.under = append(next.under, strings.TrimSuffix(p.Dir(), "/")+found(first))
				}
			}
		case "ls":
			for _, p := range first.Paths {
				switch {
				case p.Glob:
					next.under = append(next.under, p.Abs)
				case !p.Unknown:
					next.under = append(next.under, strings.TrimSuffix(p.Abs, "/")+"/*")
				}
			}
			if len(first.Paths) == 0 && first.Directory != "" {
				next.under = []string{strings.TrimSuffix(first.Directory, "/") + "/*"}
			}
		case "grep", "egrep", "rg", "sort", "head", "tail", "uniq", "sed", "cut", "tr", "awk":
			for _, glob := range in.under {
				next.under = append(next.under, strings.TrimSuffix(strings.TrimSuffix(glob, "/*"), "/**")+"/**/*?")
			}
		case "cat":
			if in.here {
				next.text, next.known = in.text, in.known
			}
		}
	}
	return next
}

// found is the pattern of what find prints below a root: everything, or what
// its tests select.
func found(find *Command) string {
	args := make([]field, 0, len(find.Argv))
	for _, w := range find.Argv[1:] {
		args = append(args, field{text: w})
	}
	if find.Name != "find" || findFilters(args) {
		return "/**/*?"
	}
	return "/**"
}
