package webhook_test

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/grapnel-dev/grapnel/bus"
	"github.com/grapnel-dev/grapnel/bus/hook"
	"github.com/grapnel-dev/grapnel/subscribers/webhook"
)

// FuzzDecision holds that whatever is read as a decision says so in so many
// words, is one on the bus as well, and shows people no escapes.
func FuzzDecision(f *testing.F) {
	for _, seed := range []string{
		``, "\n", `{"effect":"allow"}`, `{"effect":"deny","reason":"r","context":"c","rewrite":{"a":[1]},"rules":["x"]}`, `{"effect":"deny","effect":"allow"}`,
		`{"Effect":"allow"}`, "{\"e\u017ffect\":\"allow\"}", `{"effect":"allow"} x`, `null`, `[]`, `{"effect":"halt","reason":"\u001b[2J\u009b1m"}`,
		`{"effect":"allow","rewrite":null}`, `{"effect":"allow","rewrite":" "}`, `{"effect":"allow","rules":[null]}`, "\xff", "\x00", `{"effect":"allow"`, strings.Repeat("[", 100),
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		d, err := webhook.ReadDecision(body)
		if err != nil {
			if d.Effect != hook.Abstain || d.Rewrite != nil || d.Reason != "" || d.Context != "" {
				t.Fatalf("an error came with the decision %+v", d)
			}
			if !utf8.ValidString(err.Error()) || strings.ContainsAny(err.Error(), "\x1b\x00\x07\r\u009b\u202e") {
				t.Fatalf("the error %q is not fit to be shown", err)
			}
			return
		}
		same, err := bus.DecodeDecision(body)
		if err != nil || same.Effect != d.Effect || string(same.Rewrite) != string(d.Rewrite) {
			t.Fatalf("the bus reads %+v, %v and the webhook %+v", same, err, d)
		}
		var members map[string]json.RawMessage
		if err := json.Unmarshal(body, &members); err != nil {
			t.Fatalf("%q is not one JSON object: %v", body, err)
		}
		var effect string
		if err := json.Unmarshal(members["effect"], &effect); err != nil || effect != d.Effect.String() {
			t.Fatalf("effect %q was read as %s", members["effect"], d.Effect)
		}
		for _, text := range append([]string{d.Reason, d.Context}, d.Rules...) {
			if !utf8.ValidString(text) || strings.ContainsAny(text, "\x1b\x00\x07\r\u009b\u202e") {
				t.Fatalf("%q is not fit to be shown", text)
			}
		}
		if len(d.Reason) > webhook.MaxReason || len(d.Context) > webhook.MaxContext {
			t.Fatal("a text is too long")
		}
	})
}
