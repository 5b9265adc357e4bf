package policy

import (
	"github.com/grapnel-dev/grapnel/subscribers/policy/shell"
	"github.com/grapnel-dev/grapnel/subscribers/policy/shell/place"
)

// items is a list of facts in Go's types; at most one of the fields is in use.
type items struct {
	commands  []*shell.Command
	paths     []*place.Path
	redirects []*shell.Redirect
	texts     []string
}

func (l *items) size() int {
	return len(l.commands) + len(l.paths) + len(l.redirects) + len(l.texts)
}

// at returns one of them, an object or a text.
func (l *items) at(i int) item {
	switch {
	case l.commands != nil:
		return item{object: l.commands[i]}
	case l.paths != nil:
		return item{object: l.paths[i]}
	case l.redirects != nil:
		return item{object: l.redirects[i]}
	}
	return item{text: l.texts[i]}
}

// item is one of a list.
type item struct {
	object any
	text   string
}
