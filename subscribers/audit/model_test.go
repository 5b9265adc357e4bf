package audit_test

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/mod/sumdb/tlog"
	"pgregory.net/rapid"

	"github.com/grapnel-dev/grapnel/subscribers/audit"
)

// Any sequence of appending, redacting, closing and opening again gives the
// log that a list in memory gives.
func TestAnySequence(t *testing.T) {
	t.Parallel()
	k := newKey(t)
	rapid.Check(t, func(t *rapid.T) {
		dir, err := os.MkdirTemp("", "audit-*")
		require.NoError(t, err)
		defer os.RemoveAll(dir)
		o := &audit.Options{
			NoIndex:           true,
			SegmentBytes:      rapid.SampledFrom([]int64{1, 4 << 10, 20 << 10, 1 << 20}).Draw(t, "segment"),
			CheckpointRecords: rapid.Int64Range(1, 5).Draw(t, "checkpoint"),
		}
		l, err := audit.Open(dir, k, o)
		require.NoError(t, err)
		defer func() { l.Close() }()
		type model struct {
			id       string
			redacted bool
		}
		var want []model
		var marks []audit.Checkpoint
		for range rapid.IntRange(1, 12).Draw(t, "steps") {
			switch op := rapid.SampledFrom([]string{"append", "append", "append", "redact", "reopen", "settle", "lose"}).Draw(t, "op"); op {
			case "append":
				r := record(len(want))
				at, err := l.Append(context.Background(), r)
				require.NoError(t, err)
				require.EqualValues(t, len(want), at)
				want = append(want, model{id: r.Event.ID})
			case "redact":
				if len(want) == 0 {
					continue
				}
				i := rapid.IntRange(0, len(want)-1).Draw(t, "target")
				at, err := l.Redact(context.Background(), int64(i), "me", "why not")
				require.NoError(t, err)
				require.EqualValues(t, len(want), at)
				want[i].redacted = true
				want = append(want, model{})
			case "reopen", "lose":
				require.NoError(t, l.Close())
				if op == "lose" {
					os.Remove(filepath.Join(dir, rapid.SampledFrom([]string{"hashes", "lock", "index.sqlite"}).Draw(t, "lost")))
				}
				l, err = audit.Open(dir, k, o)
				require.NoError(t, err)
			case "settle":
				c, err := l.Settle(context.Background())
				require.NoError(t, err)
				require.EqualValues(t, len(want), c.Size)
				marks = append(marks, c)
			}
			require.NoError(t, l.Health())
		}
		require.NoError(t, l.Close())
		i := 0
		r, err := audit.OpenReader(dir)
		require.NoError(t, err)
		defer r.Close()
		var hashes []tlog.Hash
		for rec, err := range r.All(0) {
			require.NoError(t, err)
			require.Equal(t, want[i].id, rec.EventID)
			require.Equal(t, want[i].redacted, rec.Redacted)
			stored, err := tlog.StoredHashesForRecordHash(int64(i), rec.LeafHash(), hashReader(hashes))
			require.NoError(t, err)
			hashes = append(hashes, stored...)
			i++
		}
		require.Equal(t, len(want), i)
		for i, m := range marks {
			root, err := tlog.TreeHash(m.Size, hashReader(hashes))
			require.NoError(t, err)
			require.Equal(t, root, m.Root, "the tree is RFC 6962's, as another program computes it")
			if i < len(marks)-1 {
				continue
			}
			res, err := audit.Verify(context.Background(), dir, k.Verifier(), &audit.VerifyOptions{Checkpoint: m.Note})
			require.NoError(t, err)
			require.True(t, res.OK(), "%v", res.Bad)
		}
		res, err := audit.Verify(context.Background(), dir, k.Verifier(), nil)
		require.NoError(t, err)
		require.True(t, res.OK(), "%v", res.Bad)
		require.EqualValues(t, len(want), res.Records)
	})
}

func hashReader(h []tlog.Hash) tlog.HashReader {
	return tlog.HashReaderFunc(func(at []int64) ([]tlog.Hash, error) {
		list := make([]tlog.Hash, len(at))
		for i, n := range at {
			list[i] = h[n]
		}
		return list, nil
	})
}

