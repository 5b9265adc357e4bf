package audit_test

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/mod/sumdb/note"

	"github.com/grapnel-dev/grapnel/subscribers/audit"
)

// fixture is a log of six records in three segments, one of them redacted,
// that was written once; its private key is gone.
type fixture struct {
	dir        string
	verifier   note.Verifier
	checkpoint []byte
	proof      []byte
}

func newFixture(t testing.TB) fixture {
	t.Helper()
	f := fixture{dir: t.TempDir()}
	require.NoError(t, os.CopyFS(f.dir, os.DirFS(filepath.Join("testdata", "log"))))
	read := func(name string) []byte {
		b, err := os.ReadFile(filepath.Join("testdata", name))
		require.NoError(t, err)
		return b
	}
	var err error
	f.verifier, err = note.NewVerifier(strings.TrimSpace(string(read("verifier.key"))))
	require.NoError(t, err)
	f.checkpoint, f.proof = read("checkpoint"), read("record-3.tlog-proof")
	return f
}

// What version 1 wrote stays readable.
func TestFixture(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	res, err := audit.Verify(context.Background(), f.dir, f.verifier, &audit.VerifyOptions{Checkpoint: f.checkpoint})
	require.NoError(t, err)
	require.True(t, res.OK(), "%v", res.Bad)
	assert.EqualValues(t, 6, res.Records)
	assert.EqualValues(t, 1, res.Redacted)
	p, err := audit.CheckProof(f.proof, f.verifier)
	require.NoError(t, err)
	assert.EqualValues(t, 3, p.Index)
	assert.Len(t, find(t, reader(t, f.dir), audit.Filter{}), 6)
}

// FuzzSegment opens, reads and verifies a log whose segment is anything.
func FuzzSegment(f *testing.F) {
	s := newFixture(f)
	name := "segments/00000000000000000005.seg"
	good, err := os.ReadFile(filepath.Join(s.dir, name))
	require.NoError(f, err)
	f.Add(good)
	f.Add(good[:len(good)-5])
	f.Add(append(bytes.Clone(good), make([]byte, 100)...))
	f.Add([]byte{})
	dir := s.dir
	f.Fuzz(func(t *testing.T, b []byte) {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), b, 0o600))
		r, err := audit.OpenReader(dir)
		require.NoError(t, err)
		n := 0
		for rec, err := range r.All(0) {
			if err != nil {
				break
			}
			require.EqualValues(t, n, rec.Index)
			n++
		}
		r.Record(5)
		res, err := audit.Verify(context.Background(), dir, s.verifier, &audit.VerifyOptions{Checkpoint: s.checkpoint})
		require.NoError(t, err)
		same := len(b) >= len(good) && bytes.Equal(b[:len(good)], good) && len(bytes.Trim(b[len(good):], "\x00")) == 0
		require.Equal(t, same, res.OK(), "%v", res.Bad)
	})
}

func FuzzFrame(f *testing.F) {
	s := newFixture(f)
	good, err := os.ReadFile(filepath.Join(s.dir, "segments/00000000000000000005.seg"))
	require.NoError(f, err)
	f.Add(good[starts(good)[0]:])
	f.Fuzz(func(t *testing.T, b []byte) {
		leaf, payload, err := audit.ParseFrame(b)
		if err != nil {
			return
		}
		require.LessOrEqual(t, len(leaf), audit.MaxLeaf)
		require.LessOrEqual(t, len(leaf)+len(payload), len(b))
	})
}

func FuzzCheckpoint(f *testing.F) {
	s := newFixture(f)
	f.Add(s.checkpoint)
	all, err := os.ReadFile(filepath.Join(s.dir, "checkpoints"))
	require.NoError(f, err)
	f.Add(all)
	f.Add(all[:len(all)-7])
	f.Fuzz(func(t *testing.T, b []byte) {
		if c, err := audit.ParseCheckpoint(b, s.verifier); err == nil {
			require.Equal(t, "fixture.example/log", c.Origin)
			require.True(t, c.Size == 0 || c.Size == 6, "a checkpoint that was never signed")
		}
		signed, whole := audit.LastCheckpoint(b)
		require.LessOrEqual(t, whole, len(b))
		require.True(t, signed == nil || bytes.Contains(b, signed))
		for rest := b; ; {
			signed, next := audit.CutCheckpoint(rest)
			if signed == nil {
				break
			}
			require.Less(t, len(next), len(rest), "it must end")
			rest = next
		}
	})
}

func FuzzProof(f *testing.F) {
	s := newFixture(f)
	f.Add(s.proof)
	f.Add(bytes.Replace(s.proof, []byte("index 3"), []byte("index 03"), 1))
	f.Fuzz(func(t *testing.T, b []byte) {
		if p, err := audit.CheckProof(b, s.verifier); err == nil {
			require.EqualValues(t, 3, p.Index)
			require.Equal(t, "event-3", p.EventID)
		}
	})
}

func FuzzEnvelope(f *testing.F) {
	s := newFixture(f)
	rec, err := reader(f, s.dir).Record(0)
	require.NoError(f, err)
	f.Add(rec.Leaf)
	f.Fuzz(func(t *testing.T, b []byte) {
		if e, err := audit.ParseEnvelope(b); err == nil {
			require.GreaterOrEqual(t, e.Index, int64(0))
			require.NotEmpty(t, e.Kind)
		}
	})
}
