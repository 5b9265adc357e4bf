package dialect

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/grapnel-dev/grapnel/bus/hook"
	"github.com/grapnel-dev/grapnel/internal/strictjson"
)

// Limits of configuration files.
const (
	// MaxFile is how large one may be, in bytes.
	MaxFile = 1 << 20
	// MaxHooks is how many hooks one file may have.
	MaxHooks = 1000
)

// Reading collects what is read from one configuration file.
type Reading struct {
	From     Origin
	Hooks    []Hook
	Problems []Problem
}

// NewReading starts to read a JSON file. The object is nil, and a problem is
// noted, when the text is not one JSON object without duplicate members.
func NewReading(text []byte, from Origin) (*Reading, *Object) {
	r := &Reading{From: from}
	text = bytes.TrimPrefix(text, []byte("\ufeff"))
	return r, r.object("", text)
}

// Problem notes what is wrong at a place.
func (r *Reading) Problem(where, format string, args ...any) {
	r.Problems = append(r.Problems, Problem{File: r.From.File, Where: where, Text: fmt.Sprintf(format, args...)})
}

// Add adds a hook that was read from an object, unless something was wrong in
// there; what the object held and nobody read is noted.
func (r *Reading) Add(o *Object, h Hook) {
	for _, key := range o.unread() {
		r.Problem(o.where, "the key %.80q is not known and does nothing", key)
	}
	r.AddPlain(o.where, o.raw, o.bad, h)
}

// AddPlain is Add for a hook whose definition is no object; bad says that
// something is wrong with it.
func (r *Reading) AddPlain(where string, definition json.RawMessage, bad bool, h Hook) {
	switch {
	case bad:
		return
	case len(r.Hooks) == MaxHooks:
		r.Problem(where, "there are more than %d hooks in this file; this one and what follows does not load", MaxHooks)
		return
	case len(r.Hooks) > MaxHooks:
		return
	}
	h.Origin, h.Where, h.Definition = r.From, where, slices.Clone(definition)
	if h.Type == "" {
		h.Type = TypeCommand
	}
	r.Hooks = append(r.Hooks, h)
}

// Object is a JSON object that is being read. Its methods return zero values
// for members that are missing; members of a wrong type are noted as problems,
// and the hook that is read from the object does not load. A nil Object is an
// empty one.
type Object struct {
	r       *Reading
	where   string
	raw     json.RawMessage
	keys    []string
	members map[string]json.RawMessage
	read    map[string]bool
	bad     bool
}

func (r *Reading) object(where string, raw json.RawMessage) *Object {
	if err := strictjson.Check(raw, MaxFile); err != nil {
		r.Problem(where, "%v", err)
		return nil
	}
	o := &Object{r: r, where: where, raw: bytes.TrimSpace(raw), members: make(map[string]json.RawMessage), read: make(map[string]bool)}
	d := jsontext.NewDecoder(bytes.NewReader(raw))
	if t, err := d.ReadToken(); err != nil || t.Kind() != '{' {
		r.Problem(where, "this is not a JSON object")
		return nil
	}
	for d.PeekKind() != '}' {
		t, err := d.ReadToken()
		if err != nil {
			r.Problem(where, "%v", err)
			return nil
		}
		key := t.String()
		v, err := d.ReadValue()
		if err != nil {
			r.Problem(where, "%v", err)
			return nil
		}
		o.keys = append(o.keys, key)
		o.members[key] = slices.Clone(json.RawMessage(v))
	}
	return o
}

// Where is the object's place in the file.
func (o *Object) Where() string {
	if o == nil {
		return ""
	}
	return o.where
}

// Path is the place of a member.
func (o *Object) Path(key string) string {
	if o == nil || o.where == "" {
		return key
	}
	return o.where + "." + key
}

// Keys lists the members' names in the order of the file.
func (o *Object) Keys() []string {
	if o == nil {
		return nil
	}
	return o.keys
}

// Bad notes a problem with a member; what is read from the object does not
// load.
func (o *Object) Bad(key, format string, args ...any) {
	o.bad = true
	o.r.Problem(o.Path(key), format, args...)
}

// Failed reports whether there was a problem.
func (o *Object) Failed() bool { return o == nil || o.bad }

