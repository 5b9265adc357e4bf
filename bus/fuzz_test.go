package bus

import (
	"strings"
	"testing"

	"github.com/nats-io/nats.go"
	"github.com/stretchr/testify/require"

	"github.com/grapnel-dev/grapnel/bus/hook"
)

// FuzzDecodeDecision: what is accepted says exactly what it says, and is the
// same when it is written and read again.
func FuzzDecodeDecision(f *testing.F) {
	for _, seed := range []string{`{"effect":"deny","reason":"x"}`, `{"effect":"allow","rewrite":{"a":1}}`, `{"effect":"deny","effect":"allow"}`,
		"{\"effe\u017ft\":\"allow\"}", `{"effect":"ask","rules":["a"],"context":"c"}`, `null`, ``, `{"stream":"S","seq":1}`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		d, err := DecodeDecision(b)
		if err != nil {
			return
		}
		require.Contains(t, string(b), "effect", "an effect was taken from %q", b)
		again, err := DecodeDecision(marshal(d))
		require.NoError(t, err, "%+v", d)
		require.Equal(t, marshal(d), marshal(again))
		if d.Effect == hook.Allow {
			require.True(t, strings.Contains(string(b), "allow") || strings.Contains(string(b), `\u`), "an allow was taken from %q", b)
		}
	})
}

// FuzzReplies: whatever comes on the gateway's inbox is sorted without a panic,
// and never into a decision unless it is one.
func FuzzReplies(f *testing.F) {
	f.Add("", "", []byte(`{"effect":"allow"}`))
	f.Add("Status", "503", []byte{})
	f.Add("Grapnel-Status", "working", []byte{})
	f.Fuzz(func(t *testing.T, name, value string, body []byte) {
		m := &nats.Msg{Data: body, Header: nats.Header{name: {value}}}
		r := classify(m)
		if r.kind == replyDecision {
			_, err := DecodeDecision(body)
			require.NoError(t, err)
		}
		if _, err := decodeEvent(m); err == nil {
			require.NotEmpty(t, body, "an event without a body and without attributes")
		}
		_, _ = decodeObservation(body)
		_, _ = decodeVerdict(body, hook.Event{ID: "x"}, "")
	})
}
