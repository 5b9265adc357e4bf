package audit_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/grapnel-dev/grapnel/bus/hook"
	"github.com/grapnel-dev/grapnel/subscribers/audit"
)

// inFiles counts in how many files below dir text stands.
func inFiles(t testing.TB, dir, text string) int {
	t.Helper()
	n := 0
	require.NoError(t, filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := os.ReadFile(path)
		if bytes.Contains(b, []byte(text)) {
			n++
		}
		return err
	}))
	return n
}

func TestRedactionLeavesEveryProof(t *testing.T) {
	t.Parallel()
	dir, k := t.TempDir(), newKey(t)
	l := open(t, dir, k, &audit.Options{SegmentBytes: 16 << 10})
	appendN(t, l, 0, 60)
	private := record(60)
	private.Event.Data.Prompt = "my diary says XYZZY"
	at, err := l.Append(context.Background(), private)
	require.NoError(t, err)
	require.Equal(t, 1, inFiles(t, dir, "XYZZY"))
	c, err := l.Settle(context.Background())
	require.NoError(t, err)
	before := map[int64][]byte{}
	for i := range at + 1 {
		before[i], err = l.Prove(context.Background(), i)
		require.NoError(t, err)
	}
	old, err := reader(t, dir).Record(at)
	require.NoError(t, err)
	find(t, reader(t, dir), audit.Filter{})

	for _, i := range []int64{at, 3, 3, 17} {
		n, err := l.Redact(context.Background(), i, "uid:1000", "asked for by the person")
		require.NoError(t, err)
		rec, err := reader(t, dir).Record(n)
		require.NoError(t, err)
		assert.Equal(t, audit.Redaction, rec.Kind)
		assert.Equal(t, i, *rec.Target)
		assert.Equal(t, "uid:1000", rec.Caller)
		assert.Equal(t, "asked for by the person", rec.Payload.Reason)
	}
	assert.Zero(t, inFiles(t, dir, "XYZZY"), "the payload is nowhere on disk")
	rec, err := reader(t, dir).Record(at)
	require.NoError(t, err)
	assert.True(t, rec.Redacted)
	assert.Zero(t, rec.Payload)
	assert.Equal(t, old.Leaf, rec.Leaf)
	for i, p := range before {
		_, err := audit.CheckProof(p, k.Verifier())
		require.NoError(t, err)
		now, err := l.Prove(context.Background(), i)
		require.NoError(t, err)
		_, err = audit.CheckProof(now, k.Verifier())
		require.NoError(t, err)
	}
	_, err = l.Redact(context.Background(), 1000, "me", "why")
	assert.ErrorIs(t, err, audit.ErrNotFound)
	_, err = l.Redact(context.Background(), 1, "me", "")
	assert.Error(t, err, "a reason is needed")
	require.NoError(t, l.Close())
	r := verify(t, dir, k, &audit.VerifyOptions{Checkpoint: c.Note})
	require.True(t, r.OK(), "%v", r.Bad)
	assert.EqualValues(t, 3, r.Redacted)
}

func TestPayloadsDoNotGoWithoutARecord(t *testing.T) {
	t.Parallel()
	s := newSample(t, 20, 1<<20)
	seg := filepath.Join("segments", fmt.Sprintf("%020d.seg", 0))
	r := s.with(t, func(dir string) {
		b, err := os.ReadFile(filepath.Join(dir, seg))
		require.NoError(t, err)
		at := starts(b)
		rec, err := reader(t, dir).Record(7)
		require.NoError(t, err)
		clear(b[at[7]+24+len(rec.Leaf) : at[8]])
		require.NoError(t, os.WriteFile(filepath.Join(dir, seg), b, 0o600))
	})
	require.False(t, r.OK())
	assert.Equal(t, audit.ProblemErased, r.Bad.Problem)
	assert.EqualValues(t, 7, r.Bad.Index)
}

// A crash between the record of a redaction and the deletion, at every stage
// of the deletion.
func TestRedactionIsFinishedAfterACrash(t *testing.T) {
	t.Parallel()
	dir, k := t.TempDir(), newKey(t)
	l, err := audit.Open(dir, k, &audit.Options{NoIndex: true})
	require.NoError(t, err)
	appendN(t, l, 0, 3)
	rec, err := reader(t, dir).Record(1)
	require.NoError(t, err)
	seg := filepath.Join(dir, "segments", fmt.Sprintf("%020d.seg", 0))
	whole, err := os.ReadFile(seg)
	require.NoError(t, err)
	_, err = l.Redact(context.Background(), 1, "me", "private")
	require.NoError(t, err)
	after, err := os.ReadFile(seg)
	require.NoError(t, err)
	checkpoints, err := os.ReadFile(filepath.Join(dir, "checkpoints"))
	require.NoError(t, err)
	require.NoError(t, l.Close())
	from := starts(after)[1] + 24 + len(rec.Leaf)
	to := starts(after)[2]
	for _, done := range []int{0, 1, 20, 32, 33, 500, to - from - 1, to - from} {
		crashed := t.TempDir()
		require.NoError(t, os.CopyFS(crashed, os.DirFS(dir)))
		b := bytes.Clone(after)
		copy(b[from+done:to], whole[from+done:to])
		require.NoError(t, os.WriteFile(filepath.Join(crashed, "segments", filepath.Base(seg)), b, 0o600))
		require.NoError(t, os.WriteFile(filepath.Join(crashed, "checkpoints"), checkpoints, 0o600))
		l, err := audit.Open(crashed, k, &audit.Options{NoIndex: true})
		require.NoError(t, err, "%d bytes were erased", done)
		require.EqualValues(t, 4, l.Size())
		require.NoError(t, l.Close())
		requireGood(t, crashed, k, 4)
		rec, err := reader(t, crashed).Record(1)
		require.NoError(t, err)
		assert.True(t, rec.Redacted)
	}
}

