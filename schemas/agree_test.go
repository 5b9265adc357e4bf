package schemas_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/grapnel-dev/grapnel/bus"
	"github.com/grapnel-dev/grapnel/bus/cloudevent"
	"github.com/grapnel-dev/grapnel/bus/hook"
	"github.com/grapnel-dev/grapnel/internal/strictjson"
)

func anyText() *rapid.Generator[string] {
	return rapid.OneOf(rapid.SampledFrom([]string{"", "x", "Bash", "日本 %41\"\x00"}), rapid.String().Filter(utf8.ValidString))
}

// anyJSON draws a JSON value as a program decodes it.
func anyJSON(depth int) *rapid.Generator[any] {
	return rapid.Custom(func(t *rapid.T) any {
		kind := rapid.IntRange(0, 6).Draw(t, "kind")
		if depth == 0 {
			kind %= 5
		}
		switch kind {
		case 0:
			return nil
		case 1:
			return rapid.Bool().Draw(t, "bool")
		case 2:
			return float64(rapid.IntRange(-5, 5).Draw(t, "number"))
		case 3, 4:
			return rapid.OneOf(anyText(), rapid.SampledFrom([]string{"allow", "deny", "Allow", "1.0", "10s"})).Draw(t, "text")
		case 5:
			return rapid.SliceOfN(anyJSON(depth-1), 0, 3).Draw(t, "array")
		}
		return rapid.MapOfN(rapid.SampledFrom([]string{"a", "effect", "command"}), anyJSON(depth-1), 0, 3).Draw(t, "object")
	})
}

func raw(t *rapid.T, label string, object bool) json.RawMessage {
	if rapid.Bool().Draw(t, label+" absent") {
		return nil
	}
	var v any
	if object {
		v = rapid.MapOfN(anyText(), anyJSON(2), 0, 3).Draw(t, label)
	} else {
		v = anyJSON(2).Draw(t, label)
	}
	b, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return b
}

func anyTime(t *rapid.T, label string) time.Time {
	if rapid.Bool().Draw(t, label+" absent") {
		return time.Time{}
	}
	return time.Unix(rapid.Int64Range(0, 1<<36).Draw(t, label), rapid.Int64Range(0, 999_999_999).Draw(t, "ns")).UTC()
}

func anyEvent() *rapid.Generator[hook.Event] {
	return rapid.Custom(func(t *rapid.T) hook.Event {
		text := func(label string) string { return anyText().Draw(t, label) }
		e := hook.Event{
			ID: "e" + text("id"), Source: "/h/" + text("source"), Name: rapid.SampledFrom(hook.Names()).Draw(t, "name"), Subject: text("subject"),
			Time: anyTime(t, "time"), SessionID: text("session"), CorrelationID: text("correlation"), CausationID: text("causation"),
			Hops: rapid.IntRange(0, 1000).Draw(t, "hops"), Sequence: text("sequence"), Deadline: anyTime(t, "deadline"),
			TraceParent: text("traceparent"), DataRef: text("dataref"),
			Extensions: rapid.MapOfN(rapid.StringMatching(`x[a-z0-9]{1,19}`), anyText(), 0, 3).Draw(t, "extensions"),
			Data: hook.Data{
				CWD: text("cwd"), Workspace: text("workspace"), PermissionMode: text("mode"), Model: text("model"), Prompt: text("prompt"),
				Message: text("message"), Reason: text("reason"), Error: text("error"), Result: raw(t, "result", false),
				DurationMS: rapid.Int64Range(0, 1<<53-1).Draw(t, "duration"), StopActive: rapid.Bool().Draw(t, "active"), Path: text("path"),
			},
		}
		if rapid.Bool().Draw(t, "tool") {
			e.Data.Tool = &hook.Tool{Name: text("tool"), Kind: rapid.SampledFrom(hook.Kinds()).Draw(t, "kind"), Input: raw(t, "input", false), CallID: text("call")}
		}
		if rapid.Bool().Draw(t, "subagent") {
			e.Data.Subagent = &hook.Subagent{ID: text("id"), Type: text("type")}
		}
		if rapid.Bool().Draw(t, "native") {
			e.Data.Native = hook.Native{Agent: text("agent"), Event: text("event"), Payload: raw(t, "payload", false)}
		}
		return e
	})
}

func anyDecision() *rapid.Generator[hook.Decision] {
	return rapid.Custom(func(t *rapid.T) hook.Decision {
		return hook.Decision{
			Effect: rapid.SampledFrom(hook.Effects()).Draw(t, "effect"), Reason: anyText().Draw(t, "reason"), Context: anyText().Draw(t, "context"),
			Rewrite: raw(t, "rewrite", true), Rules: rapid.SliceOfN(anyText(), 0, 3).Draw(t, "rules"),
		}
	})
}

