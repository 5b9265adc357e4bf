package shell

import (
	"slices"
	"strings"
)

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
