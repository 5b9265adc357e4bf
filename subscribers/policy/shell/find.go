package shell

import (
	"strings"

	"github.com/grapnel-dev/grapnel/subscribers/policy/shell/place"
)

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
	filtered := findFilters(args)
	for _, f := range args {
		switch f.text {
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

// findFilters reports whether find's tests leave anything out by name, age or
// size.
func findFilters(args []field) bool {
	for i, f := range args {
		switch f.text {
		case "-empty":
			return true
		case "-name", "-iname", "-path", "-ipath", "-regex", "-iregex", "-newer", "-mtime", "-size", "-wholename", "-mmin", "-perm":
			if i+1 < len(args) && strings.Trim(args[i+1].text, "*?./+") != "" && (i == 0 || args[i-1].text != "!" && args[i-1].text != "-not") {
				return true
			}
		}
	}
	return false
}

func recursive(p *place.Path) *place.Path {
	p.Recursive = true
	return p
}