func anyEntry() *rapid.Generator[hook.Entry] {
	return rapid.Custom(func(t *rapid.T) hook.Entry {
		e := hook.Entry{
			Name:      rapid.StringMatching(`[a-z0-9-][a-z0-9_-]{0,63}`).Draw(t, "name"),
			Filter:    rapid.SampledFrom([]string{"", ">", "*", "stop", "*.bash", "pre_tool_use.Bash", "stop, *.mcp__x__y", "pre_tool_use.🪝"}).Draw(t, "filter"),
			When:      anyText().Draw(t, "when"),
			Priority:  int(rapid.Int32().Draw(t, "priority")),
			Timeout:   hook.Duration(rapid.Int64Range(0, int64(hook.MaxTimeout)).Draw(t, "timeout")),
			OnFailure: rapid.SampledFrom([]hook.FailurePolicy{hook.FailDefault, hook.FailDeny, hook.FailAsk, hook.FailAbstain}).Draw(t, "on_failure"),
			Rewrites:  rapid.Bool().Draw(t, "rewrites"),
			Grants:    rapid.Bool().Draw(t, "grants"),
			Shadow:    rapid.Bool().Draw(t, "shadow"),
			WaitAll:   rapid.Bool().Draw(t, "wait_all"),
		}
		e.Rewrites = e.Rewrites && !e.Shadow
		return e
	})
}

func anyVerdict() *rapid.Generator[hook.Verdict] {
	return rapid.Custom(func(t *rapid.T) hook.Verdict {
		var answers []hook.Answer
		for _, e := range rapid.SliceOfN(anyEntry(), 0, 4).Draw(t, "entries") {
			answers = append(answers, hook.Answer{
				Entry: e, Decision: anyDecision().Draw(t, "decision"), Err: anyText().Draw(t, "err"),
				Outcome: rapid.SampledFrom([]hook.Outcome{hook.Answered, hook.Answered, hook.Absent, hook.TimedOut, hook.Malformed, hook.Late,
					hook.Disconnected, hook.Crashed, hook.Forbidden}).Draw(t, "outcome"),
				Rewrote: rapid.Bool().Draw(t, "rewrote"), Elapsed: time.Duration(rapid.Int64Range(0, 1<<40).Draw(t, "elapsed")),
			})
		}
		class := rapid.SampledFrom([]hook.Class{hook.Lifecycle, hook.Gate}).Draw(t, "class")
		v := hook.Merge(class, answers, rapid.SampledFrom(hook.Effects()).Draw(t, "fallback"))
		v.EventID, v.Note, v.Time = anyText().Draw(t, "event_id"), anyText().Draw(t, "note"), anyTime(t, "time")
		v.EventDigest, v.InputDigest = hook.Digest([]byte(v.EventID)), hook.Digest(nil)
		v.Input = raw(t, "input", true)
		v.RosterRevision = rapid.Uint64().Draw(t, "revision")
		if rapid.Bool().Draw(t, "recorded") {
			v.Record = new(rapid.Int64Range(0, 1<<62).Draw(t, "record"))
		}
		return v
	})
}

// holds checks that what both encoders write of drawn values is valid.
func holds[V any](t *testing.T, name string, g *rapid.Generator[V]) {
	t.Helper()
	s := compiled(t, name)
	rapid.Check(t, func(t *rapid.T) {
		v := g.Draw(t, "value")
		one, err := json.Marshal(v)
		require.NoError(t, err)
		require.NoError(t, validate(s, one), "%s", one)
		two, err := jsonv2.Marshal(v)
		require.NoError(t, err)
		require.NoError(t, validate(s, two), "%s", two)
	})
}

func TestWhatWeWriteIsValid(t *testing.T) {
	t.Parallel()
	t.Run("decision", func(t *testing.T) { t.Parallel(); holds(t, "decision", anyDecision()) })
	t.Run("verdict", func(t *testing.T) { t.Parallel(); holds(t, "verdict", anyVerdict()) })
	t.Run("roster-entry", func(t *testing.T) { t.Parallel(); holds(t, "roster-entry", anyEntry()) })
	t.Run("receipt", func(t *testing.T) {
		t.Parallel()
		holds(t, "receipt", rapid.Custom(func(t *rapid.T) hook.Receipt {
			return hook.Receipt{EventID: anyText().Draw(t, "id"), Stream: anyText().Draw(t, "stream"), Sequence: rapid.Uint64().Draw(t, "sequence"), Duplicate: rapid.Bool().Draw(t, "duplicate")}
		}))
	})
	t.Run("event", func(t *testing.T) {
		t.Parallel()
		s := compiled(t, "event")
		rapid.Check(t, func(t *rapid.T) {
			text, err := cloudevent.Marshal(anyEvent().Draw(t, "event"))
			require.NoError(t, err)
			require.NoError(t, validate(s, text), "%s", text)
		})
	})
}

