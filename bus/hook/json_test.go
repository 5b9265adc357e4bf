package hook_test

import (
	"encoding/json"
	"testing"
	"time"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/grapnel-dev/grapnel/bus/hook"
)

// The two encoders understand omitempty differently: one leaves out false and
// 0, the other {} and null. Neither may change what a value says.
func TestBothEncodersWriteTheSame(t *testing.T) {
	t.Parallel()
	record, at := int64(0), time.Date(2026, 11, 20, 10, 0, 0, 0, time.UTC)
	for _, v := range []any{
		hook.Decision{},
		hook.Decision{Effect: hook.Allow, Rewrite: json.RawMessage(`{}`)},
		hook.Decision{Effect: hook.Deny, Reason: "r", Context: "c", Rewrite: json.RawMessage(`{"a":1}`), Rules: []string{"x"}},
		hook.Entry{Name: "a"},
		hook.Entry{Name: "a", Filter: "stop", When: "true", Priority: 1, Timeout: 1, OnFailure: hook.FailAsk, Rewrites: true, Grants: true, Shadow: true, WaitAll: true},
		hook.Verdict{},
		hook.Verdict{EventID: "e", Effect: hook.Allow, Grant: true, Input: json.RawMessage(`{}`), RosterRevision: 1, Record: &record, Time: at,
			Outcomes: []hook.DeciderOutcome{{}, {Decider: "a", Outcome: hook.Answered, Shadow: true, Rewrote: true, ElapsedUS: 1}}},
		hook.Receipt{},
		hook.Receipt{EventID: "e", Stream: "NOTIFY", Sequence: 1, Duplicate: true},
		hook.Data{},
		hook.Data{Tool: &hook.Tool{Input: json.RawMessage(`{}`)}, Subagent: &hook.Subagent{}, Result: json.RawMessage(`null`), StopActive: true, DurationMS: 1,
			Native: hook.Native{Agent: "a", Event: "e", Payload: json.RawMessage(`{}`)}},
	} {
		one, err := json.Marshal(v)
		require.NoError(t, err)
		two, err := jsonv2.Marshal(v)
		require.NoError(t, err)
		assert.JSONEq(t, string(one), string(two), "%T", v)
	}
	b, err := jsonv2.Marshal(hook.Decision{Effect: hook.Allow, Rewrite: json.RawMessage(`{}`)})
	require.NoError(t, err)
	assert.JSONEq(t, `{"effect":"allow","rewrite":{}}`, string(b), "an empty object is a rewrite")
}
