package hook_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/grapnel-dev/grapnel/bus/hook"
)

func TestAncestryNamesTheHooksThatLedToAnEvent(t *testing.T) {
	t.Parallel()
	var e hook.Event
	assert.False(t, e.Descended("a"))
	e.Extensions = map[string]string{hook.AncestryExtension: e.Ancestry("a")}
	e.Extensions[hook.AncestryExtension] = e.Ancestry("b")
	assert.True(t, e.Descended("a"))
	assert.True(t, e.Descended("b"))
	assert.False(t, e.Descended("c"))
	assert.True(t, hook.ValidAncestry(e.Extensions[hook.AncestryExtension]))
	for _, bad := range []string{"", "x", ",", "ABCDEFABCDEF", "abcdef", strings.Repeat("000000000000,", 64) + "000000000000"} {
		assert.False(t, hook.ValidAncestry(bad), bad)
	}
}
