package cloudevent_test

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	sdk "github.com/cloudevents/sdk-go/v2/event"
	"github.com/cloudevents/sdk-go/v2/types"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/grapnel-dev/grapnel/bus/cloudevent"
	"github.com/grapnel-dev/grapnel/bus/hook"
)

// The CloudEvents SDK is the oracle here. What both sides have in common is a
// map of attributes in their canonical string forms, made from each side's own
// model without this package's code.

// ofHook lists the attributes that e must have on the wire.
func ofHook(e hook.Event) map[string]string {
	stamp := func(t time.Time) string {
		if t.IsZero() {
			return ""
		}
		return types.FormatTime(t)
	}
	m := map[string]string{
		"id": e.ID, "source": e.Source, "type": "dev.grapnel.hook." + string(e.Name) + ".v1", "datacontenttype": "application/json",
		"subject": e.Subject, "time": stamp(e.Time), "sessionid": e.SessionID, "correlationid": e.CorrelationID,
		"causationid": e.CausationID, "sequence": e.Sequence, "expirytime": stamp(e.Deadline), "traceparent": e.TraceParent, "dataref": e.DataRef,
	}
	if e.Hops > 0 {
		m["hops"] = strconv.Itoa(e.Hops)
	}
	for k, v := range m {
		if v == "" {
			delete(m, k)
		}
	}
	for k, v := range e.Extensions {
		m[k] = v
	}
	return m
}

// ofSDK lists the attributes that the SDK sees.
func ofSDK(t require.TestingT, e sdk.Event) map[string]string {
	require.Equal(t, "1.0", e.SpecVersion())
	m := map[string]string{"id": e.ID(), "source": e.Source(), "type": e.Type(), "datacontenttype": e.DataContentType()}
	if e.Subject() != "" {
		m["subject"] = e.Subject()
	}
	if !e.Time().IsZero() {
		m["time"] = types.FormatTime(e.Time())
	}
	if e.DataSchema() != "" {
		m["dataschema"] = e.DataSchema()
	}
	for k, v := range e.Extensions() {
		text, err := types.Format(v)
		require.NoError(t, err)
		m[k] = text
	}
	return m
}

// anySDKEvent draws an event of ours as a user of the SDK would build it, with
// extensions of all the SDK's types.
func anySDKEvent() *rapid.Generator[sdk.Event] {
	return rapid.Custom(func(t *rapid.T) sdk.Event {
		e := sdk.New()
		e.SetID("e" + anyText().Draw(t, "id"))
		e.SetType("dev.grapnel.hook." + string(rapid.SampledFrom(hook.Names()).Draw(t, "event")) + ".v1")
		e.SetSource(rapid.SampledFrom([]string{"/host/claude-code", "urn:x:y", "https://user@example.com/a%20b?c=d#e", "a/b"}).Draw(t, "source"))
		if subject := anyText().Draw(t, "subject"); strings.TrimSpace(subject) != "" {
			e.SetSubject(subject)
		}
		if at := anyTime().Draw(t, "time"); !at.IsZero() {
			e.SetTime(at.In(time.FixedZone("", 60*rapid.IntRange(-720, 720).Draw(t, "zone"))))
		}
		for _, name := range []string{"sessionid", "correlationid", "causationid", "sequence", "traceparent", "dataref"} {
			if rapid.Bool().Draw(t, "has "+name) {
				e.SetExtension(name, "x"+anyText().Draw(t, name))
			}
		}
		if hops := rapid.IntRange(0, 1000).Draw(t, "hops"); hops > 0 {
			e.SetExtension("hops", hops)
		}
		if at := anyTime().Draw(t, "expirytime"); !at.IsZero() {
			e.SetExtension("expirytime", at)
		}
		if rapid.Bool().Draw(t, "has dataschema") {
			e.SetDataSchema("https://example.com/schema?x=%20")
		}
		for _, name := range rapid.SliceOfNDistinct(anyExtensionName(), 0, 5, rapid.ID).Draw(t, "extensions") {
			switch rapid.IntRange(0, 5).Draw(t, "type of "+name) {
			case 0:
				e.SetExtension(name, rapid.Bool().Draw(t, name))
			case 1:
				e.SetExtension(name, rapid.Int32().Draw(t, name))
			case 2:
				e.SetExtension(name, rapid.SliceOf(rapid.Byte()).Draw(t, name))
			case 3:
				e.SetExtension(name, types.ParseURI("https://example.com/%2F?q=1"))
			case 4:
				e.SetExtension(name, time.Unix(rapid.Int64Range(1, 1<<33).Draw(t, name), 0))
			default:
				e.SetExtension(name, anyText().Draw(t, name))
			}
		}
		data, err := json.Marshal(anyData().Draw(t, "data"))
		if err != nil {
			panic(err)
		}
		contentType := rapid.SampledFrom([]string{"application/json", "application/json; charset=utf-8", "text/json"}).Draw(t, "datacontenttype")
		if err := e.SetData(contentType, data); err != nil {
			panic(err)
		}
		e.DataBase64 = rapid.Bool().Draw(t, "base64")
		if err := e.Validate(); err != nil {
			panic(err)
		}
		return e
	})
}

