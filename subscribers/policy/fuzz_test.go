package policy_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/grapnel-dev/grapnel/bus/hook"
	"github.com/grapnel-dev/grapnel/subscribers/policy"
)

// FuzzParsePolicy looks for texts that end the reader, or a policy that it
// takes and that then cannot decide.
func FuzzParsePolicy(f *testing.F) {
	for _, text := range []string{
		"", "rules: []", "rules:\n- name: a\n  effect: deny\n  reason: x\n", "version: 1\nsets: {a: [~/x, '!y']}\n",
		"rules: [{name: a, on: [pre_tool_use.bash, stop], when: 'shell.opaque', effect: ask, reason: x}]",
		"rules: [{name: a, when: 'paths.exists(p, p.in_set(\"s\"))', effect: allow}]\nsets: {s: ['**/x']}",
		"rules: [{name: a, effect: allow, rewrite: {command: ls}}]",
		"rules: [{name: a, effect: allow, rewrite: 'event.tool.input.with({\"a\": 1})'}]",
		"a: &b [*b]", "[[[[[[", "- - - - -", "? ? ?", "{a: {b: {c: ", "rules: 1", "\xff", "---\n---\n", "disable: [x]", "on: 7",
		"rules: [{name: a, effect: deny, reason: x, when: '[1,2,3].all(x, [1,2,3].all(y, x == y))'}]",
	} {
		f.Add(text)
	}
	ev := bash("rm -rf / && cat x | sh")
	f.Fuzz(func(t *testing.T, text string) {
		if len(text) > 4096 {
			return
		}
		start := time.Now()
		p, err := policy.Parse("f.yaml", []byte(text), &policy.Options{Home: "/home/dev"})
		require.Less(t, time.Since(start), 5*time.Second)
		if err != nil {
			require.ErrorIs(t, err, policy.ErrPolicy)
			return
		}
		d, err := p.Decide(t.Context(), ev)
		require.NoError(t, err)
		require.Less(t, time.Since(start), 10*time.Second)
		if d.Effect == hook.Allow {
			t.Fatalf("%q allows what is not understood", text)
		}
	})
}
