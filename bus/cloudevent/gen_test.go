package cloudevent_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/grapnel-dev/grapnel/bus/hook"
)

// The generators of this package's property tests.

// anyText draws what stands in attributes: any valid UTF-8, with much of what
// the wire forms treat specially.
func anyText() *rapid.Generator[string] {
	special := []string{
		"", " ", "%", "%41", "%zz", "100%", `"`, `"quoted"`, `\`, `\"`, "a b", "\x00", "\t\r\n", "\x1b[31m", "\x7f", "\u0080", "\u2028",
		"Bäsh", "日本語", "🪝", "\u212a", "\ufeff", "\ufffd", "\U0010ffff", "ce-id: x\r\nce-source: y", "</script>", "'", "+", "&=;", "~", "!",
	}
	piece := rapid.OneOf(rapid.SampledFrom(special), rapid.String().Filter(utf8.ValidString), rapid.StringMatching(`[ -~]{1,20}`))
	return rapid.Map(rapid.SliceOfN(piece, 0, 4), func(s []string) string { return strings.Join(s, "") })
}

func anyTime() *rapid.Generator[time.Time] {
	return rapid.Custom(func(t *rapid.T) time.Time {
		if rapid.Bool().Draw(t, "absent") {
			return time.Time{}
		}
		seconds := rapid.Int64Range(time.Date(0, 1, 1, 0, 0, 0, 0, time.UTC).Unix(), time.Date(9999, 12, 31, 23, 59, 59, 0, time.UTC).Unix())
		return time.Unix(seconds.Draw(t, "seconds"), rapid.Int64Range(0, 999_999_999).Draw(t, "nanoseconds")).UTC()
	})
}

// known are the attribute names that have a field of their own, or a meaning.
const known = " specversion id source type datacontenttype dataschema subject time sessionid correlationid causationid hops sequence expirytime traceparent dataref data "

func anyExtensionName() *rapid.Generator[string] {
	return rapid.StringMatching(`[a-z0-9]{1,20}`).Filter(func(s string) bool { return !strings.Contains(known, " "+s+" ") })
}

// anyValue draws JSON text with white space, escapes and numbers that an
// encoder would write in another way. (Not those beyond float64: the SDK cannot
// skip over them.)
func anyValue(depth int) *rapid.Generator[string] {
	return rapid.Custom(func(t *rapid.T) string {
		space := func() string { return rapid.SampledFrom([]string{"", "", " ", "\n\t"}).Draw(t, "space") }
		kind := rapid.IntRange(0, 4).Draw(t, "kind")
		if depth == 0 {
			kind %= 3
		}
		switch kind {
		case 0:
			return rapid.SampledFrom([]string{"null", "true", "false", "0", "-0", "1.0", "1e3", "1E+40", "12345678901234567890"}).Draw(t, "literal")
		case 1:
			return rapid.SampledFrom([]string{`""`, `"\u0041\/"`, `"\ud83e\ude9d"`, `"<&>"`, `"\u2028"`}).Draw(t, "string")
		case 2:
			b, err := json.Marshal(anyText().Draw(t, "text"))
			if err != nil {
				panic(err)
			}
			return string(b)
		case 3:
			items := rapid.SliceOfN(anyValue(depth-1), 0, 3).Draw(t, "items")
			return "[" + space() + strings.Join(items, space()+","+space()) + space() + "]"
		default:
			items := rapid.SliceOfN(anyValue(depth-1), 0, 3).Draw(t, "members")
			for i, item := range items {
				items[i] = fmt.Sprintf(`%s"k%d"%s:%s`, space(), i, space(), item)
			}
			return "{" + strings.Join(items, ",") + space() + "}"
		}
	})
}

func anyRaw() *rapid.Generator[json.RawMessage] {
	return rapid.Custom(func(t *rapid.T) json.RawMessage {
		if rapid.Bool().Draw(t, "absent") {
			return nil
		}
		return json.RawMessage(anyValue(3).Draw(t, "raw"))
	})
}

func anyData() *rapid.Generator[hook.Data] {
	return rapid.Custom(func(t *rapid.T) hook.Data {
		text := func(name string) string { return anyText().Draw(t, name) }
		d := hook.Data{
			CWD: text("cwd"), Workspace: text("workspace"), PermissionMode: text("permission_mode"), Model: text("model"),
			Prompt: text("prompt"), Message: text("message"), Reason: text("reason"), Error: text("error"), Path: text("path"),
			Result: anyRaw().Draw(t, "result"), DurationMS: rapid.Int64().Draw(t, "duration_ms"), StopActive: rapid.Bool().Draw(t, "stop_active"),
		}
		if rapid.Bool().Draw(t, "tool") {
			d.Tool = &hook.Tool{Name: text("name"), Kind: rapid.SampledFrom(hook.Kinds()).Draw(t, "tool_kind"), Input: anyRaw().Draw(t, "input"), CallID: text("call_id")}
		}
		if rapid.Bool().Draw(t, "subagent") {
			d.Subagent = &hook.Subagent{ID: text("id"), Type: text("type")}
		}
		if rapid.Bool().Draw(t, "native") {
			d.Native = hook.Native{Agent: text("agent"), Event: text("event"), Payload: anyRaw().Draw(t, "payload")}
		}
		return d
	})
}

func anyEvent() *rapid.Generator[hook.Event] {
	return rapid.Custom(func(t *rapid.T) hook.Event {
		text := func(name string) string { return anyText().Draw(t, name) }
		e := hook.Event{
			ID:   "e" + text("id"),
			Name: rapid.SampledFrom(hook.Names()).Draw(t, "event"),
			// A source is a URI reference; the SDK normalises others.
			Source:    rapid.StringMatching(`/[a-z0-9.-]{1,20}/[a-z0-9-]{1,20}`).Draw(t, "source"),
			Subject:   text("subject"),
			Time:      anyTime().Draw(t, "time"),
			SessionID: text("sessionid"), CorrelationID: text("correlationid"), CausationID: text("causationid"),
			Hops: rapid.IntRange(0, 1000).Draw(t, "hops"), Sequence: text("sequence"), Deadline: anyTime().Draw(t, "expirytime"),
			TraceParent: text("traceparent"), DataRef: text("dataref"),
			Data: anyData().Draw(t, "data"),
		}
		extensions := rapid.MapOfN(anyExtensionName(), anyText(), 0, 5).Draw(t, "extensions")
		if len(extensions) > 0 {
			e.Extensions = extensions
		}
		return e
	})
}
