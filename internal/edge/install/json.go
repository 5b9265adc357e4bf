package install

import (
	"fmt"
	"slices"
	"strings"

	"github.com/tailscale/hujson"
)

// jsonFormat is settings in JSON, with comments where somebody wrote them.
// Hooks stand in an array for each event, or all in one.
type jsonFormat struct {
	// path leads from the root to the object of events; it is the root itself
	// when empty.
	path []string
	// trigger is the key of an entry that names its event; path then leads to
	// one array with all entries.
	trigger string
	// grouped: an event's array has groups, each with a matcher and an array
	// hooks, and not the entries themselves. Nil stands for never.
	grouped func(event string) bool
	// others are keys beside the events.
	others []string
	// root are members that have to be there beside the hooks.
	root []member
	// entry is what is written for an event.
	entry func(r registration, line string) value
	// post is the same for a hook that is posted; false where it has to be a
	// command. Nil: the agent posts none.
	post func(r registration, address, token string) (value, bool)
	// commands are the keys in which a command may stand, with dots between
	// the levels; {"command"} when nil.
	commands []string
	// tolerated are keys that an entry of ours may have besides.
	tolerated []string
}

func (f jsonFormat) plan(s *Settings, path string, wanted []registration) ([]*Change, []string, error) {
	change, err := read(path)
	if err != nil {
		return nil, nil, err
	}
	change.rooms = s.target.rooms
	var left []string
	if err := f.edit(s, change, wanted, &left); err != nil {
		return nil, nil, fmt.Errorf("%s: %w", path, err)
	}
	return []*Change{change}, left, nil
}

func (f jsonFormat) edit(s *Settings, change *Change, wanted []registration, left *[]string) error {
	d, err := parse(change.Old, f, s.target.agent, s.binary)
	if err != nil {
		return err
	}
	before := string(d.text)
	was, err := d.entries()
	if err != nil {
		return err
	}
	err = d.removeOurs(func(e entry) bool {
		return !slices.ContainsFunc(wanted, func(r registration) bool { return r.event == e.event })
	})
	if err != nil {
		return err
	}
	if len(wanted) > 0 {
		err = d.complete()
	}
	for _, r := range wanted {
		if err != nil {
			return err
		}
		err = d.register(r, f.want(s, r))
	}
	if err != nil {
		return err
	}
	entries, err := d.entries()
	if err != nil {
		return err
	}
	change.secrets = secrets(slices.Concat(was, entries))
	for _, e := range entries {
		if !e.ours && strings.Contains(e.line, shimName) {
			*left = append(*left, e.event+": "+e.line)
		}
	}
	switch change.New = change.Old; {
	case len(wanted) == 0 && s.target.owned && change.Old != nil && d.bare():
		change.New = nil
	case string(d.text) != before:
		change.New = d.bytes()
	}
	return nil
}

// complete adds the members that have to be at the root.
func (d *document) complete() error {
	for _, m := range d.format.root {
		root, ok := d.root.Value.(*hujson.Object)
		if !ok {
			return wrongType("the file", d.root, "an object")
		}
		i, err := find(root, m.name)
		if err != nil {
			return err
		}
		if i < 0 {
			if err := d.add(d.root, m.name, m.value, false); err != nil {
				return err
			}
		}
	}
	return nil
}

// bare reports whether nothing is left but what we write beside hooks.
func (d *document) bare() bool {
	root, ok := d.root.Value.(*hujson.Object)
	if !ok {
		return false
	}
	for _, m := range root.Members {
		literal, _ := m.Name.Value.(hujson.Literal)
		if !slices.ContainsFunc(d.format.root, func(r member) bool { return r.name == literal.String() }) {
			return false
		}
	}
	plain, err := hujson.Standardize(slices.Clone(d.text))
	return err == nil && string(plain) == string(d.text) // no comment either
}

// register makes sure that the event has one entry of ours that is as wanted
// and left out by no matcher.
func (d *document) register(r registration, want value) error {
	entries, err := d.entries()
	if err != nil {
		return err
	}
	entries = slices.DeleteFunc(slices.Clone(entries), func(e entry) bool { return !e.ours || e.event != r.event })
	if len(entries) == 1 && entries[0].matchesAll {
		if d.does(entries[0], want) {
			return nil
		}
		return d.replace(entries[0].value, want)
	}
	if len(entries) > 0 {
		if err := d.removeOurs(func(e entry) bool { return e.event == r.event }); err != nil {
			return err
		}
	}
	path := slices.Clone(d.format.path)
	if d.format.trigger == "" {
		path = append(path, r.event)
	}
	if d.format.isGrouped(r.event) {
		want = value{members: []member{{"hooks", value{elements: []value{want}}}}}
	}
	return d.append(path, want)
}

func (f jsonFormat) isGrouped(event string) bool { return f.grouped != nil && f.grouped(event) }

// append adds v to the array at path, and what has to be there for it.
func (d *document) append(path []string, v value) error {
	at, compact := d.root, false
	for i, name := range path {
		object, ok := at.Value.(*hujson.Object)
		if !ok {
			return wrongType(strings.Join(path[:i], "."), at, "an object")
		}
		n, err := find(object, name)
		if err != nil {
			return err
		}
		if n < 0 {
			v = value{elements: []value{v}}
			for k := len(path) - 1; k > i; k-- {
				v = value{members: []member{{path[k], v}}}
			}
			return d.add(at, name, v, compact)
		}
		compact = !strings.Contains(string(object.Members[n].Name.BeforeExtra), "\n")
		at = object.Members[n].Value
	}
	return d.add(at, "", v, compact)
}

// removeOurs takes out our entries for which which is true, and what is empty
// after that.
func (d *document) removeOurs(which func(entry) bool) error {
	for {
		entries, err := d.entries()
		if err != nil {
			return err
		}
		i := slices.IndexFunc(entries, func(e entry) bool { return e.ours && which(e) })
		if i < 0 {
			return nil
		}
		if err := d.prune(entries[i]); err != nil {
			return err
		}
	}
}

// prune removes the largest thing that holds nothing but the entry. A group
// that has more than our entry, a matcher or a name, is somebody's.
func (d *document) prune(e entry) error {
	k := len(e.way) - 1
	if e.grouped && size(e.way[k].in) == 1 && size(e.way[k-1].in) == 1 {
		k -= 2 // from the array hooks past its group
	}
	if !e.grouped || k < len(e.way)-1 {
		for k > 0 && size(e.way[k].in) == 1 {
			k--
		}
	}
	return d.remove(e.way[k].in, e.way[k].index)
}

// size is the number of members or elements.
func size(v hujson.Value) int {
	switch c := v.Value.(type) {
	case *hujson.Object:
		return len(c.Members)
	case *hujson.Array:
		return len(c.Elements)
	}
	return 0
}
