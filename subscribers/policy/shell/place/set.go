package place

import (
	"fmt"
	"path"
	"strings"
)

// Set is a named list of path patterns; see the package comment.
type Set struct {
	in, out []pattern
}

type pattern struct {
	home     bool // relative to the home directory
	anchored bool // from the root
	comps    []part
	fixed    string // the leading components without wildcards, joined
}

// part is one component of a pattern.
type part struct {
	text string // lower case; "**" is any number
	wild bool   // holds wildcards
}

const wildcards = "*?[\\"

// NewSet compiles patterns.
func NewSet(patterns []string) (*Set, error) {
	s := &Set{}
	for _, text := range patterns {
		body, negated := strings.CutPrefix(text, "!")
		p, err := compile(body)
		if err != nil {
			return nil, fmt.Errorf("path pattern %q: %w", text, err)
		}
		if negated {
			s.out = append(s.out, p)
		} else {
			s.in = append(s.in, p)
		}
	}
	return s, nil
}

func compile(text string) (pattern, error) {
	var p pattern
	body := strings.ToLower(text)
	switch {
	case body == "" || body == "/" || body == "~" || body == "~/":
		return p, fmt.Errorf("it names everything; write a directory or a file")
	case strings.HasPrefix(body, "~/"):
		p.home, p.anchored, body = true, true, body[2:]
	case strings.HasPrefix(body, "~"):
		return p, fmt.Errorf("only ~/ can begin a pattern")
	case strings.HasPrefix(body, "/"):
		p.anchored = true
	}
	for _, c := range split(body) {
		if c == "." || c == ".." {
			return p, fmt.Errorf("it must not contain %q", c)
		}
		p.comps = append(p.comps, part{text: c, wild: strings.ContainsAny(c, wildcards)})
	}
	for _, c := range p.comps {
		if strings.ContainsAny(c.text, "*?[") {
			break
		}
		p.fixed = path.Join(p.fixed, c.text)
	}
	if strings.Count(body, "**") > 2 {
		return p, fmt.Errorf("it may hold ** at most twice")
	}
	if len(p.comps) == 0 || len(p.comps) > 32 || len(text) > 512 {
		return p, fmt.Errorf("it must have 1 to 32 components and at most 512 bytes")
	}
	return p, nil
}

// Has reports whether the path is in the set, as written or with its links
// followed.
func (s *Set) Has(p *Path) bool {
	if p.Unknown {
		return false
	}
	for _, k := range p.known {
		if k.set == s {
			return k.has
		}
	}
	has := false
	if p.Glob {
		has = s.hasGlob(p)
	} else {
		has = s.hasSpot(p)
	}
	p.known = append(p.known, membership{s, has})
	return has
}

// Covered reports whether the path takes something of the set along: it is
// recursive, or deleted, and a directory above an anchored pattern.
func (s *Set) Covered(p *Path) bool {
	if p.Unknown || !p.Recursive && p.Op != Delete {
		return false
	}
	abs, real := p.spots()
	both := [2]string{abs.lower, real.lower}
	for i, at := range both {
		if whole := wholeDir(at); p.Glob && whole != "" {
			both[i] = whole
		}
	}
	for i := range s.in {
		if s.in[i].anchored && (s.in[i].beneath(both[0], p.resolver) || both[1] != both[0] && s.in[i].beneath(both[1], p.resolver)) {
			return true
		}
	}
	return false
}

// beneath reports whether the fixed leading part of an anchored pattern leads
// below a directory.
func (p *pattern) beneath(dir string, r *Resolver) bool {
	top := "" // without the slash after it
	if p.home {
		if top = r.cleanHome; top == "" {
			return false
		}
	}
	switch {
	case dir == "" || p.fixed == "" && dir == top:
		return false
	case len(dir) <= len(top):
		return below(top, dir)
	case dir == "/":
		return p.fixed != "" // top is empty
	case !strings.HasPrefix(dir, top) || dir[len(top)] != '/':
		return false
	}
	rest := dir[len(top)+1:]
	return rest != p.fixed && below(p.fixed, rest)
}

// hasSpot is Has for a path that is no glob.
func (s *Set) hasSpot(p *Path) bool {
	if p.absSpot == nil {
		at := newSpot(p.Abs)
		p.absSpot = &at
	}
	if s.match(p.absSpot, p.resolver) {
		return true
	}
	abs, real := p.spots()
	return abs != real && s.match(real, p.resolver)
}

func (s *Set) match(at *spot, r *Resolver) bool {
	return anyMatch(s.in, at, r, false) && !anyMatch(s.out, at, r, false)
}

func (s *Set) matchText(p string, r *Resolver) bool {
	at := newSpot(p)
	return s.match(&at, r)
}

func (s *Set) hasGlob(p *Path) bool {
	if !p.InWorkspace() && s.near(p, true) {
		// An anchored pattern names places that no glob comes near by
		// chance; what is not there yet may be there when the shell looks.
		return true
	}
	if p.Partial || p.search() {
		return s.near(p, true)
	}
	found := p.expand()
	for _, real := range found.elsewhere {
		if s.matchText(real, p.resolver) {
			return true
		}
	}
	// "*" may always be one of the others: look.
	if !s.near(p, true) && !s.near(p, false) {
		return false
	}
	for _, name := range found.names {
		if s.matchText(name, p.resolver) {
			return true
		}
	}
	return !found.whole
}

