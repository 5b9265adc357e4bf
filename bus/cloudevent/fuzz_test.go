package cloudevent_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/grapnel-dev/grapnel/bus/cloudevent"
	"github.com/grapnel-dev/grapnel/bus/hook"
)

// checkAccepted holds what is true of every event that was accepted: both wire
// forms can carry it, and bring back the same event.
func checkAccepted(t *testing.T, e hook.Event) {
	t.Helper()
	header, body, err := cloudevent.Encode(e)
	require.NoError(t, err, "accepted %+v, and cannot write it", e)
	again, err := cloudevent.Decode(header, body)
	require.NoError(t, err, "%v", header)
	checkSame(t, e, again)

	text, err := cloudevent.Marshal(e)
	require.NoError(t, err)
	require.True(t, json.Valid(text), "%s", text)
	again, err = cloudevent.Unmarshal(text)
	require.NoError(t, err, "%s", text)
	checkSame(t, e, again)
}

// checkSame compares but for the bytes of empty data, of which there are three
// forms: none, empty and an empty object.
func checkSame(t *testing.T, want, got hook.Event) {
	t.Helper()
	if len(want.Raw) == 0 {
		require.Contains(t, []string{"", "{}"}, string(got.Raw))
		want.Raw, got.Raw = nil, nil
	}
	// White space around the data is not part of a JSON value.
	if trimmed := strings.TrimSpace(string(want.Raw)); trimmed == strings.TrimSpace(string(got.Raw)) {
		want.Raw, got.Raw = nil, nil
	}
	require.Equal(t, want, got)
}

func FuzzDecode(f *testing.F) {
	seed := full()
	header, body, err := cloudevent.Encode(seed)
	require.NoError(f, err)
	var lines []string
	for k, v := range header {
		lines = append(lines, k+": "+v[0])
	}
	f.Add(strings.Join(lines, "\n"), body)
	const least = "ce-specversion: 1.0\nce-id: 1\nce-source: /h/a\nce-type: dev.grapnel.hook.stop.v1"
	f.Add(least, []byte(nil))
	f.Add(least, []byte(" {} "))
	f.Add(least+"\nCE-Time: 9999-12-31T23:59:59-23:59\nce-x: \nce-dataschema: y", []byte(`{"result":null}`))
	f.Add(least+"\nce-subject: \"a\\\"%41\"\nce-hops: +1\nce-\u212a: k", []byte(`{"native":{"agent":"a","event":"b","payload":[ 1.0 ]}}`))
	f.Fuzz(func(t *testing.T, lines string, body []byte) {
		header := map[string][]string{}
		for line := range strings.SplitSeq(lines, "\n") {
			k, v, _ := strings.Cut(line, ": ")
			header[k] = append(header[k], v)
		}
		e, err := cloudevent.Decode(header, body)
		if err != nil {
			require.ErrorIs(t, err, cloudevent.ErrEvent)
			return
		}
		require.True(t, cloudevent.IsBinary(header))
		checkAccepted(t, e)
	})
}

