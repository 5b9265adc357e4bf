package policy

import (
	"regexp"
	"strings"

	"cel.dev/cel-go/cel"
	"cel.dev/cel-go/common/ast"
	"cel.dev/cel-go/common/operators"
	"cel.dev/cel-go/common/types"

	"github.com/grapnel-dev/grapnel/subscribers/policy/shell"
	"github.com/grapnel-dev/grapnel/subscribers/policy/shell/place"
)

// shortcuts makes shortcuts of checked expressions. It knows: && || ! and true,
// false; fields of the variables; == != and "in" of texts; size() of a list held
// against a number; exists and all; op, named, because, has_flag, under, in_set,
// covers_set, startsWith, endsWith, contains and matches with arguments that are
// written out. Everything else is unsure.
type shortcuts struct {
	env     *environment
	checked *ast.AST
	scope   []variable
}

// variable is the one of a comprehension.
type variable struct {
	name  string
	class *class // nil for texts
}

func dontKnow(*glance) answer { return unsure }

// condition gives a shortcut for an expression that is true or false.
func (s *shortcuts) condition(x ast.Expr) shortcut {
	switch x.Kind() {
	case ast.LiteralKind:
		if v, ok := x.AsLiteral().(types.Bool); ok {
			return constant(v)
		}
	case ast.SelectKind:
		if on, field, ok := s.field(x); ok && field.yes != nil {
			return objectFunction(on, field.yes, 0)
		}
	case ast.CallKind:
		return s.call(x.AsCall())
	case ast.ComprehensionKind:
		return s.comprehension(x.AsComprehension())
	}
	return dontKnow
}

func (s *shortcuts) call(c ast.CallExpr) shortcut {
	args := c.Args()
	if c.IsMemberFunction() {
		return s.method(c)
	}
	switch f := c.FunctionName(); {
	case f == operators.LogicalAnd && len(args) == 2:
		return both(s.condition(args[0]), s.condition(args[1]))
	case f == operators.LogicalOr && len(args) == 2:
		return either(s.condition(args[0]), s.condition(args[1]))
	case f == operators.LogicalNot && len(args) == 1:
		return not(s.condition(args[0]))
	case f == operators.In && len(args) == 2:
		return s.in(args[0], args[1])
	case len(args) == 2:
		return s.compare(f, args[0], args[1])
	}
	return dontKnow
}

func (s *shortcuts) in(x, of ast.Expr) shortcut {
	a := s.text(x)
	if a == nil {
		return dontKnow
	}
	if of.Kind() == ast.ListKind && len(of.AsList().OptionalIndices()) == 0 {
		if texts, ok := literals(of.AsList().Elements()); ok {
			return memberOf(a, texts)
		}
		return dontKnow
	}
	if l, class := s.list(of); l != nil && class == nil {
		return memberOfList(a, l)
	}
	return dontKnow
}

func (s *shortcuts) compare(f string, x, y ast.Expr) shortcut {
	if f == operators.Equals || f == operators.NotEquals {
		if a, b := s.text(x), s.text(y); a != nil && b != nil {
			return compareTexts(a, b, f == operators.Equals)
		}
	}
	a, b := s.number(x), s.number(y)
	if a == nil || b == nil {
		return dontKnow
	}
	switch f {
	case operators.Equals:
		return compareNumbers(a, b, func(a, b int64) bool { return a == b })
	case operators.NotEquals:
		return compareNumbers(a, b, func(a, b int64) bool { return a != b })
	case operators.Less:
		return compareNumbers(a, b, func(a, b int64) bool { return a < b })
	case operators.LessEquals:
		return compareNumbers(a, b, func(a, b int64) bool { return a <= b })
	case operators.Greater:
		return compareNumbers(a, b, func(a, b int64) bool { return a > b })
	case operators.GreaterEquals:
		return compareNumbers(a, b, func(a, b int64) bool { return a >= b })
	}
	return dontKnow
}

// method gives a shortcut for x.f("…", …).
func (s *shortcuts) method(c ast.CallExpr) shortcut {
	names, ok := literals(c.Args())
	if !ok || len(names) == 0 {
		return dontKnow
	}
	if on, class := s.object(c.Target()); on != nil {
		if do := s.env.question(class, c.FunctionName(), names); do != nil {
			return objectFunction(on, do, len(names))
		}
		return dontKnow
	}
	a := s.text(c.Target())
	if a == nil || len(names) != 1 {
		return dontKnow
	}
	b := literal(names[0])
	switch c.FunctionName() {
	case "startsWith":
		return textFunction(a, b, func(a, b int) int { return (a + b) / 8 }, strings.HasPrefix)
	case "endsWith":
		return textFunction(a, b, func(a, b int) int { return (a + b) / 8 }, strings.HasSuffix)
	case "contains":
		return textFunction(a, b, func(a, b int) int { return (a/10 + 1) * (b/10 + 1) }, strings.Contains)
	case "matches":
		pattern, err := regexp.Compile(names[0])
		if err != nil {
			return dontKnow
		}
		return textFunction(a, b, func(a, b int) int { return (a/10 + 2) * (b/4 + 1) }, func(a, _ string) bool { return pattern.MatchString(a) })
	}
	return dontKnow
}