// checkRead compares what this package read with what the SDK had.
func checkRead(t require.TestingT, want sdk.Event, got hook.Event) {
	wantAttributes := ofSDK(t, want)
	wantAttributes["datacontenttype"] = "application/json" // the only one that an event can have here
	require.Equal(t, wantAttributes, ofHook(got))
	require.Equal(t, string(want.Data()), string(got.Raw))
	var data hook.Data
	require.NoError(t, json.Unmarshal(want.Data(), &data))
	require.Equal(t, data, got.Data)
}

func TestSDKReadsOurStructuredMode(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		e := anyEvent().Draw(t, "event")
		text, err := cloudevent.Marshal(e)
		require.NoError(t, err)
		require.True(t, json.Valid(text))
		var got sdk.Event
		require.NoError(t, json.Unmarshal(text, &got), "%s", text)
		require.Equal(t, ofHook(e), ofSDK(t, got))
		data, err := cloudevent.EncodeData(e)
		require.NoError(t, err)
		require.Equal(t, string(data), string(got.Data()), "the data's bytes must stand in it unchanged")

		again, err := cloudevent.Unmarshal(text)
		require.NoError(t, err)
		e.Raw = data
		require.Equal(t, e, again)
	})
}

func TestWeReadTheSDKsStructuredMode(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		want := anySDKEvent().Draw(t, "event")
		text, err := json.Marshal(want)
		require.NoError(t, err)
		got, err := cloudevent.Unmarshal(text)
		require.NoError(t, err, "%s", text)
		checkRead(t, want, got)
	})
}

// onTheWire is what a header value may hold (NATS binding 3.1.3.2): printable
// ASCII but space, '"' and a '%' that begins no escape.
var onTheWire = regexp.MustCompile(`\A(?:[!#$&-~]|%[0-9A-F]{2})*\z`)

// bound decodes a binary-mode message as the binding says, into the SDK's
// model, knowing nothing of this package.
func bound(t require.TestingT, header map[string][]string, body []byte) sdk.Event {
	// Not through the SDK's setters, which trim white space.
	c := &sdk.EventContextV1{}
	for k, values := range header {
		require.Len(t, values, 1, k)
		require.Regexp(t, onTheWire, values[0], k)
		value, err := url.PathUnescape(values[0])
		require.NoError(t, err)
		name, ok := strings.CutPrefix(k, "ce-")
		require.True(t, ok, k)
		switch name {
		case "specversion":
			require.Equal(t, "1.0", value)
		case "id":
			c.ID = value
		case "source":
			c.Source = *types.ParseURIRef(value)
		case "type":
			c.Type = value
		case "subject":
			c.Subject = &value
		case "datacontenttype":
			c.DataContentType = &value
		case "time":
			c.Time, err = types.ParseTimestamp(value)
			require.NoError(t, err)
		default:
			require.NoError(t, c.SetExtension(name, value))
		}
	}
	return sdk.Event{Context: c, DataEncoded: body}
}

