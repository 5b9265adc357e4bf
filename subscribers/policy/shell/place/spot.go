package place

import "strings"

// spot is a path as patterns see it: lower case, and cut at its slashes once
// for all patterns of all sets.
type spot struct {
	lower string
	comps []string
}

func newSpot(p string) spot {
	lower := strings.ToLower(p)
	return spot{lower: lower, comps: split(lower)}
}

// spots returns the path as written and with its links followed.
func (p *Path) spots() (abs, real *spot) {
	if p.absSpot == nil {
		s := newSpot(p.Abs)
		p.absSpot = &s
	}
	switch at := p.Real(); {
	case at == p.Abs:
		return p.absSpot, p.absSpot
	case p.realSpot == nil || at == "":
		s := newSpot(at)
		p.realSpot = &s
	}
	return p.absSpot, p.realSpot
}

// split cuts a path at its slashes; empty components do not count.
func split(p string) []string {
	out := make([]string, 0, strings.Count(p, "/")+1)
	for p != "" {
		var c string
		if c, p, _ = strings.Cut(p, "/"); c != "" {
			out = append(out, c)
		}
	}
	return out
}
