package install

import (
	"fmt"
	"slices"
	"strings"

	"github.com/tailscale/hujson"
)

// entry is one hook in the settings.
type entry struct {
	event string
	value hujson.Value
	// line is its command for people, argv the same as a program's arguments;
	// argv is nil for what is not one plain command, and for what cannot be ours.
	line string
	argv []string
	ours bool
	// post is set instead for one that is posted, secret where it is ours: the
	// literal with the token.
	post   *Post
	secret string
	// matchesAll says that the group's matcher leaves nothing out.
	matchesAll, grouped bool
	// way leads to it from the root.
	way []step
}

// step is one object or array on the way, and which of its parts is next.
type step struct {
	in    hujson.Value
	index int
}

// entries lists every hook, and is the check that the file has the shape of
// settings.
func (d *document) entries() ([]entry, error) {
	if d.listed != nil {
		return d.listed, nil
	}
	list := []entry{}
	at, way := d.root, []step(nil)
	for i := range append(d.format.path, "") {
		where := "the file"
		if i > 0 {
			where = strings.Join(d.format.path[:i], ".")
		}
		if i == len(d.format.path) {
			var err error
			if d.format.trigger != "" {
				list, err = d.triggered(list, where, at, way)
			} else {
				list, err = d.events(list, where, at, way)
			}
			if err != nil {
				return nil, err
			}
			break
		}
		object, ok := at.Value.(*hujson.Object)
		if !ok {
			return nil, wrongType(where, at, "an object")
		}
		n, err := find(object, d.format.path[i])
		if err != nil {
			return nil, err
		}
		if n < 0 {
			break
		}
		way = append(way, step{at, n})
		at = object.Members[n].Value
	}
	d.listed = list
	return list, nil
}

// events lists the entries of an object of events.
func (d *document) events(list []entry, where string, at hujson.Value, way []step) ([]entry, error) {
	object, ok := at.Value.(*hujson.Object)
	if !ok {
		return nil, wrongType(where, at, "an object")
	}
	prefix := where + "."
	if len(way) == 0 {
		prefix = ""
	}
	for v, event := range object.Members {
		name := event.Name.Value.(hujson.Literal).String()
		if _, err := find(object, name); err != nil {
			return nil, err
		}
		if slices.Contains(d.format.others, name) {
			continue
		}
		array, ok := event.Value.Value.(*hujson.Array)
		if !ok {
			return nil, wrongType(prefix+name, event.Value, "an array")
		}
		toEvent := append(slices.Clone(way), step{at, v})
		for g, element := range array.Elements {
			place := fmt.Sprintf("%s%s[%d]", prefix, name, g)
			toElement := append(slices.Clone(toEvent), step{event.Value, g})
			if !d.format.isGrouped(name) {
				list = append(list, d.entry(name, element, toElement))
				continue
			}
			var err error
			if list, err = d.group(list, name, place, element, toElement); err != nil {
				return nil, err
			}
		}
	}
	return list, nil
}

// group lists the entries of one group.
func (d *document) group(list []entry, event, where string, at hujson.Value, way []step) ([]entry, error) {
	object, ok := at.Value.(*hujson.Object)
	if !ok {
		return nil, wrongType(where, at, "an object")
	}
	n, err := find(object, "hooks")
	if err != nil || n < 0 {
		return list, err
	}
	inner, ok := object.Members[n].Value.Value.(*hujson.Array)
	if !ok {
		return nil, wrongType(where+".hooks", object.Members[n].Value, "an array")
	}
	matcher := textOf(object, "matcher")
	for i, one := range inner.Elements {
		e := d.entry(event, one, append(slices.Clone(way), step{at, n}, step{object.Members[n].Value, i}))
		e.grouped, e.matchesAll = true, matcher == "" || matcher == "*"
		list = append(list, e)
	}
	return list, nil
}

// triggered lists the entries of an array in which each names its event.
func (d *document) triggered(list []entry, where string, at hujson.Value, way []step) ([]entry, error) {
	array, ok := at.Value.(*hujson.Array)
	if !ok {
		return nil, wrongType(where, at, "an array")
	}
	for i, element := range array.Elements {
		event := ""
		if object, ok := element.Value.(*hujson.Object); ok {
			event = textOf(object, d.format.trigger)
		}
		list = append(list, d.entry(event, element, append(slices.Clone(way), step{at, i})))
	}
	return list, nil
}

