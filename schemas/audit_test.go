package schemas_test

import (
	"testing"
	"time"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/grapnel-dev/grapnel/bus/hook"
	"github.com/grapnel-dev/grapnel/subscribers/audit"
)

// What the audit log itself has written to disk is valid: leaves and payloads
// of random records, of a redaction, and of something that was no event.
func TestWhatTheAuditLogWritesIsValid(t *testing.T) {
	t.Parallel()
	key, err := audit.GenerateKey("test")
	require.NoError(t, err)
	dir := t.TempDir()
	log, err := audit.Open(dir, key, &audit.Options{NoIndex: true})
	require.NoError(t, err)
	kinds := rapid.SampledFrom([]hook.RecordKind{hook.RecordVerdict, hook.RecordNotification, hook.RecordLate})
	written := int64(0)
	add := func(r hook.Record) {
		_, err := log.Append(t.Context(), r)
		require.NoError(t, err)
		written++
	}
	for seed := range 60 {
		r := hook.Record{Kind: kinds.Example(seed), Time: time.Unix(int64(seed), 0), Caller: anyText().Example(seed), Event: anyEvent().Example(seed), Note: anyText().Example(seed)}
		if r.Kind == hook.RecordVerdict {
			v := anyVerdict().Example(seed)
			r.Verdict = &v
		}
		add(r)
	}
	add(hook.Record{Kind: hook.RecordRefused, Note: "not JSON"})
	add(hook.Record{Kind: hook.RecordRefused, Event: hook.Event{ID: "x", Raw: []byte("{")}})
	add(hook.Record{Kind: hook.RecordVerdict, Event: anyEvent().Example(1), Verdict: &hook.Verdict{Reason: "the key is AKIAIOSFODNN7EXAMPLE"}})
	_, err = log.Redact(t.Context(), 0, "a person", "a customer asked")
	require.NoError(t, err)
	written++
	require.NoError(t, log.Close())

	reader, err := audit.OpenReader(dir)
	require.NoError(t, err)
	leaf, payload := compiled(t, "audit-leaf"), compiled(t, "audit-payload")
	read := int64(0)
	for r, err := range reader.All(0) {
		require.NoError(t, err)
		require.NoError(t, validate(leaf, r.Leaf), "%s", r.Leaf)
		text, err := jsonv2.Marshal(r.Payload)
		require.NoError(t, err)
		require.NoError(t, validate(payload, text), "%s", text)
		read++
	}
	require.Equal(t, written, read)
	require.NoError(t, reader.Close())
}
