package cloudevent_test

import (
	"encoding/json"
	"strings"
	"testing"

	sdk "github.com/cloudevents/sdk-go/v2/event"

	"github.com/grapnel-dev/grapnel/bus/cloudevent"
	"github.com/grapnel-dev/grapnel/bus/hook"
)

// oneKiB is an event with 1 KiB of data, as a tool call has it.
func oneKiB(b *testing.B) hook.Event {
	e := full()
	e.Subject, e.Extensions = "Bash", nil
	e.Data.Native.Payload = json.RawMessage(`{"tool_input":{"command":"` + strings.Repeat("x", 832) + `"}}`)
	data, err := cloudevent.EncodeData(e)
	if err != nil || len(data) < 1000 || len(data) > 1050 {
		b.Fatalf("%d bytes of data, %v", len(data), err)
	}
	e.Raw = data
	return e
}

func BenchmarkEncode(b *testing.B) {
	e := oneKiB(b)
	text, err := cloudevent.Marshal(e)
	if err != nil {
		b.Fatal(err)
	}
	var theirs sdk.Event
	if err := json.Unmarshal(text, &theirs); err != nil {
		b.Fatal(err)
	}
	b.Run("binary", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, _, err := cloudevent.Encode(e); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("structured", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, err := cloudevent.Marshal(e); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("sdk-structured", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, err := theirs.MarshalJSON(); err != nil {
				b.Fatal(err)
			}
		}
	})
}

func BenchmarkDecode(b *testing.B) {
	e := oneKiB(b)
	header, body, err := cloudevent.Encode(e)
	if err != nil {
		b.Fatal(err)
	}
	text, err := cloudevent.Marshal(e)
	if err != nil {
		b.Fatal(err)
	}
	b.Run("binary-attributes", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, err := cloudevent.DecodeAttributes(header); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("binary", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, err := cloudevent.Decode(header, body); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("structured", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, err := cloudevent.Unmarshal(text); err != nil {
				b.Fatal(err)
			}
		}
	})
	// The SDK leaves the data undecoded, which ours has read strictly; the
	// second one decodes it too.
	b.Run("sdk-structured", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			var got sdk.Event
			if err := got.UnmarshalJSON(text); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("sdk-structured-with-data", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			var got sdk.Event
			if err := got.UnmarshalJSON(text); err != nil {
				b.Fatal(err)
			}
			var data hook.Data
			if err := got.DataAs(&data); err != nil {
				b.Fatal(err)
			}
		}
	})
}
