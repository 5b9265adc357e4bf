package policy

import (
	"fmt"
	"math"
	"slices"
	"sort"
	"strings"

	"cel.dev/cel-go/cel"
	"cel.dev/cel-go/common/ast"
	"cel.dev/cel-go/common/types"
	"cel.dev/cel-go/common/types/ref"
	"cel.dev/cel-go/ext"

	"github.com/grapnel-dev/grapnel/subscribers/policy/shell"
	"github.com/grapnel-dev/grapnel/subscribers/policy/shell/place"
)

// environment is the CEL environment of one policy.
type environment struct {
	env  *cel.Env
	sets map[string]*place.Set
	// empty is the list of nothing, which most questions are answered with.
	empty ref.Val

	event, tool, shell, command, redirect, path *class
}

const maxExpression = 16 << 10 // bytes of one expression

func newEnvironment(sets map[string]*place.Set) (*environment, error) {
	e := &environment{sets: sets, empty: types.NewRefValList(types.DefaultTypeAdapter, nil)}
	e.classes()
	registry, err := types.NewRegistry()
	if err != nil {
		return nil, err
	}
	p := &provider{Provider: registry, classes: map[string]*class{}}
	for _, c := range []*class{e.event, e.tool, e.shell, e.command, e.redirect, e.path} {
		p.classes[c.name] = c
	}
	options := []cel.EnvOption{
		cel.CustomTypeProvider(p),
		cel.Variable("event", e.event.typ),
		cel.Variable("shell", e.shell.typ),
		cel.Variable("paths", cel.ListType(e.path.typ)),
		ext.Strings(),
		ext.Lists(),
		ext.Sets(),
		ext.Bindings(),
		cel.ParserExpressionSizeLimit(maxExpression),
		cel.ParserRecursionLimit(100),
	}
	options = append(options, e.functions()...)
	e.env, err = cel.NewEnv(options...)
	return e, err
}

// mostNames is how many names has_flag and the like take.
const mostNames = 24

// functions declares the helper functions.
func (e *environment) functions() []cel.EnvOption {
	return []cel.EnvOption{
		e.named("has_flag", e.command.typ, cel.BoolType, func(v any, names []string) ref.Val {
			return types.Bool(v.(*shell.Command).HasFlag(names...))
		}),
		e.named("named", e.shell.typ, cel.ListType(e.command.typ), func(v any, names []string) ref.Val {
			return v.(*facts).named(names)
		}),
		e.named("because", e.shell.typ, cel.BoolType, func(v any, codes []string) ref.Val {
			return types.Bool(scriptBecause(v.(*facts).script(), codes))
		}),
		e.named("because", e.command.typ, cel.BoolType, func(v any, codes []string) ref.Val {
			return types.Bool(commandBecause(v.(*shell.Command), codes))
		}),
		e.named("under", e.path.typ, cel.BoolType, func(v any, dirs []string) ref.Val {
			return types.Bool(underAny(v.(*place.Path), dirs))
		}),
		e.inSet("in_set", func(s *place.Set, p *place.Path) bool { return s.Has(p) }),
		e.inSet("covers_set", func(s *place.Set, p *place.Path) bool { return s.Covered(p) }),
		cel.Function("with", cel.MemberOverload("dyn_with", []*cel.Type{cel.DynType, inputType()}, inputType(), cel.BinaryBinding(withEntries))),
		cel.Function("op", cel.MemberOverload("paths_op", []*cel.Type{cel.ListType(e.path.typ), cel.StringType}, cel.ListType(e.path.typ),
			cel.BinaryBinding(func(l, op ref.Val) ref.Val { return e.filter(l, op) }))),
	}
}

func scriptBecause(s *shell.Script, codes []string) bool {
	return slices.ContainsFunc(codes, s.Because)
}

func commandBecause(c *shell.Command, codes []string) bool {
	return slices.ContainsFunc(c.Reasons, func(r shell.Reason) bool { return slices.Contains(codes, r.Code) })
}

func underAny(p *place.Path, dirs []string) bool { return slices.ContainsFunc(dirs, p.Under) }