// Raw returns a member as it is, and whether it is there; null is as if it
// were not.
func (o *Object) Raw(key string) (json.RawMessage, bool) {
	if o == nil {
		return nil, false
	}
	o.read[key] = true
	v, ok := o.members[key]
	if !ok || string(v) == "null" {
		return nil, false
	}
	return v, true
}

func member[T any](o *Object, key, what string) (v T, ok bool) {
	raw, there := o.Raw(key)
	if !there {
		return v, false
	}
	if err := strictjson.Unmarshal(raw, &v, 0); err != nil {
		o.Bad(key, "this is not %s", what)
		var zero T
		return zero, false
	}
	return v, true
}

// String returns a string member.
func (o *Object) String(key string) string {
	v, _ := member[string](o, key, "a string")
	return v
}

// Bool returns a boolean member and whether it is there.
func (o *Object) Bool(key string) (v, there bool) { return member[bool](o, key, "true or false") }

// Int returns a whole number.
func (o *Object) Int(key string) int {
	v, _ := member[int](o, key, "a whole number")
	return v
}

// Strings returns an array of strings.
func (o *Object) Strings(key string) []string {
	v, _ := member[[]string](o, key, "a list of strings")
	return v
}

// StringMap returns an object of strings.
func (o *Object) StringMap(key string) map[string]string {
	v, _ := member[map[string]string](o, key, "an object of strings")
	return v
}

// Number returns a number of units as a duration: seconds or milliseconds, by
// the dialect. It is 0 where the member is missing, and a problem where it is
// not positive or more than a day.
func (o *Object) Number(key string, unit time.Duration) time.Duration {
	v, ok := member[float64](o, key, "a number")
	if !ok {
		return 0
	}
	d := time.Duration(v * float64(unit))
	if v <= 0 || v*float64(unit) > float64(hook.MaxTimeout) {
		o.Bad(key, "%v is not a time between 0 and %s", v, hook.MaxTimeout)
		return 0
	}
	return d
}

// Object returns a member that is an object, nil where it is missing.
func (o *Object) Object(key string) *Object {
	raw, ok := o.Raw(key)
	if !ok {
		return nil
	}
	child := o.r.object(o.Path(key), raw)
	if child == nil {
		o.bad = true
	}
	return child
}

// Array returns the elements of a member that is an array.
func (o *Object) Array(key string) []json.RawMessage {
	v, _ := member[[]json.RawMessage](o, key, "a list")
	return v
}

// Objects returns the elements of a member that is an array of objects; those
// that are none are problems and left out.
func (o *Object) Objects(key string) []*Object {
	var list []*Object
	for i, raw := range o.Array(key) {
		if child := o.r.object(fmt.Sprintf("%s[%d]", o.Path(key), i), raw); child != nil {
			list = append(list, child)
		}
	}
	return list
}

func (o *Object) unread() []string {
	return slices.DeleteFunc(slices.Clone(o.keys), func(k string) bool { return o.read[k] })
}

// Duration returns a member that is a duration in Go's syntax.
func (o *Object) Duration(key string) time.Duration {
	text := o.String(key)
	if text == "" {
		return 0
	}
	d, err := time.ParseDuration(text)
	if err != nil || d <= 0 || d > hook.MaxTimeout {
		o.Bad(key, "%.40q is not a duration such as 30s or 10m, at most %s", text, hook.MaxTimeout)
		return 0
	}
	return d
}

// Extras reads the keys that every dialect has, and "name", into h.
func (o *Object) Extras(h *Hook) {
	if name := o.String("name"); name != "" {
		h.Name = name
	}
	h.When = o.String("when")
	h.After = o.Strings("after")
	h.Cache = o.Duration("cache")
	h.Files = o.Strings("files")
	h.Version = o.String("version")
	if v, there := o.Bool("async"); there {
		h.Async = v
	}
	if text := o.String("on_failure"); text != "" {
		if err := h.OnFailure.UnmarshalText([]byte(text)); err != nil {
			o.Bad("on_failure", "%v", err)
		}
	}
	if raw, there := o.Raw("sandbox"); there {
		if err := h.Sandbox.UnmarshalJSON(raw); err != nil {
			o.Bad("sandbox", "%v", err)
		} else if err := h.Sandbox.Check(); err != nil {
			o.Bad("sandbox", "%v", err)
		}
	}
}