func TestSDKReadsOurBinaryMode(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		e := anyEvent().Draw(t, "event")
		header, body, err := cloudevent.Encode(e)
		require.NoError(t, err)
		got := bound(t, header, body)
		require.Equal(t, ofHook(e), ofSDK(t, got))

		// The SDK reads the same event from both of our modes.
		text, err := cloudevent.Marshal(e)
		require.NoError(t, err)
		var structured sdk.Event
		require.NoError(t, json.Unmarshal(text, &structured))
		require.Equal(t, ofSDK(t, structured), ofSDK(t, got))
		require.Equal(t, string(structured.Data()), string(got.Data()))

		again, err := cloudevent.Decode(header, body)
		require.NoError(t, err)
		e.Raw = body
		require.Equal(t, e, again)
	})
}

// headerValue writes a value as some producer may: with more escapes than
// needed, in either case, or as a quoted string.
func headerValue(t *rapid.T, value string) string {
	more, lower := rapid.Bool().Draw(t, "more escapes"), rapid.Bool().Draw(t, "lower-case escapes")
	var b strings.Builder
	for i := 0; i < len(value); i++ {
		c := value[i]
		switch {
		case c > ' ' && c <= '~' && c != '"' && c != '%' && !(more && i%3 == 0):
			b.WriteByte(c)
		case lower:
			fmt.Fprintf(&b, "%%%02x", c)
		default:
			fmt.Fprintf(&b, "%%%02X", c)
		}
	}
	if rapid.Bool().Draw(t, "quoted") {
		return `"` + strings.ReplaceAll(b.String(), `\`, `\\`) + `"`
	}
	return b.String()
}

// headerName writes "ce-" and a name in any case of letters.
func headerName(t *rapid.T, name string) string {
	switch rapid.IntRange(0, 3).Draw(t, "case of "+name) {
	case 0:
		return "ce-" + name
	case 1:
		return "CE-" + strings.ToUpper(name)
	case 2:
		return "Ce-" + strings.ToUpper(name[:1]) + name[1:]
	}
	b := []byte("ce-" + name)
	for i, upper := range rapid.SliceOfN(rapid.Bool(), len(b), len(b)).Draw(t, "letters") {
		if upper {
			b[i] = strings.ToUpper(string(b[i]))[0]
		}
	}
	return string(b)
}

func TestWeReadTheSDKsBinaryMode(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		want := anySDKEvent().Draw(t, "event")
		header := map[string][]string{
			headerName(t, "specversion"): {"1.0"},
			"Nats-Msg-Id":                {"not ours: 100% \"passed over\""},
			"X-Other":                    {"a", "b"},
		}
		for name, value := range ofSDK(t, want) {
			header[headerName(t, name)] = []string{headerValue(t, value)}
		}
		require.True(t, cloudevent.IsBinary(header))
		got, err := cloudevent.Decode(header, want.Data())
		require.NoError(t, err, "%v", header)
		checkRead(t, want, got)
	})
}

func TestStructuredBase64Data(t *testing.T) {
	t.Parallel()
	data := `{"cwd":"/w"}`
	text := func(encoded string) string {
		return `{"specversion":"1.0","id":"1","source":"/h/a","type":"dev.grapnel.hook.stop.v1","data_base64":"` + encoded + `"}`
	}
	e, err := cloudevent.Unmarshal([]byte(text(base64.StdEncoding.EncodeToString([]byte(data)))))
	require.NoError(t, err)
	require.Equal(t, data, string(e.Raw))
	require.Equal(t, "/w", e.Data.CWD)
	for _, encoded := range []string{"####", base64.StdEncoding.EncodeToString([]byte("no JSON")), base64.StdEncoding.EncodeToString([]byte(data)) + "="} {
		_, err := cloudevent.Unmarshal([]byte(text(encoded)))
		require.ErrorIs(t, err, cloudevent.ErrEvent, encoded)
	}
}