func FuzzUnmarshal(f *testing.F) {
	text, err := cloudevent.Marshal(full())
	require.NoError(f, err)
	f.Add(text)
	const least = `"id":"1","source":"/h/a","type":"dev.grapnel.hook.stop.v1"`
	f.Add([]byte(`{"specversion":"1.0",` + least + `}`))
	f.Add([]byte(`{"specversion":null,` + least + `}`))
	f.Add([]byte(`{"specversion":"1.0",` + least + `,"time":"0000-01-01T00:00:00+23:59","hops":3,"flag":true,"n":-0,"gone":null,"data": {} }`))
	f.Add([]byte(`{"specversion":"1.0",` + least + `,"data_base64":"IHt9"}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		e, err := cloudevent.Unmarshal(text)
		if err != nil {
			require.ErrorIs(t, err, cloudevent.ErrEvent)
			return
		}
		checkAccepted(t, e)
	})
}

func TestWhatIsReadCanBeWritten(t *testing.T) {
	t.Parallel()
	const least = `{"specversion":"1.0","id":"1","source":"/h/a","type":"dev.grapnel.hook.stop.v1"`
	e, err := cloudevent.Unmarshal([]byte(least + `,"dataschema":"https://example.com/s","empty":"","hops":"7","data": {"cwd":"/w"} }`))
	require.NoError(t, err)
	assert.Equal(t, map[string]string{"dataschema": "https://example.com/s", "empty": ""}, e.Extensions)
	checkAccepted(t, e)

	for name, more := range map[string]string{
		"a year after 9999 in UTC":  `,"time":"9999-12-31T23:59:59-23:59"}`,
		"a year before 0 in UTC":    `,"expirytime":"0000-01-01T00:00:00+23:59"}`,
		"a fraction":                `,"n":1.5}`,
		"an integer over 32 bits":   `,"n":2147483648}`,
		"an array":                  `,"n":[]}`,
		"both kinds of data":        `,"data":{},"data_base64":"e30="}`,
		"data that is no object":    `,"data":[]}`,
		"the version twice":         `,"specversion":"1.0"}`,
		"a name in another case":    `,"ID":"2"}`,
		"a name of 21 letters":      `,"` + strings.Repeat("a", 21) + `":"x"}`,
		"thirty-three extensions":   extensions(33) + `}`,
		"more hops than there are":  `,"hops":1001}`,
		"a second document":         `} {}`,
		"an attribute of 4097 byte": `,"subject":"` + strings.Repeat("a", 4097) + `"}`,
	} {
		_, err := cloudevent.Unmarshal([]byte(least + more))
		assert.ErrorIs(t, err, cloudevent.ErrEvent, name)
	}
	_, err = cloudevent.Unmarshal([]byte(least + extensions(32) + `}`))
	require.NoError(t, err)
	for _, text := range []string{``, `null`, `[]`, `"x"`, `{}`, strings.Replace(least, `"1.0"`, `null`, 1) + `}`, strings.Replace(least, `"1.0"`, `1.0`, 1) + `}`} {
		_, err := cloudevent.Unmarshal([]byte(text))
		assert.ErrorIs(t, err, cloudevent.ErrEvent, text)
	}
}

func extensions(n int) string {
	var b strings.Builder
	for i := range n {
		b.WriteString(`,"x` + strings.Repeat("y", i/26%20) + string(rune('a'+i%26)) + `":"v"`)
	}
	return b.String()
}

func TestWhatCannotBeReadIsNotWritten(t *testing.T) {
	t.Parallel()
	many := map[string]string{}
	for i := range cloudevent.MaxExtensions + 1 {
		many["x"+strings.Repeat("y", i/26)+string(rune('a'+i%26))] = "v"
	}
	for name, change := range map[string]func(*hook.Event){
		"no id":                   func(e *hook.Event) { e.ID = "" },
		"no source":               func(e *hook.Event) { e.Source = "" },
		"no name":                 func(e *hook.Event) { e.Name = "" },
		"unknown name":            func(e *hook.Event) { e.Name = "pretooluse" },
		"invalid UTF-8":           func(e *hook.Event) { e.Subject = "\xff" },
		"invalid UTF-8 in data":   func(e *hook.Event) { e.Data.CWD = "\xff" },
		"long attribute":          func(e *hook.Event) { e.Subject = strings.Repeat("a", cloudevent.MaxAttribute+1) },
		"negative hops":           func(e *hook.Event) { e.Hops = -1 },
		"hops over the limit":     func(e *hook.Event) { e.Hops = 1001 },
		"year 10000":              func(e *hook.Event) { e.Time = e.Time.AddDate(8000, 0, 0) },
		"year 10000 at the end":   func(e *hook.Event) { e.Deadline = e.Deadline.AddDate(8000, 0, 0) },
		"too many extensions":     func(e *hook.Event) { e.Extensions = many },
		"extension named as ours": func(e *hook.Event) { e.Extensions = map[string]string{"hops": "1"} },
		"extension with a dash":   func(e *hook.Event) { e.Extensions = map[string]string{"a-b": "1"} },
		"too much data":           func(e *hook.Event) { e.Data.Prompt = strings.Repeat("a", cloudevent.MaxData) },
		"too much raw data":       func(e *hook.Event) { e.Raw = []byte(`"` + strings.Repeat("a", cloudevent.MaxData) + `"`) },
	} {
		e := full()
		change(&e)
		_, _, err := cloudevent.Encode(e)
		assert.ErrorIs(t, err, cloudevent.ErrEvent, name)
		_, err = cloudevent.Marshal(e)
		assert.ErrorIs(t, err, cloudevent.ErrEvent, name)
	}
}

func TestForeignLettersAreNotFolded(t *testing.T) {
	t.Parallel()
	header, body, err := cloudevent.Encode(full())
	require.NoError(t, err)
	header["ce-\u212a"] = []string{"the Kelvin sign, which strings.ToLower makes a k"}
	_, err = cloudevent.Decode(header, body)
	assert.ErrorIs(t, err, cloudevent.ErrEvent)
}
