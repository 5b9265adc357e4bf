package hook_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/grapnel-dev/grapnel/bus/hook"
)

func TestEntryValidate(t *testing.T) {
	t.Parallel()
	require.NoError(t, hook.Entry{Name: "policy"}.Validate())
	require.NoError(t, hook.Entry{
		Name: "a-b_9", Filter: "pre_tool_use.Bash", When: "true", Priority: -5, Timeout: hook.Duration(hook.MaxTimeout),
		OnFailure: hook.FailAsk, Rewrites: true, Grants: true, WaitAll: true,
	}.Validate())
	for name, e := range map[string]hook.Entry{
		"no name":               {},
		"no-tool token as name": {Name: "_"},
		"upper-case name":       {Name: "Policy"},
		"dots in the name":      {Name: "a.b"},
		"wildcard name":         {Name: ">"},
		"long name":             {Name: strings.Repeat("a", 65)},
		"bad filter":            {Name: "a", Filter: "nope"},
		"negative timeout":      {Name: "a", Timeout: -1},
		"endless timeout":       {Name: "a", Timeout: hook.Duration(hook.MaxTimeout + 1)},
		"allow on failure":      {Name: "a", OnFailure: "allow"},
		"shadow that rewrites":  {Name: "a", Shadow: true, Rewrites: true},
	} {
		err := e.Validate()
		require.ErrorIs(t, err, hook.ErrEntry, name)
		assert.Less(t, len(err.Error()), 400, name)
	}
}

func TestEntryTextRoundTrip(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		want := hook.Entry{
			Name:      rapid.StringMatching(`[a-z0-9-][a-z0-9_-]{0,63}`).Draw(t, "name"),
			Filter:    rapid.SampledFrom([]string{"", "stop", "*.bash", "pre_tool_use.Bash"}).Draw(t, "filter"),
			When:      rapid.String().Draw(t, "when"),
			Priority:  rapid.Int().Draw(t, "priority"),
			Timeout:   hook.Duration(rapid.Int64Range(0, int64(hook.MaxTimeout)).Draw(t, "timeout")),
			OnFailure: anyPolicy().Draw(t, "on_failure"),
			Grants:    rapid.Bool().Draw(t, "grants"),
			Shadow:    rapid.Bool().Draw(t, "shadow"),
			WaitAll:   rapid.Bool().Draw(t, "wait_all"),
		}
		require.NoError(t, want.Validate())
		b, err := json.Marshal(want)
		require.NoError(t, err)
		var got hook.Entry
		require.NoError(t, json.Unmarshal(b, &got))
		require.Equal(t, want, got, "through %s", b)
	})
}

func TestSortEntriesIsTotalOverNames(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		entry := rapid.Custom(func(t *rapid.T) hook.Entry {
			return hook.Entry{Name: rapid.StringMatching(`[a-z]{1,3}`).Draw(t, "name"), Priority: rapid.IntRange(-2, 2).Draw(t, "priority")}
		})
		entries := rapid.SliceOfNDistinct(entry, 1, -1, func(e hook.Entry) string { return e.Name }).Draw(t, "entries")
		shuffled := rapid.Permutation(entries).Draw(t, "shuffled")
		hook.SortEntries(entries)
		hook.SortEntries(shuffled)
		require.Equal(t, entries, shuffled)
		for i := 1; i < len(entries); i++ {
			require.GreaterOrEqual(t, entries[i-1].Priority, entries[i].Priority)
		}
	})
}

func TestEffectText(t *testing.T) {
	t.Parallel()
	for i, e := range hook.Effects() {
		assert.Equal(t, hook.Effect(i), e, "Effects lists them in order")
		text, err := e.MarshalText()
		require.NoError(t, err)
		var got hook.Effect
		require.NoError(t, got.UnmarshalText(text))
		assert.Equal(t, e, got)
		assert.Equal(t, e == hook.Deny || e == hook.Halt, e.Blocks(), e.String())
	}
	for _, bad := range []string{"", "Allow", "ALLOW", " allow", "allow\n", "approve", "block", "0", "Effect(1)", strings.Repeat("a", 10_000)} {
		e := hook.Deny
		err := e.UnmarshalText([]byte(bad))
		require.Error(t, err, "%.20q", bad)
		assert.Equal(t, hook.Deny, e, "a failed read changes nothing")
		assert.Less(t, len(err.Error()), 200)
	}
	for _, bad := range []hook.Effect{-1, hook.Halt + 1} {
		_, err := bad.MarshalText()
		assert.Error(t, err, "effect %d has no wire form", int(bad))
		assert.Contains(t, bad.String(), "Effect(")
	}
}

func TestFailurePolicyText(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		policy                  hook.FailurePolicy
		notify, lifecycle, gate hook.Effect
	}{
		{hook.FailDefault, hook.Abstain, hook.Abstain, hook.Deny},
		{hook.FailDeny, hook.Deny, hook.Deny, hook.Deny},
		{hook.FailAsk, hook.Ask, hook.Ask, hook.Ask},
		{hook.FailAbstain, hook.Abstain, hook.Abstain, hook.Abstain},
		{"allow", hook.Deny, hook.Deny, hook.Deny},
	} {
		assert.Equal(t, c.notify, c.policy.Effect(hook.Notify), string(c.policy))
		assert.Equal(t, c.lifecycle, c.policy.Effect(hook.Lifecycle), string(c.policy))
		assert.Equal(t, c.gate, c.policy.Effect(hook.Gate), string(c.policy))
		var got hook.FailurePolicy
		if err := got.UnmarshalText([]byte(c.policy)); c.policy == "allow" {
			assert.Error(t, err)
		} else {
			require.NoError(t, err)
			assert.Equal(t, c.policy, got)
		}
	}
}

func TestDurationText(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		want := hook.Duration(rapid.Int64().Draw(t, "ns"))
		text, err := want.MarshalText()
		require.NoError(t, err)
		var got hook.Duration
		require.NoError(t, got.UnmarshalText(text))
		require.Equal(t, want, got)
	})
	for _, bad := range []string{"", "10", "1 s", "ten", "-"} {
		d := hook.Duration(time.Second)
		assert.Error(t, d.UnmarshalText([]byte(bad)), "%q", bad)
		assert.Equal(t, hook.Duration(time.Second), d)
	}
}