// mutate changes one place of a document, anywhere in it.
func mutate(t *rapid.T, v any, keys []string, depth int) any {
	if depth == 0 || rapid.IntRange(0, 3).Draw(t, "here") == 0 {
		return anyJSON(1).Draw(t, "other")
	}
	switch v := v.(type) {
	case map[string]any:
		key := rapid.SampledFrom(keys).Draw(t, "key")
		if _, ok := v[key]; ok && rapid.Bool().Draw(t, "remove") {
			delete(v, key)
		} else {
			v[key] = mutate(t, v[key], keys, depth-1)
		}
		return v
	case []any:
		if len(v) == 0 {
			return append(v, anyJSON(1).Draw(t, "element"))
		}
		i := rapid.IntRange(0, len(v)-1).Draw(t, "index")
		v[i] = mutate(t, v[i], keys, depth-1)
		return v
	}
	return anyJSON(1).Draw(t, "other")
}

func decoded(v any) any {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	var out any
	if err := json.Unmarshal(b, &out); err != nil {
		panic(err)
	}
	return out
}

func TestDecisionsAreAcceptedAsTheSchemaSays(t *testing.T) {
	t.Parallel()
	s := compiled(t, "decision")
	keys := []string{"effect", "reason", "context", "rewrite", "rules", "Effect", "effe\u017ft", "decision", "a"}
	accepted := 0
	rapid.Check(t, func(t *rapid.T) {
		doc := rapid.OneOf(anyJSON(2), rapid.Map(anyDecision(), func(d hook.Decision) any { return decoded(d) })).Draw(t, "document")
		for range rapid.IntRange(0, 2).Draw(t, "mutations") {
			doc = mutate(t, doc, keys, 3)
		}
		text, err := json.Marshal(doc)
		require.NoError(t, err)
		valid := validate(s, text)
		_, err = bus.DecodeDecision(text)
		require.Equal(t, valid == nil, err == nil, "%s: the schema says %v, the decoder %v", text, valid, err)
		if err == nil {
			accepted++
		}
	})
	require.Greater(t, accepted, 5, "the generator must reach both sides")
}

func TestValidEventsAreAccepted(t *testing.T) {
	t.Parallel()
	s := compiled(t, "event")
	keys := []string{"id", "source", "type", "subject", "time", "hops", "tenant", "data", "tool", "kind", "name", "native", "result", "data_base64", "Data", "duration_ms"}
	rapid.Check(t, func(t *rapid.T) {
		text, err := cloudevent.Marshal(anyEvent().Draw(t, "event"))
		require.NoError(t, err)
		var doc any
		require.NoError(t, json.Unmarshal(text, &doc))
		for range rapid.IntRange(0, 2).Draw(t, "mutations") {
			doc = mutate(t, doc, keys, 3)
		}
		if o, ok := doc.(map[string]any); ok && o["data_base64"] != nil {
			return // a schema does not look into base64
		}
		text, err = json.Marshal(doc)
		require.NoError(t, err)
		if validate(s, text) == nil {
			_, err := cloudevent.Unmarshal(text)
			require.NoError(t, err, "%s", text)
		}
	})
}

func TestRosterEntriesAreAcceptedAsTheSchemaSays(t *testing.T) {
	t.Parallel()
	s := compiled(t, "roster-entry")
	keys := []string{"name", "filter", "when", "priority", "timeout", "on_failure", "rewrites", "shadow", "Name"}
	rapid.Check(t, func(t *rapid.T) {
		doc := decoded(anyEntry().Draw(t, "entry"))
		if rapid.Bool().Draw(t, "mutated") {
			doc = mutate(t, doc, keys, 2)
		}
		text, err := json.Marshal(doc)
		require.NoError(t, err)
		if validate(s, text) != nil {
			return
		}
		var e hook.Entry
		require.NoError(t, strictjson.Unmarshal(text, &e, 0), "%s", text)
		if _, err := hook.ParsePattern(e.Filter); err != nil {
			return // a schema knows the form of a pattern and not the events
		}
		require.NoError(t, e.Validate(), "%s", text)
	})
}

func TestExamplesAndDecodersAgree(t *testing.T) {
	t.Parallel()
	for schema, accept := range map[string]func([]byte) error{
		"event":    func(b []byte) error { _, err := cloudevent.Unmarshal(b); return err },
		"decision": func(b []byte) error { _, err := bus.DecodeDecision(b); return err },
		"roster-entry": func(b []byte) error {
			var e hook.Entry
			if err := strictjson.Unmarshal(b, &e, 0); err != nil {
				return err
			}
			return e.Validate()
		},
	} {
		for path, text := range examples(t, schema, "valid") {
			require.NoError(t, accept(text), path)
		}
		for path, text := range examples(t, schema, "invalid") {
			require.Error(t, accept(text), path)
		}
	}
}

func examples(t *testing.T, schema, kind string) map[string][]byte {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join("testdata", schema, kind, "*.json"))
	require.NoError(t, err)
	require.NotEmpty(t, paths)
	all := map[string][]byte{}
	for _, path := range paths {
		text, err := os.ReadFile(path)
		require.NoError(t, err)
		all[strings.TrimSuffix(filepath.Base(path), ".json")] = text
	}
	return all
}
