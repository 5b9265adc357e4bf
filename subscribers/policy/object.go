package policy

import (
	"fmt"
	"reflect"

	"cel.dev/cel-go/cel"
	"cel.dev/cel-go/common/types"
	"cel.dev/cel-go/common/types/ref"
	"cel.dev/cel-go/common/types/traits"
)

// class is a type that rules can see: a name and fields, each with a getter.
// It is written out by hand because reflection is too slow for something that
// runs at every tool call, and because a field that is not in the manual must
// not be reachable.
type class struct {
	name   string
	typ    *cel.Type
	fields map[string]attribute
	order  []string
}

// attribute is a field. get is for CEL; one of the others may be there for
// [shortcut], and says the same in Go's types.
type attribute struct {
	typ    *cel.Type
	get    func(any) any
	text   func(any) string
	yes    func(any) bool
	items  func(any) items
	object func(any) any
	class  *class // of object
}

func newClass(name string) *class {
	return &class{name: name, typ: cel.ObjectType(name), fields: map[string]attribute{}}
}

func (c *class) add(name string, a attribute) {
	c.fields[name] = a
	c.order = append(c.order, name)
}

// with adds a field of any type.
func with[T any](c *class, name string, typ *cel.Type, get func(T) any) {
	c.add(name, attribute{typ: typ, get: func(v any) any { return get(v.(T)) }})
}

// withText adds a text.
func withText[T any](c *class, name string, get func(T) string) {
	c.add(name, attribute{typ: cel.StringType,
		get:  func(v any) any { return get(v.(T)) },
		text: func(v any) string { return get(v.(T)) }})
}

// withBool adds a truth value.
func withBool[T any](c *class, name string, get func(T) bool) {
	c.add(name, attribute{typ: cel.BoolType,
		get: func(v any) any { return get(v.(T)) },
		yes: func(v any) bool { return get(v.(T)) }})
}

// withTexts adds a list of texts.
func withTexts[T any](c *class, name string, get func(T) []string) {
	c.add(name, attribute{typ: cel.ListType(cel.StringType),
		get:   func(v any) any { return get(v.(T)) },
		items: func(v any) items { return items{texts: get(v.(T))} }})
}

// withItems adds a list of objects.
func withItems[T any](c *class, name string, of *class, get func(T) items, forCEL func(T) any) {
	c.add(name, attribute{typ: cel.ListType(of.typ), class: of,
		get:   func(v any) any { return forCEL(v.(T)) },
		items: func(v any) items { return get(v.(T)) }})
}

// withObject adds an object of a class.
func withObject[T any](c *class, name string, of *class, get func(T) any) {
	c.add(name, attribute{typ: of.typ, class: of,
		get:    func(v any) any { return &object{of, get(v.(T))} },
		object: func(v any) any { return get(v.(T)) }})
}

// object is a value of a class.
type object struct {
	class *class
	value any
}

// ConvertToNative implements ref.Val.
func (o *object) ConvertToNative(t reflect.Type) (any, error) {
	if v := reflect.ValueOf(o.value); v.Type().AssignableTo(t) {
		return o.value, nil
	}
	return nil, fmt.Errorf("a %s cannot be converted", o.class.name)
}

// ConvertToType implements ref.Val.
func (o *object) ConvertToType(t ref.Type) ref.Val {
	if t == types.TypeType {
		return o.class.typ
	}
	return types.NewErr("a %s cannot be converted to %s", o.class.name, t.TypeName())
}

// Equal implements ref.Val.
func (o *object) Equal(other ref.Val) ref.Val {
	p, ok := other.(*object)
	return types.Bool(ok && p.value == o.value)
}

// Type implements ref.Val.
func (o *object) Type() ref.Type { return o.class.typ }

// Value implements ref.Val.
func (o *object) Value() any { return o }

// IsSet implements traits.FieldTester.
func (o *object) IsSet(field ref.Val) ref.Val {
	name, ok := field.(types.String)
	if !ok {
		return types.MaybeNoSuchOverloadErr(field)
	}
	_, ok = o.class.fields[string(name)]
	return types.Bool(ok)
}

// Get implements traits.Indexer.
func (o *object) Get(field ref.Val) ref.Val {
	name, ok := field.(types.String)
	if !ok {
		return types.MaybeNoSuchOverloadErr(field)
	}
	f, ok := o.class.fields[string(name)]
	if !ok {
		return types.NewErr("%s has no field %q", o.class.name, string(name))
	}
	return types.DefaultTypeAdapter.NativeToValue(f.get(o.value))
}

var (
	_ traits.Indexer     = (*object)(nil)
	_ traits.FieldTester = (*object)(nil)
)

// provider tells CEL about the classes.
type provider struct {
	types.Provider
	classes map[string]*class
}

// FindStructType implements types.Provider.
func (p *provider) FindStructType(name string) (*types.Type, bool) {
	if c, ok := p.classes[name]; ok {
		return types.NewTypeTypeWithParam(c.typ), true
	}
	return p.Provider.FindStructType(name)
}

// FindStructFieldNames implements types.Provider.
func (p *provider) FindStructFieldNames(name string) ([]string, bool) {
	if c, ok := p.classes[name]; ok {
		return c.order, true
	}
	return p.Provider.FindStructFieldNames(name)
}

// FindStructFieldType implements types.Provider.
func (p *provider) FindStructFieldType(name, field string) (*types.FieldType, bool) {
	c, ok := p.classes[name]
	if !ok {
		return p.Provider.FindStructFieldType(name, field)
	}
	f, ok := c.fields[field]
	if !ok {
		return nil, false
	}
	return &types.FieldType{
		Type:  f.typ,
		IsSet: func(any) bool { return true },
		GetFrom: func(target any) (any, error) {
			o, ok := target.(*object)
			if !ok || o.class != c {
				return nil, fmt.Errorf("%T is no %s", target, name)
			}
			return f.get(o.value), nil
		},
	}, true
}

// NewValue implements types.Provider: rules cannot make facts.
func (p *provider) NewValue(name string, fields map[string]ref.Val) ref.Val {
	if _, ok := p.classes[name]; ok {
		return types.NewErr("a %s cannot be made by a rule", name)
	}
	return p.Provider.NewValue(name, fields)
}

// list is a list of objects for CEL.
func list[T any](c *class, values []T) ref.Val {
	vals := make([]ref.Val, len(values))
	for i, v := range values {
		vals[i] = &object{class: c, value: v}
	}
	return types.NewRefValList(types.DefaultTypeAdapter, vals)
}