// question is a method of an object that is answered with true or false.
func (e *environment) question(c *class, name string, names []string) func(any) bool {
	switch {
	case c == e.command && name == "has_flag":
		return func(v any) bool { return v.(*shell.Command).HasFlag(names...) }
	case c == e.command && name == "because":
		return func(v any) bool { return commandBecause(v.(*shell.Command), names) }
	case c == e.shell && name == "because":
		return func(v any) bool { return scriptBecause(v.(*facts).script(), names) }
	case c == e.path && name == "under":
		return func(v any) bool { return underAny(v.(*place.Path), names) }
	case c == e.path && len(names) == 1 && e.sets[names[0]] != nil:
		set := e.sets[names[0]]
		switch name {
		case "in_set":
			return func(v any) bool { return set.Has(v.(*place.Path)) }
		case "covers_set":
			return func(v any) bool { return set.Covered(v.(*place.Path)) }
		}
	}
	return nil
}

// comprehension knows what the macros exists and all expand to, exactly.
func (s *shortcuts) comprehension(c ast.ComprehensionExpr) shortcut {
	if c.HasIterVar2() || len(s.scope) >= deepest || c.AccuInit().Kind() != ast.LiteralKind || !named(c.Result(), c.AccuVar()) {
		return dontKnow
	}
	init, ok := c.AccuInit().AsLiteral().(types.Bool)
	if !ok {
		return dontKnow
	}
	join, until := operators.LogicalOr, yes
	going, ok := argument(c.LoopCondition(), operators.NotStrictlyFalse, 1, 0)
	if ok && init == types.False {
		going, ok = argument(going, operators.LogicalNot, 1, 0)
	} else {
		join, until = operators.LogicalAnd, no
	}
	if !ok || !named(going, c.AccuVar()) {
		return dontKnow
	}
	before, ok := argument(c.LoopStep(), join, 2, 0)
	if !ok || !named(before, c.AccuVar()) {
		return dontKnow
	}
	over, class := s.list(c.IterRange())
	if over == nil {
		return dontKnow
	}
	depth := len(s.scope)
	s.scope = append(s.scope, variable{name: c.IterVar(), class: class})
	body := s.condition(c.LoopStep().AsCall().Args()[1])
	s.scope = s.scope[:depth]
	return loop(over, depth, body, until)
}

// argument is an argument of a call of f with that many.
func argument(x ast.Expr, f string, count, at int) (ast.Expr, bool) {
	if x.Kind() != ast.CallKind {
		return nil, false
	}
	c := x.AsCall()
	if c.FunctionName() != f || c.IsMemberFunction() || len(c.Args()) != count {
		return nil, false
	}
	return c.Args()[at], true
}

func named(x ast.Expr, name string) bool { return x.Kind() == ast.IdentKind && x.AsIdent() == name }

// literals are texts that are all written out.
func literals(exprs []ast.Expr) ([]string, bool) {
	out := make([]string, 0, len(exprs))
	for _, x := range exprs {
		if x.Kind() != ast.LiteralKind {
			return nil, false
		}
		text, ok := x.AsLiteral().(types.String)
		if !ok {
			return nil, false
		}
		out = append(out, string(text))
	}
	return out, true
}

func literal(text string) textPart { return func(*glance) (string, bool) { return text, true } }

// variable finds the innermost variable of a name.
func (s *shortcuts) variable(name string) (int, bool) {
	for i := len(s.scope) - 1; i >= 0; i-- {
		if s.scope[i].name == name {
			return i, true
		}
	}
	return 0, false
}

// object gives an object's part and its class.
func (s *shortcuts) object(x ast.Expr) (objectPart, *class) {
	switch x.Kind() {
	case ast.IdentKind:
		if i, ok := s.variable(x.AsIdent()); ok {
			if s.scope[i].class == nil {
				return nil, nil
			}
			return func(g *glance) any { return g.items[i].object }, s.scope[i].class
		}
		switch x.AsIdent() {
		case "event":
			return func(g *glance) any { return g.facts }, s.env.event
		case "shell":
			return func(g *glance) any { return g.facts }, s.env.shell
		}
	case ast.SelectKind:
		if on, field, ok := s.field(x); ok && field.object != nil {
			return func(g *glance) any { g.left -= nodeCost; return field.object(on(g)) }, field.class
		}
	}
	return nil, nil
}

