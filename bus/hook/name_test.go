package hook_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"strconv"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/grapnel-dev/grapnel/bus/hook"
)

func TestNamesListsEveryConstant(t *testing.T) {
	t.Parallel()
	file, err := parser.ParseFile(token.NewFileSet(), "name.go", nil, 0)
	require.NoError(t, err)
	var constants []hook.Name
	ast.Inspect(file, func(n ast.Node) bool {
		spec, ok := n.(*ast.ValueSpec)
		if !ok {
			return true
		}
		if id, ok := spec.Type.(*ast.Ident); ok && id.Name == "Name" {
			text, err := strconv.Unquote(spec.Values[0].(*ast.BasicLit).Value)
			require.NoError(t, err)
			constants = append(constants, hook.Name(text))
		}
		return true
	})
	require.Greater(t, len(constants), 50)
	assert.Equal(t, constants, hook.Names())
}

func TestEveryNameIsOneTokenAndItsOwnType(t *testing.T) {
	t.Parallel()
	seen := map[hook.Name]bool{}
	for _, n := range hook.Names() {
		assert.False(t, seen[n], "%s stands twice", n)
		seen[n] = true
		assert.Equal(t, string(n), hook.Token(string(n)))
		assert.True(t, n.Known())
		got, ok := hook.NameOfType(n.Type())
		assert.True(t, ok)
		assert.Equal(t, n, got)
		assert.Equal(t, n.Class() != hook.Notify, n.Blocking())
	}
	assert.False(t, hook.Name("").Known())
	assert.False(t, hook.Name("Stop").Known())
	assert.Equal(t, hook.Notify, hook.Name("invented").Class())
	assert.Equal(t, hook.Notify, hook.Other.Class())
}

func TestNameOfTypeNeverPanicsAndNeverLies(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.OneOf(rapid.String(), rapid.Map(rapid.String(), func(s string) string { return hook.Name(s).Type() }),
			rapid.SampledFrom([]string{"", "dev.grapnel.hook.", "dev.grapnel.hook..v1", "dev.grapnel.hook.v1", "dev.grapnel.hook.stop.v2"})).Draw(t, "type")
		if n, ok := hook.NameOfType(text); ok {
			require.Equal(t, text, n.Type())
			require.Regexp(t, tokenForm, string(n))
		} else {
			require.Empty(t, n)
		}
	})
}

func TestClassText(t *testing.T) {
	t.Parallel()
	assert.Equal(t, "gate", hook.Gate.String())
	assert.Equal(t, "lifecycle", hook.Lifecycle.String())
	assert.Equal(t, "notification", hook.Notify.String())
}