// named declares a method with one to mostNames texts.
func (e *environment) named(name string, on, out *cel.Type, do func(any, []string) ref.Val) cel.EnvOption {
	overloads := make([]cel.FunctionOpt, 0, mostNames)
	args := []*cel.Type{on}
	for n := 1; n <= mostNames; n++ {
		args = append(args[:len(args):len(args)], cel.StringType)
		overloads = append(overloads, cel.MemberOverload(fmt.Sprintf("%s_%s_%d", strings.ToLower(on.TypeName()), name, n), args, out,
			cel.FunctionBinding(func(vals ...ref.Val) ref.Val {
				o, ok := vals[0].(*object)
				if !ok {
					return types.MaybeNoSuchOverloadErr(vals[0])
				}
				names := make([]string, 0, len(vals)-1)
				for _, v := range vals[1:] {
					s, ok := v.(types.String)
					if !ok {
						return types.MaybeNoSuchOverloadErr(v)
					}
					names = append(names, string(s))
				}
				return do(o.value, names)
			})))
	}
	return cel.Function(name, overloads...)
}

func (e *environment) inSet(name string, do func(*place.Set, *place.Path) bool) cel.EnvOption {
	return cel.Function(name, cel.MemberOverload("path_"+name, []*cel.Type{e.path.typ, cel.StringType}, cel.BoolType,
		cel.BinaryBinding(func(p, set ref.Val) ref.Val {
			o, ok := p.(*object)
			text, isText := set.(types.String)
			if !ok || !isText {
				return types.MaybeNoSuchOverloadErr(p)
			}
			s, ok := e.sets[string(text)]
			if !ok {
				return types.NewErr("there is no path set %q", string(text))
			}
			return types.Bool(do(s, o.value.(*place.Path)))
		})))
}

// filter keeps the paths with one operation.
func (e *environment) filter(l, op ref.Val) ref.Val {
	paths, ok := l.Value().([]ref.Val)
	text, isText := op.(types.String)
	if !ok || !isText {
		return types.MaybeNoSuchOverloadErr(l)
	}
	var out []ref.Val
	for _, v := range paths {
		if o, ok := v.(*object); ok && string(o.value.(*place.Path).Op) == string(text) {
			out = append(out, v)
		}
	}
	if len(out) == 0 {
		return e.empty
	}
	return types.NewRefValList(types.DefaultTypeAdapter, out)
}

// compile checks an expression, which has to have the given type, and makes a
// program of it.
func (e *environment) compile(expr string, out *cel.Type, limits limits) (*ast.AST, cel.Program, error) {
	checked, issues := e.env.Compile(expr)
	if err := issues.Err(); err != nil {
		return nil, nil, expressionError(issues)
	}
	if got := checked.OutputType(); !out.IsAssignableType(got) && !got.IsExactType(cel.DynType) {
		return nil, nil, fmt.Errorf("the expression gives a %s; it has to give a %s", cel.FormatCELType(got), cel.FormatCELType(out))
	}
	if err := e.checkSets(checked.NativeRep()); err != nil {
		return nil, nil, err
	}
	program, err := e.env.Program(checked, cel.CostLimit(limits.cost), cel.InterruptCheckFrequency(64), cel.EvalOptions(cel.OptOptimize))
	return checked.NativeRep(), program, err
}

// checkSets finds names of sets that do not exist before a rule needs them.
func (e *environment) checkSets(checked *ast.AST) error {
	var missing error
	ast.PostOrderVisit(checked.Expr(), ast.NewExprVisitor(func(x ast.Expr) {
		if x.Kind() != ast.CallKind || x.AsCall().FunctionName() != "in_set" && x.AsCall().FunctionName() != "covers_set" {
			return
		}
		for _, arg := range x.AsCall().Args() {
			if arg.Kind() != ast.LiteralKind {
				missing = fmt.Errorf("the name of a path set has to be written out")
			} else if name, ok := arg.AsLiteral().Value().(string); ok && e.sets[name] == nil {
				missing = fmt.Errorf("there is no path set %q; there are %s", name, strings.Join(e.setNames(), ", "))
			}
		}
	}))
	return missing
}

func (e *environment) setNames() []string {
	names := make([]string, 0, len(e.sets))
	for name := range e.sets {
		names = append(names, name)
	}
	sort.Strings(names)
	if len(names) == 0 {
		return []string{"none"}
	}
	return names
}

// expressionError is the first of the compiler's complaints, short.
func expressionError(issues *cel.Issues) error {
	errs := issues.Errors()
	if len(errs) == 0 {
		return issues.Err()
	}
	first := errs[0]
	if line := first.Location.Line(); line > 1 {
		return fmt.Errorf("line %d of the expression, column %d: %s", line, first.Location.Column()+1, first.Message)
	}
	return fmt.Errorf("column %d: %s", max(0, min(first.Location.Column(), math.MaxInt32))+1, first.Message)
}
