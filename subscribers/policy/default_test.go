package policy_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/grapnel-dev/grapnel/bus/hook"
	"github.com/grapnel-dev/grapnel/subscribers/policy"
)

func TestDefaultTable(t *testing.T) {
	t.Parallel()
	p, err := policy.Parse(policy.DefaultName, policy.Default(), &policy.Options{TimeLimit: slow})
	require.NoError(t, err)
	table, err := policy.RunTable(t.Context(), p, "default_test.yaml", policy.DefaultTable())
	require.NoError(t, err)

	var dangerous, let, benign, asked, denied int
	for _, r := range table.Results {
		assert.True(t, r.OK, r.String())
		effect := r.Decision.Effect
		if !r.Case.Benign {
			dangerous++
			if effect <= hook.Allow {
				let++
			}
			continue
		}
		benign++
		switch {
		case effect >= hook.Deny:
			denied++
		case effect == hook.Ask:
			asked++
		}
	}
	t.Logf("%d dangerous, %d let through; %d benign, %d denied, %d asked about", dangerous, let, benign, denied, asked)
	assert.GreaterOrEqual(t, dangerous, 150)
	assert.GreaterOrEqual(t, benign, 300)
	assert.Zero(t, let, "dangerous cases that were let through")
	assert.LessOrEqual(t, denied*100, benign, "more than 1 %% of the benign cases are denied")
	assert.LessOrEqual(t, asked*10, benign, "more than 10 %% of the benign cases are asked about")
	for rule, hits := range table.Hits {
		assert.Positive(t, hits, "no case is decided by rule %s", rule)
	}
}
