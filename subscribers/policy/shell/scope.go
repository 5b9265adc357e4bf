package shell

import (
	"slices"

	"github.com/grapnel-dev/grapnel/subscribers/policy/shell/place"
)

// scope is the state of one shell process, or of a branch in it that may not
// be taken.
type scope struct {
	parent *scope
	dir    string // working directory, empty when not known
	before string // OLDPWD
	vars   map[string]value
	inside []string // functions around this place
	loops  bool     // inside a loop
}

func (s *scope) child() *scope {
	return &scope{parent: s, dir: s.dir, before: s.before, inside: s.inside, loops: s.loops}
}

func (s *scope) variable(name string) (value, bool) {
	switch name {
	case "PWD":
		return value{texts: []string{s.dir}}, s.dir != ""
	case "OLDPWD":
		return value{texts: []string{s.before}}, s.before != ""
	}
	for at := s; at != nil; at = at.parent {
		if v, ok := at.vars[name]; ok {
			return v, true
		}
	}
	return value{}, false
}

func (s *scope) set(name string, v value) {
	if s.vars == nil {
		s.vars = make(map[string]value, 4)
	}
	if len(v.texts) > maxValues {
		v = value{texts: v.texts[:maxValues], dynamic: true}
	}
	s.vars[name] = v
}

// merge takes over what a branch may have done.
func (s *scope) merge(branch *scope) {
	for name, v := range branch.vars {
		old, known := s.variable(name)
		joined := value{texts: slices.Concat(old.texts, v.texts), dynamic: !known || old.dynamic || v.dynamic}
		s.set(name, joined)
	}
	if branch.dir != s.dir {
		s.dir, s.before = "", ""
	}
}

func (s *scope) move(dir string) {
	s.before, s.dir = s.dir, dir
}

func (s *scope) inWorkspace(a *analyzer) bool {
	return s.dir != "" && a.resolver.Path(s.dir, "", place.List).InWorkspace()
}
