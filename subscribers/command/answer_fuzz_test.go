package command_test

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/grapnel-dev/grapnel/bus/hook"
	"github.com/grapnel-dev/grapnel/subscribers/command"
)

// FuzzAnswer holds that whatever is read as a decision says so in so many
// words, and that what is shown to people has no escapes in it.
func FuzzAnswer(f *testing.F) {
	for _, seed := range []string{
		``, "\n", `{"effect":"allow"}`, `{"effect":"deny","reason":"r","context":"c","rewrite":{"a":[1]}}`, `{"effect":"deny","effect":"allow"}`,
		`{"Effect":"allow"}`, "{\"e\u017ffect\":\"allow\"}", `{"effect":"allow"} x`, `null`, `[]`, `{"effect":"halt","reason":"\u001b[2J\u009b1m"}`,
		`{"effect":"allow","rewrite":null}`, `{"effect":"allow","rewrite":" "}`, "\xff", "\x00", `{"effect":"allow"`, strings.Repeat("[", 100),
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, stdout []byte) {
		d, err := command.ReadAnswer(stdout)
		if err != nil {
			if d.Effect != hook.Abstain || d.Rewrite != nil || d.Reason != "" || d.Context != "" {
				t.Fatalf("an error came with the decision %+v", d)
			}
			return
		}
		if len(bytes.Trim(stdout, " \t\r\n")) == 0 {
			if d.Effect != hook.Abstain {
				t.Fatalf("silence was read as %s", d.Effect)
			}
			return
		}
		var members map[string]json.RawMessage
		if err := json.Unmarshal(stdout, &members); err != nil {
			t.Fatalf("%q is not one JSON object: %v", stdout, err)
		}
		var effect string
		if err := json.Unmarshal(members["effect"], &effect); err != nil || effect != d.Effect.String() {
			t.Fatalf("effect %q was read as %s", members["effect"], d.Effect)
		}
		for name := range members {
			switch name {
			case "effect", "reason", "context", "rewrite":
			default:
				t.Fatalf("the unknown key %q was passed over", name)
			}
		}
		if d.Rewrite != nil && !json.Valid(d.Rewrite) {
			t.Fatalf("rewrite %q is not JSON", d.Rewrite)
		}
		for _, text := range []string{d.Reason, d.Context} {
			if !utf8.ValidString(text) || strings.ContainsAny(text, "\x1b\x00\x07\r\u009b\u202e") {
				t.Fatalf("%q is not fit to be shown", text)
			}
		}
		if len(d.Reason) > command.MaxReason || len(d.Context) > command.MaxContext {
			t.Fatal("a text is too long")
		}
	})
}
