package bus

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/grapnel-dev/grapnel/bus/hook"
)

func TestVerdictsThatAreNone(t *testing.T) {
	t.Parallel()
	e := hook.Event{ID: "x"}
	good := hook.Verdict{EventID: "x", EventDigest: "d", Effect: hook.Ask, Reason: "look", Outcomes: []hook.DeciderOutcome{{Decider: "a", Effect: hook.Ask}}}
	v, err := decodeVerdict(marshal(good), e, "d")
	require.NoError(t, err)
	assert.Equal(t, good, v)
	for _, bad := range []string{
		``, `null`, `{}`, `{"event_id":"x","event_digest":"d"}`, `{"event_id":"x","event_digest":"d","effect":null}`,
		`{"event_id":"y","event_digest":"d","effect":"allow"}`, `{"event_id":"x","event_digest":"e","effect":"allow"}`,
		`{"event_id":"x","event_digest":"d","effect":"deny","effect":"allow"}`, `{"event_id":"x","event_digest":"d","effect":"allow","Effect":"deny"}`,
		`{"event_id":"x","event_digest":"d","effect":"yes"}`, `{"stream":"NOTIFY","seq":1}`, `{"event_id":"x","event_digest":"d","effect":"allow"} {}`,
	} {
		_, err := decodeVerdict([]byte(bad), e, "d")
		assert.ErrorIs(t, err, ErrVerdict, bad)
	}
}
