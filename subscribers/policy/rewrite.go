package policy

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"reflect"

	"cel.dev/cel-go/cel"
	"cel.dev/cel-go/common/types"
	"cel.dev/cel-go/common/types/ref"
	"cel.dev/cel-go/common/types/traits"
)

// inputType is what a rewrite has to give.
func inputType() *cel.Type { return cel.MapType(cel.StringType, cel.DynType) }

// input is the new input of the tool, a JSON object.
func (r *rule) input(ctx context.Context, f *facts) (json.RawMessage, error) {
	if r.static != nil {
		return r.static, nil
	}
	out, _, err := r.rewrite.ContextEval(ctx, f)
	if err != nil {
		return nil, err
	}
	v, err := native(out, 0)
	if err != nil {
		return nil, err
	}
	m, ok := v.(map[string]any)
	if !ok {
		return nil, fmt.Errorf("it gives a %s, not a map", out.Type().TypeName())
	}
	// What was not touched keeps its bytes: CEL has no numbers beyond 64 bits.
	var raw map[string]json.RawMessage
	before, _ := f.decoded.(map[string]any)
	if before != nil {
		_ = json.Unmarshal(f.tool().Input, &raw)
	}
	result := make(map[string]any, len(m))
	for k, v := range m {
		if b, ok := raw[k]; ok && reflect.DeepEqual(before[k], v) {
			v = b
		}
		result[k] = v
	}
	return json.Marshal(result)
}

// withEntries is the function behind input.with({…}).
func withEntries(base, changes ref.Val) ref.Val {
	m, ok := base.(traits.Mapper)
	n, isMap := changes.(traits.Mapper)
	if !ok || !isMap {
		return types.NewErr("with: both have to be maps")
	}
	out := map[string]any{}
	for _, from := range []traits.Mapper{m, n} {
		for it := from.Iterator(); it.HasNext() == types.True; {
			k := it.Next()
			name, ok := k.(types.String)
			if !ok {
				return types.NewErr("with: keys have to be texts")
			}
			v, err := native(from.Get(k), 0)
			if err != nil {
				return types.WrapErr(err)
			}
			out[string(name)] = v
		}
	}
	return types.DefaultTypeAdapter.NativeToValue(out)
}

// native is a CEL value as encoding/json writes it.
func native(v ref.Val, depth int) (any, error) {
	if depth > 64 {
		return nil, fmt.Errorf("it nests too deep")
	}
	switch v := v.(type) {
	case types.Null:
		return nil, nil
	case types.Bool:
		return bool(v), nil
	case types.String:
		return string(v), nil
	case types.Int:
		return int64(v), nil
	case types.Uint:
		return uint64(v), nil
	case types.Double:
		if f := float64(v); math.IsNaN(f) || math.IsInf(f, 0) {
			return nil, fmt.Errorf("it holds a number that JSON does not have")
		}
		return float64(v), nil
	case traits.Lister:
		out := []any{}
		for it := v.Iterator(); it.HasNext() == types.True; {
			x, err := native(it.Next(), depth+1)
			if err != nil {
				return nil, err
			}
			out = append(out, x)
		}
		return out, nil
	case traits.Mapper:
		out := map[string]any{}
		for it := v.Iterator(); it.HasNext() == types.True; {
			k := it.Next()
			name, ok := k.(types.String)
			if !ok {
				return nil, fmt.Errorf("it has a key that is a %s, not a text", k.Type().TypeName())
			}
			x, err := native(v.Get(k), depth+1)
			if err != nil {
				return nil, err
			}
			out[string(name)] = x
		}
		return out, nil
	}
	return nil, fmt.Errorf("it holds a %s, which JSON does not have", v.Type().TypeName())
}