// Secrets are in no file, whatever part of a record they came in.
func TestSecretsDoNotReachTheDisk(t *testing.T) {
	t.Parallel()
	dir, k := t.TempDir(), newKey(t)
	l := open(t, dir, k, nil)
	token := func(i int) string {
		sum := sha256.Sum256([]byte{byte(i)})
		return "ghp_" + hex.EncodeToString(sum[:])[:36]
	}
	r := record(0)
	spots := []*string{
		&r.Event.Subject, &r.Event.SessionID, &r.Event.ID, &r.Event.CorrelationID, &r.Event.Data.Prompt, &r.Event.Data.Message, &r.Event.Data.CWD,
		&r.Event.Data.Error, &r.Event.Data.Tool.Name, &r.Event.Data.Tool.CallID, &r.Event.Data.Native.Event, &r.Verdict.Reason, &r.Verdict.Context,
		&r.Verdict.Outcomes[0].Reason, &r.Verdict.Outcomes[0].Rules[0], &r.Verdict.Outcomes[0].Decider, &r.Note, &r.Caller,
	}
	for i, s := range spots {
		*s = "x " + token(i)
	}
	r.Event.Data.Tool.Input = []byte(`{"command":"curl -H 'Authorization: Bearer ` + token(100) + `' https://x/ --data \"ghp\u005f` + token(101)[4:] + `\""}`)
	r.Event.Data.Native.Payload = []byte(`{"nested":"{\"k\":\"` + token(102) + `\"}"}`)
	digest := hook.Digest([]byte(r.Event.Data.Tool.Input))
	r.Verdict.EventDigest, r.Verdict.InputDigest = digest, digest
	at, err := l.Append(context.Background(), r)
	require.NoError(t, err)
	refused := hook.Record{Kind: hook.RecordRefused, Note: "bad " + token(103), Event: hook.Event{Raw: []byte("{not json " + token(104))}}
	_, err = l.Append(context.Background(), refused)
	require.NoError(t, err)
	_, err = l.Redact(context.Background(), at, "me "+token(105), "because of "+token(106))
	require.NoError(t, err)
	_, err = l.Append(context.Background(), r)
	require.NoError(t, err)
	rd := reader(t, dir)
	rec, err := rd.Record(3)
	require.NoError(t, err)
	assert.GreaterOrEqual(t, rec.Secrets, 18)
	assert.Len(t, find(t, rd, audit.Filter{}), 4)
	var exports bytes.Buffer
	for _, f := range audit.Formats() {
		n, err := rd.Export(context.Background(), &exports, f, audit.Filter{})
		require.NoError(t, err)
		assert.EqualValues(t, 4, n)
	}
	require.NoError(t, l.Close())
	for i := range 107 {
		secret := token(i)[4:]
		assert.Zero(t, inFiles(t, dir, secret), "secret %d", i)
		assert.NotContains(t, exports.String(), secret, "secret %d", i)
	}
	assert.Zero(t, inFiles(t, dir, digest), "a digest over a secret lets anybody try guesses")
	requireGood(t, dir, k, 4)
}

// An envelope holds what it must whatever the record is made of.
func TestEnvelopeFits(t *testing.T) {
	t.Parallel()
	dir, k := t.TempDir(), newKey(t)
	l := open(t, dir, k, &audit.Options{NoIndex: true})
	r := record(0)
	nasty := strings.Repeat("\x01\u2028<&>\"", 600)
	r.Event.Subject, r.Event.SessionID, r.Event.CorrelationID, r.Event.CausationID, r.Caller = nasty, nasty, nasty, nasty, nasty
	r.Event.Data.Tool.CallID = "\xff\xfe" + nasty
	r.Event.Source = "/" + strings.Repeat("h", 4000)
	r.Verdict.Outcomes = nil
	for i := range 500 {
		o := hook.DeciderOutcome{Decider: fmt.Sprintf("decider-%d-%s", i, strings.Repeat("d", 40)), Outcome: hook.Answered, ElapsedUS: 1 << 40}
		for j := range 20 {
			o.Rules = append(o.Rules, fmt.Sprintf("rule-%d-%d-%s", i, j, strings.Repeat("r", 300)))
		}
		r.Verdict.Outcomes = append(r.Verdict.Outcomes, o)
	}
	at, err := l.Append(context.Background(), r)
	require.NoError(t, err)
	rec, err := reader(t, dir).Record(at)
	require.NoError(t, err)
	assert.LessOrEqual(t, len(rec.Leaf), audit.MaxLeaf)
	assert.NotEmpty(t, rec.Deciders)
	assert.Equal(t, 500, len(rec.Deciders)+rec.Omitted)
	assert.Equal(t, "event-0", rec.EventID)
}

func TestReadersDuringRedactions(t *testing.T) {
	t.Parallel()
	dir, k := t.TempDir(), newKey(t)
	l := open(t, dir, k, &audit.Options{NoIndex: true})
	appendN(t, l, 0, 40)
	var all sync.WaitGroup
	for i := range int64(40) {
		all.Go(func() {
			_, err := l.Redact(context.Background(), i, "me", "private")
			assert.NoError(t, err)
		})
	}
	r := reader(t, dir)
	for range 10 {
		for _, err := range r.All(0) {
			assert.NoError(t, err)
		}
		v := verify(t, dir, k, nil)
		assert.True(t, v.OK(), "%v", v.Bad)
	}
	all.Wait()
	require.NoError(t, l.Close())
	requireGood(t, dir, k, 80)
}
