package policy

import (
	"fmt"
	"math"
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

// classes declares what rules see. doc.go is its manual.
func (e *environment) classes() {
	text, texts, yes := cel.StringType, cel.ListType(cel.StringType), cel.BoolType

	e.path = newClass("Path")
	path := func(get func(*place.Path) any) func(any) any { return func(v any) any { return get(v.(*place.Path)) } }
	e.path.
		with("raw", text, path(func(p *place.Path) any { return p.Raw })).
		with("path", text, path(func(p *place.Path) any { return p.Abs })).
		with("real", text, path(func(p *place.Path) any { return p.Real() })).
		with("base", text, path(func(p *place.Path) any { return p.Base() })).
		with("op", text, path(func(p *place.Path) any { return string(p.Op) })).
		with("unknown", yes, path(func(p *place.Path) any { return p.Unknown })).
		with("partial", yes, path(func(p *place.Path) any { return p.Partial })).
		with("glob", yes, path(func(p *place.Path) any { return p.Glob })).
		with("recursive", yes, path(func(p *place.Path) any { return p.Recursive })).
		with("in_workspace", yes, path(func(p *place.Path) any { return p.InWorkspace() })).
		with("in_home", yes, path(func(p *place.Path) any { return p.InHome() })).
		with("in_temp", yes, path(func(p *place.Path) any { return p.InTemp() })).
		with("protected", yes, path(func(p *place.Path) any { return p.Protected() })).
		with("system", yes, path(func(p *place.Path) any { return p.System() })).
		with("device", yes, path(func(p *place.Path) any { return p.Device() })).
		with("covers_workspace", yes, path(func(p *place.Path) any { return p.CoversWorkspace() })).
		with("covers_home", yes, path(func(p *place.Path) any { return p.CoversHome() }))

	e.command = newClass("Command")
	command := func(get func(*shell.Command) any) func(any) any {
		return func(v any) any { return get(v.(*shell.Command)) }
	}
	e.command.
		with("name", text, command(func(c *shell.Command) any { return c.Name })).
		with("sub", text, command(func(c *shell.Command) any { return c.Sub })).
		with("argv", texts, command(func(c *shell.Command) any { return c.Argv })).
		with("args", texts, command(func(c *shell.Command) any { return c.Args })).
		with("flags", texts, command(func(c *shell.Command) any { return c.Flags() })).
		with("line", text, command(func(c *shell.Command) any { return strings.Join(c.Argv, " ") })).
		with("dynamic", yes, command(func(c *shell.Command) any { return c.Dynamic })).
		with("opaque", yes, command(func(c *shell.Command) any { return c.Opaque() })).
		with("wrappers", texts, command(func(c *shell.Command) any { return c.Wrappers })).
		with("fed_by", texts, command(func(c *shell.Command) any { return c.FedBy })).
		with("feeds", texts, command(func(c *shell.Command) any { return c.Feeds })).
		with("code", text, command(func(c *shell.Command) any { return c.Code })).
		with("shell", yes, command(func(c *shell.Command) any { return c.Shell })).
		with("vars", texts, command(func(c *shell.Command) any { return c.Vars })).
		with("sent", texts, command(func(c *shell.Command) any { return c.Sent })).
		with("remote", yes, command(func(c *shell.Command) any { return c.Remote })).
		with("recurses", yes, command(func(c *shell.Command) any { return c.Recurses })).
		with("directory", text, command(func(c *shell.Command) any { return c.Directory })).
		with("paths", cel.ListType(e.path.typ), command(func(c *shell.Command) any { return list(e.path, c.Paths) }))

	e.redirect = newClass("Redirect")
	redirect := func(get func(*shell.Redirect) any) func(any) any {
		return func(v any) any { return get(v.(*shell.Redirect)) }
	}
	e.redirect.
		with("op", text, redirect(func(r *shell.Redirect) any { return string(r.Op) })).
		with("append", yes, redirect(func(r *shell.Redirect) any { return r.Append })).
		with("command", text, redirect(func(r *shell.Redirect) any { return r.Command })).
		with("target", e.path.typ, redirect(func(r *shell.Redirect) any { return &object{e.path, r.Target} }))

	e.shell = newClass("Shell")
	script := func(get func(*facts) any) func(any) any { return func(v any) any { return get(v.(*facts)) } }
	e.shell.
		with("text", text, script(func(f *facts) any { return f.script().Text })).
		with("commands", cel.ListType(e.command.typ), script(func(f *facts) any { return f.commands() })).
		with("redirects", cel.ListType(e.redirect.typ), script(func(f *facts) any { return list(e.redirect, f.script().Redirects) })).
		with("opaque", yes, script(func(f *facts) any { return f.script().Opaque })).
		with("opaque_reasons", texts, script(func(f *facts) any { return f.opaqueReasons() }))

	e.tool = newClass("Tool")
	tool := func(get func(*facts) any) func(any) any { return func(v any) any { return get(v.(*facts)) } }
	e.tool.
		with("name", text, tool(func(f *facts) any { return f.tool().Name })).
		with("kind", text, tool(func(f *facts) any { return string(f.tool().Kind) })).
		with("call_id", text, tool(func(f *facts) any { return f.tool().CallID })).
		with("input", cel.DynType, tool(func(f *facts) any { return f.input() }))

	e.event = newClass("Event")
	event := func(get func(*facts) any) func(any) any { return func(v any) any { return get(v.(*facts)) } }
	e.event.
		with("id", text, event(func(f *facts) any { return f.event.ID })).
		with("name", text, event(func(f *facts) any { return string(f.event.Name) })).
		with("source", text, event(func(f *facts) any { return f.event.Source })).
		with("subject", text, event(func(f *facts) any { return f.event.Subject })).
		with("session", text, event(func(f *facts) any { return f.event.SessionID })).
		with("agent", text, event(func(f *facts) any { return f.event.Data.Native.Agent })).
		with("native_event", text, event(func(f *facts) any { return f.event.Data.Native.Event })).
		with("cwd", text, event(func(f *facts) any { return f.event.Data.CWD })).
		with("workspace", text, event(func(f *facts) any { return f.roots.Workspace })).
		with("permission_mode", text, event(func(f *facts) any { return f.event.Data.PermissionMode })).
		with("model", text, event(func(f *facts) any { return f.event.Data.Model })).
		with("prompt", text, event(func(f *facts) any { return f.event.Data.Prompt })).
		with("message", text, event(func(f *facts) any { return f.event.Data.Message })).
		with("reason", text, event(func(f *facts) any { return f.event.Data.Reason })).
		with("error", text, event(func(f *facts) any { return f.event.Data.Error })).
		with("path", text, event(func(f *facts) any { return f.event.Data.Path })).
		with("hops", cel.IntType, event(func(f *facts) any { return int64(f.event.Hops) })).
		with("subagent", yes, event(func(f *facts) any { return f.event.Data.Subagent != nil })).
		with("tool", e.tool.typ, event(func(f *facts) any { return &object{e.tool, f} }))
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
			script := v.(*facts).script()
			for _, code := range codes {
				if script.Because(code) {
					return types.True
				}
			}
			return types.False
		}),
		e.named("because", e.command.typ, cel.BoolType, func(v any, codes []string) ref.Val {
			for _, r := range v.(*shell.Command).Reasons {
				for _, code := range codes {
					if r.Code == code {
						return types.True
					}
				}
			}
			return types.False
		}),
		e.named("under", e.path.typ, cel.BoolType, func(v any, dirs []string) ref.Val {
			for _, dir := range dirs {
				if v.(*place.Path).Under(dir) {
					return types.True
				}
			}
			return types.False
		}),
		e.inSet("in_set", func(s *place.Set, p *place.Path) bool { return s.Has(p) }),
		e.inSet("covers_set", func(s *place.Set, p *place.Path) bool { return s.Covered(p) }),
		cel.Function("with", cel.MemberOverload("dyn_with", []*cel.Type{cel.DynType, inputType()}, inputType(), cel.BinaryBinding(withEntries))),
		cel.Function("op", cel.MemberOverload("paths_op", []*cel.Type{cel.ListType(e.path.typ), cel.StringType}, cel.ListType(e.path.typ),
			cel.BinaryBinding(func(l, op ref.Val) ref.Val { return e.filter(l, op) }))),
	}
}

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

// compile makes a program of an expression that has to have the given type.
func (e *environment) compile(expr string, out *cel.Type, limits limits) (cel.Program, error) {
	checked, issues := e.env.Compile(expr)
	if err := issues.Err(); err != nil {
		return nil, expressionError(issues)
	}
	if got := checked.OutputType(); !out.IsAssignableType(got) && !got.IsExactType(cel.DynType) {
		return nil, fmt.Errorf("the expression gives a %s; it has to give a %s", cel.FormatCELType(got), cel.FormatCELType(out))
	}
	if err := e.checkSets(checked.NativeRep()); err != nil {
		return nil, err
	}
	return e.env.Program(checked, cel.CostLimit(limits.cost), cel.InterruptCheckFrequency(64), cel.EvalOptions(cel.OptOptimize))
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