// field gives the object whose field an expression selects.
func (s *shortcuts) field(x ast.Expr) (objectPart, attribute, bool) {
	if x.AsSelect().IsTestOnly() {
		return nil, attribute{}, false
	}
	on, class := s.object(x.AsSelect().Operand())
	if on == nil {
		return nil, attribute{}, false
	}
	field, ok := class.fields[x.AsSelect().FieldName()]
	return on, field, ok
}

// text gives a text's part; nil when it is not known.
func (s *shortcuts) text(x ast.Expr) textPart {
	if t := s.checked.GetType(x.ID()); t == nil || !t.IsExactType(cel.StringType) {
		return nil
	}
	switch x.Kind() {
	case ast.LiteralKind:
		if text, ok := x.AsLiteral().(types.String); ok {
			return literal(string(text))
		}
	case ast.IdentKind:
		if i, ok := s.variable(x.AsIdent()); ok && s.scope[i].class == nil {
			return func(g *glance) (string, bool) { return g.items[i].text, g.spend(nodeCost) }
		}
	case ast.SelectKind:
		if on, field, ok := s.field(x); ok && field.text != nil {
			return func(g *glance) (string, bool) { return field.text(on(g)), g.spend(2 * nodeCost) }
		}
	}
	return nil
}

// list gives a list's part and the class of what is in it; nil for texts.
func (s *shortcuts) list(x ast.Expr) (listPart, *class) {
	switch x.Kind() {
	case ast.IdentKind:
		if _, inner := s.variable(x.AsIdent()); !inner && x.AsIdent() == "paths" {
			return func(g *glance) (items, bool) { return items{paths: g.facts.pathList()}, g.spend(nodeCost) }, s.env.path
		}
	case ast.SelectKind:
		if on, field, ok := s.field(x); ok && field.items != nil {
			return func(g *glance) (items, bool) { return field.items(on(g)), g.spend(2 * nodeCost) }, field.class
		}
	case ast.CallKind:
		return s.listCall(x.AsCall())
	}
	return nil, nil
}

func (s *shortcuts) listCall(c ast.CallExpr) (listPart, *class) {
	names, ok := literals(c.Args())
	if !ok || len(names) == 0 || !c.IsMemberFunction() {
		return nil, nil
	}
	switch c.FunctionName() {
	case "named":
		if _, class := s.object(c.Target()); class != nil && class == s.env.shell {
			cost := nodeCost * (2 + len(names))
			return func(g *glance) (items, bool) {
				return items{commands: g.facts.script().Named(names...)}, g.spend(cost)
			}, s.env.command
		}
	case "op":
		if l, class := s.list(c.Target()); l != nil && class == s.env.path && len(names) == 1 {
			op := place.Op(names[0])
			return func(g *glance) (items, bool) {
				all, ok := l(g)
				return items{paths: withOp(all.paths, op)}, ok && g.spend(2*nodeCost)
			}, s.env.path
		}
	}
	return nil, nil
}

// withOp keeps the paths with one operation.
func withOp(paths []*place.Path, op place.Op) []*place.Path {
	count := 0
	for _, p := range paths {
		if p.Op == op {
			count++
		}
	}
	switch count {
	case 0:
		return nil
	case len(paths):
		return paths
	}
	out := make([]*place.Path, 0, count)
	for _, p := range paths {
		if p.Op == op {
			out = append(out, p)
		}
	}
	return out
}

// number gives the part of a number: one that is written out, or a list's size.
func (s *shortcuts) number(x ast.Expr) numberPart {
	switch x.Kind() {
	case ast.LiteralKind:
		if n, ok := x.AsLiteral().(types.Int); ok {
			return func(*glance) (int64, bool) { return int64(n), true }
		}
	case ast.CallKind:
		c := x.AsCall()
		of := append([]ast.Expr{}, c.Args()...)
		if c.IsMemberFunction() {
			of = append(of, c.Target())
		}
		if c.FunctionName() != "size" || len(of) != 1 {
			return nil
		}
		if l, _ := s.list(of[0]); l != nil {
			return func(g *glance) (int64, bool) {
				all, ok := l(g)
				return int64(all.size()), ok && g.spend(nodeCost)
			}
		}
	}
	return nil
}
