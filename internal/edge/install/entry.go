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
	// matchesAll says that the group's matcher leaves nothing out;
	// groupHasMore that it has keys that we would not have written.
	matchesAll, groupHasMore bool
	// at is the way to it.
	at struct{ hooks, event, group, inner, entry int }
}

// entries lists every hook, and is the check that the file has the shape of
// settings.
func (d *document) entries(binary string) ([]entry, error) {
	if d.listed != nil {
		return d.listed, nil
	}
	root, ok := d.root.Value.(*hujson.Object)
	if !ok {
		return nil, wrongType("the file", d.root, "an object")
	}
	h, err := find(root, "hooks")
	if err != nil || h < 0 {
		return nil, err
	}
	hooks, ok := root.Members[h].Value.Value.(*hujson.Object)
	if !ok {
		return nil, wrongType("hooks", root.Members[h].Value, "an object")
	}
	list := []entry{}
	for v, event := range hooks.Members {
		name := event.Name.Value.(hujson.Literal).String()
		if _, err := find(hooks, name); err != nil {
			return nil, err
		}
		groups, ok := event.Value.Value.(*hujson.Array)
		if !ok {
			return nil, wrongType("hooks."+name, event.Value, "an array")
		}
		for g, group := range groups.Elements {
			where := fmt.Sprintf("hooks.%s[%d]", name, g)
			object, ok := group.Value.(*hujson.Object)
			if !ok {
				return nil, wrongType(where, group, "an object")
			}
			n, err := find(object, "hooks")
			if err != nil {
				return nil, err
			}
			if n < 0 {
				continue
			}
			inner, ok := object.Members[n].Value.Value.(*hujson.Array)
			if !ok {
				return nil, wrongType(where+".hooks", object.Members[n].Value, "an array")
			}
			matcher := textOf(object, "matcher")
			for i, one := range inner.Elements {
				e := entry{event: name, value: one, matchesAll: matcher == "" || matcher == "*", groupHasMore: len(object.Members) > 1}
				e.at.hooks, e.at.event, e.at.group, e.at.inner, e.at.entry = h, v, g, n, i
				d.read(&e, binary)
				list = append(list, e)
			}
		}
	}
	d.listed = list
	return list, nil
}

func (d *document) read(e *entry, binary string) {
	object, ok := e.value.Value.(*hujson.Object)
	if !ok {
		return
	}
	e.line = textOf(object, "command")
	if args, ok := member0(object, "args").(*hujson.Array); ok {
		e.argv = []string{e.line}
		for _, arg := range args.Elements {
			literal, _ := arg.Value.(hujson.Literal)
			e.argv = append(e.argv, literal.String())
			e.line += " " + quote(literal.String())
		}
	} else if strings.Contains(e.line, fullName) || (binary != "" && strings.Contains(e.line, agentName)) {
		argv, known := d.argvs[e.line]
		if !known {
			argv = words(e.line)
			d.argvs[e.line] = argv
		}
		e.argv = argv
	}
	e.ours = isOurs(e.argv, binary)
}

// does reports whether the entry is as r wants it. A longer time-out is
// somebody's choice and stays; a shorter one would end the hook before its
// answer.
func (e *entry) does(line string, r registration) bool {
	object := e.value.Value.(*hujson.Object)
	timeout, _ := member0(object, "timeout").(hujson.Literal)
	block := textOf(object, "onFailure") == "block"
	known := []string{"type", "command", "timeout", "onFailure", "statusMessage"}
	for _, m := range object.Members {
		if name, _ := m.Name.Value.(hujson.Literal); !slices.Contains(known, name.String()) {
			return false // async, if, args, shell: each can keep it from deciding
		}
	}
	return textOf(object, "type") == "command" && textOf(object, "command") == line && block == r.block &&
		timeout.Kind() == '0' && timeout.Float() >= float64(r.timeout)
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
