package policy_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/grapnel-dev/grapnel/bus/hook"
	"github.com/grapnel-dev/grapnel/subscribers/policy"
)

func TestRunTable(t *testing.T) {
	t.Parallel()
	p := parse(t, `rules: [{name: a, when: 'shell.named("rm").exists(c, c.paths.exists(p, !p.in_home))', effect: deny, reason: x}]`)
	result, err := policy.RunTable(t.Context(), p, "t.yaml", []byte(`
workspace: /w
home: /home/other
cases:
  - {bash: [rm /x, rm /y], expect: deny, rules: [a]}
  - {bash: rm /home/other/x, expect: abstain}
  - {bash: ls, expect: [deny, ask]}
  - bash: rm /x
    expect: deny
    rules: [b]
  - {tool: Bash, kind: shell, input: {command: rm /x}, cwd: /z, event: permission_request, expect: deny}
`))
	require.NoError(t, err)
	require.Len(t, result.Results, 6)
	assert.Equal(t, 2, result.Failed)
	assert.Equal(t, map[string]int{"a": 4}, result.Hits)
	assert.True(t, result.Results[2].OK, "the table's home directory counts")
	assert.Equal(t, `FAIL line 7: "ls": got abstain, want deny or ask`, result.Results[3].String())
	assert.Equal(t, `FAIL line 8: "rm /x": got deny (a), want deny by b`, result.Results[4].String())
	last := result.Results[5].Case.Event
	assert.Equal(t, hook.PermissionRequest, last.Name)
	assert.Equal(t, "/z", last.Data.CWD)
}

func TestTableMistakes(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"cases:\n- {bash: ls}\n":                          "t.yaml:2: bad policy: a case without expect",
		"cases:\n- {bash: ls, expect: maybe}\n":           "t.yaml:2: bad policy: hook: unknown effect",
		"cases:\n- {bash: ls, read: x, expect: deny}\n":   "write two",
		"cases:\n- {bsh: ls, expect: deny}\n":             `unknown key "bsh"`,
		"cases:\n- {event: nope, expect: deny}\n":         `there is no event "nope"`,
		"cases:\n- {tool: x, kind: nope, expect: deny}\n": "there is no tool kind",
		"cases:\n- {input: {a: b}, expect: deny}\n":       "input without tool",
		"cases:\n- {bash: 1, expect: deny}\n":             "expected text",
		"cases: {}\n":                                     "expected a list",
		"case: []\n":                                      `unknown key "case"`,
	} {
		_, err := policy.ReadTable("t.yaml", []byte(text))
		require.ErrorIs(t, err, policy.ErrPolicy, text)
		assert.ErrorContains(t, err, want, text)
	}
}
