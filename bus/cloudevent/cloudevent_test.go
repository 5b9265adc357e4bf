package cloudevent_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/grapnel-dev/grapnel/bus/cloudevent"
	"github.com/grapnel-dev/grapnel/bus/hook"
)

func full() hook.Event {
	return hook.Event{
		ID: "e-1", Source: "/host/claude-code", Name: hook.PreToolUse, Subject: "Bäsh \"100%\"", SessionID: "s 1",
		CorrelationID: "turn", CausationID: "e-0", Hops: 3, Sequence: "0001", TraceParent: "00-aa-bb-01",
		Time:     time.Date(2026, 11, 20, 10, 0, 0, 123456789, time.UTC),
		Deadline: time.Date(2026, 11, 20, 10, 0, 25, 0, time.UTC), DataRef: "sha256:00",
		Extensions: map[string]string{"partitionkey": "a b", "tenant": "日本"},
		Data: hook.Data{CWD: "/w", Tool: &hook.Tool{Name: "Bäsh", Kind: hook.KindShell, CallID: "c",
			Input: json.RawMessage(`{ "command" : "ls <&>" }`)},
			Native: hook.Native{Agent: "claude-code", Event: "PreToolUse", Payload: json.RawMessage("{\n \"a\": 1.0 }")}},
	}
}

func TestRoundTripBothModes(t *testing.T) {
	t.Parallel()
	want := full()
	header, body, err := cloudevent.Encode(want)
	require.NoError(t, err)
	assert.Contains(t, string(body), `{ "command" : "ls <&>" }`, "the tool's input keeps its bytes")
	assert.Contains(t, string(body), "{\n \"a\": 1.0 }", "the payload keeps its bytes")
	assert.Equal(t, []string{"B%C3%A4sh%20%22100%25%22"}, header["ce-subject"])
	got, err := cloudevent.Decode(header, body)
	require.NoError(t, err)
	want.Raw = body
	assert.Equal(t, want, got)

	text, err := cloudevent.Marshal(want)
	require.NoError(t, err)
	got, err = cloudevent.Unmarshal(text)
	require.NoError(t, err)
	assert.Equal(t, want, got)
}

func TestHeaderNamesInAnyCase(t *testing.T) {
	t.Parallel()
	header, body, err := cloudevent.Encode(full())
	require.NoError(t, err)
	other := map[string][]string{"Nats-Msg-Id": {"x"}}
	for k, v := range header {
		other[strings.ToUpper(k)] = v
	}
	require.True(t, cloudevent.IsBinary(other))
	got, err := cloudevent.Decode(other, body)
	require.NoError(t, err)
	assert.Equal(t, full().Subject, got.Subject)

	other["ce-id"] = []string{"second"}
	_, err = cloudevent.Decode(other, body)
	assert.ErrorIs(t, err, cloudevent.ErrEvent, "the id in two spellings")
}

func TestRefused(t *testing.T) {
	t.Parallel()
	base := func() map[string][]string {
		h, _, err := cloudevent.Encode(full())
		require.NoError(t, err)
		return h
	}
	for name, change := range map[string]func(map[string][]string){
		"no id":           func(h map[string][]string) { delete(h, "ce-id") },
		"no source":       func(h map[string][]string) { delete(h, "ce-source") },
		"no type":         func(h map[string][]string) { delete(h, "ce-type") },
		"no version":      func(h map[string][]string) { delete(h, "ce-specversion") },
		"other version":   func(h map[string][]string) { h["ce-specversion"] = []string{"0.3"} },
		"foreign type":    func(h map[string][]string) { h["ce-type"] = []string{"com.example.x"} },
		"unknown event":   func(h map[string][]string) { h["ce-type"] = []string{"dev.grapnel.hook.pre_tooluse.v1"} },
		"two values":      func(h map[string][]string) { h["ce-id"] = []string{"a", "b"} },
		"half an escape":  func(h map[string][]string) { h["ce-subject"] = []string{"a%2"} },
		"bad escape":      func(h map[string][]string) { h["ce-subject"] = []string{"a%zz"} },
		"invalid utf-8":   func(h map[string][]string) { h["ce-subject"] = []string{"a%ff"} },
		"bad time":        func(h map[string][]string) { h["ce-time"] = []string{"yesterday"} },
		"bad hops":        func(h map[string][]string) { h["ce-hops"] = []string{"-1"} },
		"xml":             func(h map[string][]string) { h["ce-datacontenttype"] = []string{"text/xml"} },
		"long attribute":  func(h map[string][]string) { h["ce-subject"] = []string{strings.Repeat("a", 5000)} },
		"extension name":  func(h map[string][]string) { h["ce-a_b"] = []string{"x"} },
		"data as a value": func(h map[string][]string) { h["ce-data"] = []string{"x"} },
	} {
		h := base()
		change(h)
		_, err := cloudevent.Decode(h, []byte(`{}`))
		assert.ErrorIs(t, err, cloudevent.ErrEvent, name)
	}
	for _, body := range []string{`[]`, `null`, `{"cwd":1}`, `{"cwd":"/a","cwd":"/b"}`, `{"CWD":"/a"}`, `{"tool":{"name":"a","nome":"b"}}`, `{} {}`, `{`} {
		_, err := cloudevent.Decode(base(), []byte(body))
		assert.ErrorIs(t, err, cloudevent.ErrEvent, body)
	}
}

func TestRawPiecesCannotAddMembers(t *testing.T) {
	t.Parallel()
	e := full()
	e.Data.Tool.Input = json.RawMessage(`{},"name":"other"`)
	_, _, err := cloudevent.Encode(e)
	assert.ErrorIs(t, err, cloudevent.ErrEvent)
}
