package hook_test

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/grapnel-dev/grapnel/bus/hook"
)

// counts is what an answer counts as, written down a second time from the
// rules in the package's documentation.
func counts(c hook.Class, a hook.Answer) hook.Effect {
	switch {
	case a.Entry.Shadow, a.Outcome == hook.Late:
		return hook.Abstain
	case a.Outcome == hook.Answered && a.Decision.Effect == hook.Allow && !a.Entry.Grants:
		return hook.Abstain
	case a.Outcome == hook.Answered:
		return a.Decision.Effect
	case a.Entry.OnFailure == hook.FailAsk:
		return hook.Ask
	case a.Entry.OnFailure == hook.FailDeny:
		return hook.Deny
	case a.Entry.OnFailure == hook.FailDefault && c == hook.Gate:
		return hook.Deny
	}
	return hook.Abstain
}

func TestMergeDoesNotDependOnTheOrderOfAnswers(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		class, answers, fallback := anyClass().Draw(t, "class"), anyAnswers().Draw(t, "answers"), anyEffect().Draw(t, "fallback")
		want := hook.Merge(class, answers, fallback)
		shuffled := rapid.Permutation(answers).Draw(t, "shuffled")
		kept := slices.Clone(shuffled)
		assert.Equal(t, want, hook.Merge(class, shuffled, fallback))
		assert.Equal(t, kept, shuffled, "Merge must leave its argument alone")
	})
}

func TestMergeStrictestWins(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		class, answers, fallback := anyClass().Draw(t, "class"), anyAnswers().Draw(t, "answers"), anyEffect().Draw(t, "fallback")
		strictest := hook.Abstain
		for _, a := range answers {
			strictest = max(strictest, counts(class, a))
		}
		if strictest == hook.Abstain && fallback >= hook.Ask {
			strictest = fallback
		}
		v := hook.Merge(class, answers, fallback)
		assert.Equal(t, strictest, v.Effect)
		assert.Equal(t, strictest == hook.Allow, v.Grant)
		assert.Len(t, v.Outcomes, len(answers))
		if v.Effect >= hook.Ask {
			assert.NotEmpty(t, v.Reason, "a person must be told why")
		}
	})
}

func TestMergeAddingAnAnswerNeverLoosens(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		class, answers, more := anyClass().Draw(t, "class"), anyAnswers().Draw(t, "answers"), anyAnswer().Draw(t, "more")
		before := hook.Merge(class, answers, hook.Abstain).Effect
		after := hook.Merge(class, append(slices.Clone(answers), more), hook.Abstain).Effect
		assert.GreaterOrEqual(t, after, before)

		// Saying the same thing twice changes nothing.
		if len(answers) > 0 {
			again := append(slices.Clone(answers), answers[rapid.IntRange(0, len(answers)-1).Draw(t, "again")])
			assert.Equal(t, before, hook.Merge(class, again, hook.Abstain).Effect)
		}
	})
}

func TestMergeFallbackCountsOnlyWhenAllAbstain(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		class, answers, fallback := anyClass().Draw(t, "class"), anyAnswers().Draw(t, "answers"), anyEffect().Draw(t, "fallback")
		without, with := hook.Merge(class, answers, hook.Abstain), hook.Merge(class, answers, fallback)
		if without.Effect != hook.Abstain || fallback < hook.Ask {
			assert.Equal(t, without, with)
			return
		}
		assert.Equal(t, fallback, with.Effect)
		assert.Contains(t, with.Reason, fallback.String())
	})
	assert.Equal(t, hook.Deny, hook.Merge(hook.Gate, nil, hook.Effect(9)).Effect, "an effect that does not exist")
	assert.Equal(t, hook.Abstain, hook.Merge(hook.Gate, nil, hook.Effect(-1)).Effect)
}

func TestMergeShadowNeverCounts(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		class, answers, fallback := anyClass().Draw(t, "class"), anyAnswers().Draw(t, "answers"), anyEffect().Draw(t, "fallback")
		counted := slices.DeleteFunc(slices.Clone(answers), func(a hook.Answer) bool { return a.Entry.Shadow })
		want, got := hook.Merge(class, counted, fallback), hook.Merge(class, answers, fallback)
		shadows := 0
		for _, o := range got.Outcomes {
			if o.Shadow {
				shadows++
			}
		}
		assert.Equal(t, len(answers)-len(counted), shadows, "shadow answers are listed")
		want.Outcomes, got.Outcomes = nil, nil
		assert.Equal(t, want, got)
	})
}