// near reports whether an anchored pattern, or one of the others, and a glob
// have a name in common.
func (s *Set) near(p *Path, anchored bool) bool {
	var some []pattern
	for _, in := range s.in {
		if in.anchored == anchored {
			some = append(some, in)
		}
	}
	abs, real := p.spots()
	return anyMatch(some, abs, p.resolver, true) || real.lower != abs.lower && anyMatch(some, real, p.resolver, true)
}

// anyMatch reports whether one of the patterns matches; glob says that the spot
// may itself hold glob characters.
func anyMatch(patterns []pattern, at *spot, r *Resolver, glob bool) bool {
	inHome := r.lowHome != "" && below(at.lower, r.lowHome)
	for i := range patterns {
		p := &patterns[i]
		switch {
		case p.home && r.lowHome == "":
		case p.home && inHome, p.home && glob && globCovers(strings.Join(firstN(at.comps, r.homeDepth), "/"), r.lowHome):
			if matchBelow(p.comps, at.comps[min(r.homeDepth, len(at.comps)):], glob) {
				return true
			}
		case p.home:
		case p.anchored:
			if matchBelow(p.comps, at.comps, glob) {
				return true
			}
		default:
			for from := range at.comps {
				if matchBelow(p.comps, at.comps[from:], glob) {
					return true
				}
			}
		}
	}
	return false
}

func firstN(s []string, n int) []string { return s[:min(n, len(s))] }

// matchBelow matches a pattern against the components of a path, or of a
// directory above it.
func matchBelow(pattern []part, comps []string, glob bool) bool {
	if len(pattern) == 0 {
		return true
	}
	if pattern[0].text == "**" {
		for i := 0; i <= len(comps); i++ {
			if len(pattern) == 1 {
				return len(comps) > 0
			}
			if matchBelow(pattern[1:], comps[i:], glob) {
				return true
			}
		}
		return false
	}
	if len(comps) == 0 {
		return false
	}
	if glob && comps[0] == "**" {
		return true
	}
	switch {
	case glob && strings.ContainsAny(comps[0], "*?["):
		if !overlap(pattern[0].text, comps[0]) {
			return false
		}
	case pattern[0].text == comps[0]:
	case !pattern[0].wild || !component(pattern[0].text, comps[0]):
		return false
	}
	return matchBelow(pattern[1:], comps[1:], glob)
}

// component matches one name; a leading dot must be written out.
func component(pattern, name string) bool {
	if pattern == name {
		return true
	}
	if !strings.ContainsAny(pattern, wildcards) {
		return false
	}
	if strings.HasPrefix(name, ".") && !strings.HasPrefix(pattern, ".") && !strings.HasPrefix(pattern, "[.") {
		return false
	}
	ok, err := path.Match(strings.ReplaceAll(pattern, "[!", "[^"), name)
	return ok && err == nil
}

// overlap reports whether two name patterns have a name in common. A bracket
// counts as any character.
func overlap(a, b string) bool {
	a, b = wild(a), wild(b)
	if hidden(a) != hidden(b) {
		return false
	}
	row := make([]bool, len(b)+1)
	row[0] = true
	for j := 1; j <= len(b); j++ {
		row[j] = row[j-1] && b[j-1] == '*'
	}
	for i := 1; i <= len(a); i++ {
		diagonal := row[0]
		row[0] = row[0] && a[i-1] == '*'
		for j := 1; j <= len(b); j++ {
			above := row[j]
			switch {
			case a[i-1] == '*' || b[j-1] == '*':
				row[j] = above || row[j-1] || diagonal
			default:
				row[j] = diagonal && (a[i-1] == b[j-1] || a[i-1] == '?' || b[j-1] == '?')
			}
			diagonal = above
		}
	}
	return row[len(b)]
}

func hidden(pattern string) bool { return strings.HasPrefix(pattern, ".") }

// wild turns bracket expressions and extended globs into wildcards.
func wild(p string) string {
	var b strings.Builder
	for i := 0; i < len(p); i++ {
		switch p[i] {
		case '[':
			if end := strings.IndexByte(p[i+1:], ']'); end > 0 {
				if i == 0 && strings.HasPrefix(p, "[.") {
					b.WriteByte('.')
				} else {
					b.WriteByte('?')
				}
				i += end + 1
				continue
			}
		case '(', ')', '|', '@', '+':
			b.WriteByte('*')
			continue
		}
		b.WriteByte(p[i])
	}
	return b.String()
}

func staticDir(glob string) string {
	i := strings.IndexAny(glob, "*?[")
	if i < 0 {
		return glob
	}
	dir := glob[:strings.LastIndexByte(glob[:i], '/')+1]
	if len(dir) > 1 {
		dir = strings.TrimSuffix(dir, "/")
	}
	return dir
}
