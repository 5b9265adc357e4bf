package place

import (
	"io/fs"
	"os"
	"path"
	"strings"
)

// Limits of one glob.
const (
	mostNames   = 10_000 // in one directory
	mostMatches = 4096
)

// expansion is what a glob names on the file system.
type expansion struct {
	names     []string // as the shell would write them
	elsewhere []string // where those lead that are or pass links
	whole     bool     // no limit was reached
}

// search reports whether a glob stands for what a search finds below a
// directory, which is not looked up.
func (p *Path) search() bool { return strings.Contains(p.Abs, "**") }

// expand looks a glob up, once.
func (p *Path) expand() *expansion {
	if p.expanded == nil {
		dir := p.Dir()
		p.expanded = p.resolver.glob(dir, split(p.Abs[len(dir):]))
	}
	return p.expanded
}

type match struct {
	name   string
	linked bool
}

func (r *Resolver) glob(dir string, comps []string) *expansion {
	out := &expansion{whole: true}
	matches := []match{{name: dir}}
	for i, c := range comps {
		var next []match
		for _, m := range matches {
			if !strings.ContainsAny(c, "*?[") {
				name := path.Join(m.name, c)
				target, exists, ok := r.link(name)
				out.whole = out.whole && ok
				if exists || i == len(comps)-1 {
					next = append(next, match{name, m.linked || target != ""})
				}
				continue
			}
			next = append(next, r.entries(m, c, out)...)
			if len(next) > mostMatches {
				out.whole = false
				break
			}
		}
		matches = next
	}
	for _, m := range matches {
		out.names = append(out.names, m.name)
		if !m.linked {
			continue
		}
		if real, ok := r.follow(m.name); ok {
			out.elsewhere = append(out.elsewhere, real)
		} else {
			out.whole = false
		}
	}
	return out
}

// entries are the names in a directory that match one component.
func (r *Resolver) entries(in match, pattern string, out *expansion) []match {
	if r.lookups += 16; r.lookups > MaxLookups {
		out.whole = false
		return nil
	}
	f, err := os.Open(in.name)
	if err != nil {
		return nil
	}
	defer f.Close()
	// The kind of an entry comes with its name: no look-up for each.
	list, err := f.ReadDir(mostNames)
	if len(list) == mostNames && err == nil {
		out.whole = false
	}
	var next []match
	for _, e := range list {
		if component(pattern, e.Name()) {
			next = append(next, match{path.Join(in.name, e.Name()), in.linked || e.Type()&fs.ModeSymlink != 0})
		}
	}
	return next
}
