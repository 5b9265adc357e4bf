package policy

import (
	"context"
	"fmt"

	"cel.dev/cel-go/cel"
	"cel.dev/cel-go/common/types"
)

// condition is a compiled expression that is true or false.
type condition struct {
	program  cel.Program
	shortcut shortcut
	limits   limits
}

// condition compiles a condition.
func (e *environment) condition(expr string, limits limits) (*condition, error) {
	checked, program, err := e.compile(expr, cel.BoolType, limits)
	if err != nil {
		return nil, err
	}
	s := &shortcuts{env: e, checked: checked}
	return &condition{program: program, shortcut: s.condition(checked.Expr()), limits: limits}, nil
}

// holds evaluates the condition.
func (c *condition) holds(ctx context.Context, f *facts) (bool, error) {
	if ctx.Err() != nil {
		return false, context.Cause(ctx)
	}
	if !f.long {
		if a := c.shortcut.answer(f, c.limits.cost); a != unsure {
			return a == yes, nil
		}
	}
	out, _, err := c.program.ContextEval(ctx, f)
	if err != nil {
		return false, err
	}
	b, ok := out.(types.Bool)
	if !ok {
		return false, fmt.Errorf("it gives a %s, not true or false", out.Type().TypeName())
	}
	return bool(b), nil
}
