package audit_test

import (
	"context"
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/grapnel-dev/grapnel/bus/hook"
	"github.com/grapnel-dev/grapnel/subscribers/audit"
)

func TestMain(m *testing.M) {
	if child(os.Args) {
		return
	}
	goleak.VerifyTestMain(m)
}

func newKey(t testing.TB) *audit.Key {
	t.Helper()
	k, err := audit.GenerateKey("test.example/log")
	require.NoError(t, err)
	return k
}

func open(t testing.TB, dir string, k *audit.Key, o *audit.Options) *audit.Log {
	t.Helper()
	l, err := audit.Open(dir, k, o)
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, l.Close()) })
	return l
}

func reader(t testing.TB, dir string) *audit.Reader {
	t.Helper()
	r, err := audit.OpenReader(dir)
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, r.Close()) })
	return r
}

// record is an ordinary record: a shell command and a verdict.
func record(i int) hook.Record {
	e := hook.Event{
		ID: fmt.Sprintf("event-%d", i), Source: "/host/claude-code", Name: hook.PreToolUse, Subject: "Bash",
		Time: time.Unix(1_800_000_000+int64(i), 0).UTC(), SessionID: fmt.Sprintf("session-%d", i%3), CorrelationID: "turn-1",
		Data: hook.Data{
			CWD:    "/home/me/project",
			Tool:   &hook.Tool{Name: "Bash", Kind: hook.KindShell, Input: []byte(fmt.Sprintf(`{"command":"echo %d"}`, i)), CallID: fmt.Sprintf("call-%d", i)},
			Native: hook.Native{Agent: "claude-code", Event: "PreToolUse", Payload: []byte(fmt.Sprintf(`{"tool_name":"Bash","tool_input":{"command":"echo %d"}}`, i))},
		},
	}
	v := hook.Verdict{
		EventID: e.ID, EventDigest: hook.Digest([]byte(e.ID)), Effect: hook.Effect(i % 5), Reason: "because", RosterRevision: 7,
		Outcomes: []hook.DeciderOutcome{{Decider: "policy", Outcome: hook.Answered, Effect: hook.Effect(i % 5), Rules: []string{"no-rm"}, ElapsedUS: 120}},
		Time:     e.Time,
	}
	return hook.Record{Kind: hook.RecordVerdict, Time: e.Time, Caller: "uid:1000", Event: e, Verdict: &v}
}

func appendN(t testing.TB, l *audit.Log, from, n int) {
	t.Helper()
	for i := from; i < from+n; i++ {
		at, err := l.Append(context.Background(), record(i))
		require.NoError(t, err)
		require.EqualValues(t, i, at)
	}
}

func TestWhatIsAppendedIsThere(t *testing.T) {
	t.Parallel()
	dir, k := t.TempDir(), newKey(t)
	l := open(t, dir, k, nil)
	require.NoError(t, l.Health())
	appendN(t, l, 0, 10)
	assert.EqualValues(t, 10, l.Size())

	r := reader(t, dir)
	n, err := r.Len()
	require.NoError(t, err)
	assert.EqualValues(t, 10, n)
	for i := range int64(10) {
		rec, err := r.Record(i)
		require.NoError(t, err)
		assert.Equal(t, i, rec.Index)
		assert.Equal(t, fmt.Sprintf("event-%d", i), rec.EventID)
		assert.Equal(t, "claude-code", rec.Agent)
		assert.Equal(t, []string{"no-rm"}, rec.Rules)
		assert.Contains(t, string(rec.Payload.Event), fmt.Sprintf(`"command":"echo %d"`, i))
		assert.LessOrEqual(t, len(rec.Leaf), audit.MaxLeaf)
	}
	_, err = r.Record(10)
	assert.ErrorIs(t, err, audit.ErrNotFound)

	require.NoError(t, l.Close())
	require.NoError(t, l.Close(), "closing twice is fine")
	assert.ErrorIs(t, l.Health(), audit.ErrClosed)
	_, err = l.Append(context.Background(), record(0))
	assert.ErrorIs(t, err, audit.ErrClosed)

	l = open(t, dir, k, nil)
	appendN(t, l, 10, 5)
	i := int64(0)
	for rec, err := range r.All(0) {
		require.NoError(t, err)
		assert.Equal(t, i, rec.Index)
		i++
	}
	assert.EqualValues(t, 15, i)
}

func TestProofsNeedNoLog(t *testing.T) {
	t.Parallel()
	dir, k := t.TempDir(), newKey(t)
	l := open(t, dir, k, nil)
	appendN(t, l, 0, 20)
	for i := range int64(20) {
		p, err := l.Prove(context.Background(), i)
		require.NoError(t, err)
		proven, err := audit.CheckProof(p, k.Verifier())
		require.NoError(t, err)
		assert.Equal(t, i, proven.Index)
		assert.Equal(t, fmt.Sprintf("event-%d", i), proven.EventID)
	}
	p, err := l.Prove(context.Background(), 3)
	require.NoError(t, err)
	_, err = audit.CheckProof(p, newKey(t).Verifier())
	assert.ErrorIs(t, err, audit.ErrProof, "another key")
	for i := range p {
		q := append([]byte(nil), p...)
		q[i] ^= 1
		_, err := audit.CheckProof(q, k.Verifier())
		assert.ErrorIs(t, err, audit.ErrProof, "byte %d of %q", i, p)
	}
	_, err = l.Prove(context.Background(), 20)
	assert.ErrorIs(t, err, audit.ErrNotFound)
}