// entry reads one hook. What is no object is somebody else's.
func (d *document) entry(event string, v hujson.Value, way []step) entry {
	e := entry{event: event, value: v, matchesAll: true, way: way}
	object, ok := v.Value.(*hujson.Object)
	if !ok {
		return e
	}
	if d.format.post != nil && textOf(object, "type") == "http" {
		d.posted(&e, object)
		return e
	}
	commands := d.format.commands
	if commands == nil {
		commands = []string{"command"}
	}
	for _, key := range commands {
		line := commandAt(object, key)
		if line == "" {
			continue
		}
		one := e
		one.line = line
		d.read(&one, object)
		if e.line == "" || one.ours {
			e = one
		}
		if e.ours {
			break
		}
	}
	return e
}

// commandAt is the text at a key, with dots between the levels.
func commandAt(o *hujson.Object, key string) string {
	for {
		head, rest, more := strings.Cut(key, ".")
		if !more {
			return textOf(o, key)
		}
		inner, ok := member0(o, head).(*hujson.Object)
		if !ok {
			return ""
		}
		o, key = inner, rest
	}
}

func (d *document) read(e *entry, object *hujson.Object) {
	if args, ok := member0(object, "args").(*hujson.Array); ok {
		e.argv = []string{e.line}
		for _, arg := range args.Elements {
			literal, _ := arg.Value.(hujson.Literal)
			e.argv = append(e.argv, literal.String())
			e.line += " " + quote(literal.String())
		}
	} else if strings.Contains(e.line, fullName) || (d.binary != "" && strings.Contains(e.line, d.agent)) {
		argv, known := d.argvs[e.line]
		if !known {
			argv = words(e.line)
			d.argvs[e.line] = argv
		}
		e.argv = argv
	}
	e.ours = isOurs(e.argv, d.binary, d.agent)
}

// does reports whether the entry is as wanted. A longer time-out is somebody's
// choice and stays; a shorter one would end the hook before its answer.
func (d *document) does(e entry, want value) bool {
	object, ok := e.value.Value.(*hujson.Object)
	return ok && covers(object, want, d.format.tolerated)
}

func covers(object *hujson.Object, want value, tolerated []string) bool {
	for _, m := range object.Members {
		literal, _ := m.Name.Value.(hujson.Literal)
		name := literal.String()
		i := slices.IndexFunc(want.members, func(w member) bool { return w.name == name })
		switch {
		case i >= 0 && !equals(m.Value, want.members[i], tolerated):
			return false
		case i < 0 && !slices.Contains(tolerated, name):
			return false // async, if, args, matcher: each can keep it from deciding
		}
	}
	for _, w := range want.members {
		if member0(object, w.name) == nil {
			return false
		}
	}
	return true
}

func equals(v hujson.Value, want member, tolerated []string) bool {
	if want.value.members != nil {
		object, ok := v.Value.(*hujson.Object)
		return ok && covers(object, want.value, tolerated)
	}
	literal, ok := v.Value.(hujson.Literal)
	if !ok {
		return false
	}
	wanted := hujson.Literal(want.value.literal)
	switch {
	case literal.Kind() != wanted.Kind():
		return false
	case literal.Kind() == '0' && strings.HasPrefix(want.name, "timeout"):
		return literal.Float() >= wanted.Float()
	case literal.Kind() == '"':
		return literal.String() == wanted.String()
	}
	return string(literal) == string(wanted)
}

// member0 returns the value of the first member with that name, or nil.
func member0(o *hujson.Object, name string) hujson.ValueTrimmed {
	for _, m := range o.Members {
		if literal, ok := m.Name.Value.(hujson.Literal); ok && literal.String() == name {
			return m.Value.Value
		}
	}
	return nil
}

func textOf(o *hujson.Object, name string) string {
	literal, ok := member0(o, name).(hujson.Literal)
	if !ok || literal.Kind() != '"' {
		return ""
	}
	return literal.String()
}

func wrongType(where string, v hujson.Value, want string) error {
	got := map[hujson.Kind]string{'{': "an object", '[': "an array", '"': "a string", '0': "a number", 't': "true", 'f': "false", 'n': "null"}[v.Value.Kind()]
	return fmt.Errorf("%w: %s is %s and must be %s; correct it first", ErrSettings, where, got, want)
}