func TestMergeNoFailureEverAllows(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		answers := rapid.SliceOfN(anyAnswer(), 1, 6).Draw(t, "answers")
		for i := range answers {
			answers[i].Outcome = rapid.SampledFrom(append(failures(), hook.Late)).Draw(t, "failure")
			answers[i].Entry.OnFailure = rapid.OneOf(anyPolicy(), rapid.Just(hook.FailurePolicy("allow"))).Draw(t, "policy")
			answers[i].Entry.Grants = true
			answers[i].Decision.Effect = hook.Allow
		}
		v := hook.Merge(anyClass().Draw(t, "class"), answers, anyEffect().Draw(t, "fallback"))
		assert.NotEqual(t, hook.Allow, v.Effect)
		assert.False(t, v.Grant)
		for _, o := range v.Outcomes {
			assert.NotEqual(t, hook.Allow, o.Effect, o.Decider)
		}
	})
}

func TestMergeAllowNeedsGrants(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		class, answers := anyClass().Draw(t, "class"), anyAnswers().Draw(t, "answers")
		for i := range answers {
			answers[i].Entry.Grants = false
		}
		v := hook.Merge(class, answers, anyEffect().Draw(t, "fallback"))
		assert.NotEqual(t, hook.Allow, v.Effect)
		assert.False(t, v.Grant)
	})
}

func TestMergeUnknownEffectIsDeny(t *testing.T) {
	t.Parallel()
	for _, effect := range []hook.Effect{-1, 5, 1 << 30} {
		a := hook.Answer{Entry: hook.Entry{Name: "ann", Grants: true}, Outcome: hook.Answered, Decision: hook.Decision{Effect: effect}}
		assert.Equal(t, hook.Deny, hook.Merge(hook.Lifecycle, []hook.Answer{a}, hook.Abstain).Effect, "effect %d", int(effect))
	}
}

func TestMergeReasonsAndContextsInRosterOrder(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		names := rapid.SliceOfNDistinct(rapid.StringMatching(`[a-z]{1,8}`), 1, 6, rapid.ID).Draw(t, "names")
		entries := make([]hook.Entry, len(names))
		byName := map[string]hook.Answer{}
		var answers []hook.Answer
		for i, name := range names {
			a := anyAnswer().Draw(t, "answer")
			a.Entry.Name, a.Outcome, a.Entry.Shadow = name, hook.Answered, false
			a.Decision.Reason, a.Decision.Context = "reason of "+name, "context of "+name
			entries[i], byName[name] = a.Entry, a
			answers = append(answers, a)
		}
		class := anyClass().Draw(t, "class")
		v := hook.Merge(class, answers, hook.Abstain)

		rand.Shuffle(len(entries), func(i, j int) { entries[i], entries[j] = entries[j], entries[i] })
		hook.SortEntries(entries)
		var reasons, contexts []string
		for i, entry := range entries {
			assert.Equal(t, entry.Name, v.Outcomes[i].Decider)
			if counts(class, byName[entry.Name]) == v.Effect && v.Effect != hook.Abstain {
				reasons = append(reasons, "reason of "+entry.Name)
			}
			contexts = append(contexts, "context of "+entry.Name)
		}
		assert.Equal(t, strings.Join(reasons, "\n"), v.Reason)
		assert.Equal(t, strings.Join(contexts, "\n"), v.Context)
		require.True(t, slices.IsSortedFunc(entries, func(a, b hook.Entry) int {
			if a.Priority != b.Priority {
				return b.Priority - a.Priority
			}
			return strings.Compare(a.Name, b.Name)
		}))
	})
}

func TestMergeNamesTheFailure(t *testing.T) {
	t.Parallel()
	for _, outcome := range failures() {
		v := hook.Merge(hook.Gate, []hook.Answer{{Entry: hook.Entry{Name: "ann"}, Outcome: outcome, Err: "the cause"}}, hook.Abstain)
		assert.Equal(t, hook.Deny, v.Effect, string(outcome))
		assert.Contains(t, v.Reason, "ann")
		assert.Contains(t, v.Reason, "the cause")
	}
}