func TestCheckpointsComeByTimeAndNumber(t *testing.T) {
	dir, k := t.TempDir(), newKey(t)
	synctest.Test(t, func(t *testing.T) {
		l, err := audit.Open(dir, k, &audit.Options{NoIndex: true, CheckpointRecords: 10})
		require.NoError(t, err)
		assert.EqualValues(t, 0, l.Checkpoint().Size)
		_, err = l.Append(t.Context(), record(0))
		require.NoError(t, err)
		<-time.After(time.Second - time.Millisecond)
		synctest.Wait()
		assert.EqualValues(t, 0, l.Checkpoint().Size)
		<-time.After(2 * time.Millisecond)
		synctest.Wait()
		assert.EqualValues(t, 1, l.Checkpoint().Size, "a second after the first record")
		note := l.Checkpoint().Note
		<-time.After(time.Hour)
		synctest.Wait()
		assert.Equal(t, note, l.Checkpoint().Note, "an idle log signs nothing")
		for i := range 10 {
			_, err = l.Append(t.Context(), record(i))
			require.NoError(t, err)
		}
		synctest.Wait()
		assert.EqualValues(t, 11, l.Checkpoint().Size, "ten records")
		_, err = l.Append(t.Context(), record(0))
		require.NoError(t, err)
		require.NoError(t, l.Close())
		assert.EqualValues(t, 12, l.Checkpoint().Size, "on closing")
	})
	r := verify(t, dir, k, nil)
	assert.True(t, r.OK(), "%v", r.Bad)
	assert.Equal(t, 4, r.Checkpoints)
	assert.EqualValues(t, 12, r.Covered)
}

func TestExports(t *testing.T) {
	t.Parallel()
	dir, k := t.TempDir(), newKey(t)
	l := open(t, dir, k, &audit.Options{NoIndex: true})
	appendN(t, l, 0, 6)
	_, err := l.Redact(context.Background(), 2, "uid:1000", "private")
	require.NoError(t, err)
	odd := record(3)
	odd.Event.Subject, odd.Caller, odd.Verdict.Reason = "a|b=c\\d\nCEF:0|x", "me =\r\n you", "line one\nline two = x | y\x1b[31m"
	_, err = l.Append(context.Background(), odd)
	require.NoError(t, err)
	r := reader(t, dir)
	export := func(f audit.Format, filter audit.Filter) []string { return exportLines(t, r, f, filter) }

	lines := export(audit.NDJSON, audit.Filter{})
	require.Len(t, lines, 8)
	for i, line := range lines {
		var e struct {
			SpecVersion string `json:"specversion"`
			ID          string `json:"id"`
			Type        string `json:"type"`
			Data        struct {
				Envelope json.RawMessage `json:"envelope"`
				LeafHash string          `json:"leaf_hash"`
				Redacted bool            `json:"redacted"`
			} `json:"data"`
		}
		require.NoError(t, json.Unmarshal([]byte(line), &e))
		assert.Equal(t, "1.0", e.SpecVersion)
		assert.Equal(t, "dev.grapnel.audit.record.v1", e.Type)
		assert.Equal(t, i == 2, e.Data.Redacted)
		assert.Equal(t, tlog.RecordHash(e.Data.Envelope).String(), e.Data.LeafHash, "the envelope's bytes are the leaf's")
	}
	assert.Len(t, export(audit.NDJSON, audit.Filter{Effect: "deny"}), 2)

	checkOCSF(t, export(audit.OCSF, audit.Filter{}))

	lines = export(audit.CEF, audit.Filter{})
	require.Len(t, lines, 8, "one line each, whatever the fields hold")
	assert.Regexp(t, `^CEF:0\|grapnel\|grapnel\|1\|verdict:pre_tool_use\|pre_tool_use deny\|6\|rt=\d+ externalId=3 act=deny dvchost=host suser=uid:1000 sproc=claude-code outcome=failure reason=because cs1Label=session cs1=session-0 `, lines[3])
	assert.Contains(t, lines[7], `suser=me \=\r\n you `)
	assert.Contains(t, lines[7], `cs2=a|b\=c\\d\nCEF:0|x `)
	assert.NotContains(t, lines[7], "\x1b")
	_, err = r.Export(context.Background(), os.Stderr, "xml", audit.Filter{})
	assert.ErrorIs(t, err, audit.ErrFormat)
}
