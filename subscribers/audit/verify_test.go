package audit_test

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/grapnel-dev/grapnel/subscribers/audit"
)

func verify(t testing.TB, dir string, k *audit.Key, o *audit.VerifyOptions) audit.Result {
	t.Helper()
	r, err := audit.Verify(context.Background(), dir, k.Verifier(), o)
	require.NoError(t, err)
	return r
}

func requireGood(t testing.TB, dir string, k *audit.Key, records int) {
	t.Helper()
	r := verify(t, dir, k, nil)
	require.True(t, r.OK(), "%v", r.Bad)
	require.EqualValues(t, records, r.Records)
}

func TestVerifyWhileItIsWritten(t *testing.T) {
	t.Parallel()
	dir, k := t.TempDir(), newKey(t)
	requireEmpty := verifyOf(t, dir, k)
	assert.Error(t, requireEmpty, "there is no log yet")
	l := open(t, dir, k, &audit.Options{SegmentBytes: 64 << 10})
	requireGood(t, dir, k, 0)
	stop, ended := make(chan struct{}), make(chan int)
	go func() {
		n := 0
		for ; ; n++ {
			select {
			case <-stop:
				ended <- n
				return
			default:
				_, err := l.Append(context.Background(), record(n))
				assert.NoError(t, err)
			}
		}
	}()
	for range 20 {
		r := verify(t, dir, k, nil)
		assert.True(t, r.OK(), "%v", r.Bad)
		assert.True(t, r.Live)
	}
	close(stop)
	n := <-ended
	c, err := l.Settle(context.Background())
	require.NoError(t, err)
	require.NoError(t, l.Close())
	r := verify(t, dir, k, &audit.VerifyOptions{Checkpoint: c.Note})
	assert.True(t, r.OK(), "%v", r.Bad)
	assert.True(t, r.Anchored)
	assert.False(t, r.Live)
	assert.EqualValues(t, n, r.Records)
	assert.EqualValues(t, n, r.Covered)
}

func verifyOf(t testing.TB, dir string, k *audit.Key) error {
	t.Helper()
	_, err := audit.Verify(context.Background(), filepath.Join(dir, "none"), k.Verifier(), nil)
	return err
}

// sample is a closed log, its outside checkpoint, and where each record
// begins.
type sample struct {
	dir     string
	k       *audit.Key
	outside []byte
	n       int
}

func newSample(t testing.TB, n int, segmentBytes int64) sample {
	t.Helper()
	s := sample{dir: t.TempDir(), k: newKey(t), n: n}
	l, err := audit.Open(s.dir, s.k, &audit.Options{SegmentBytes: segmentBytes, NoIndex: true})
	require.NoError(t, err)
	appendN(t, l, 0, n)
	c, err := l.Settle(context.Background())
	require.NoError(t, err)
	require.NoError(t, l.Close())
	s.outside = c.Note
	return s
}

// with runs f on a copy of the sample.
func (s sample) with(t testing.TB, f func(dir string)) audit.Result {
	t.Helper()
	dir := t.TempDir()
	require.NoError(t, os.CopyFS(dir, os.DirFS(s.dir)))
	f(dir)
	r, err := audit.Verify(context.Background(), dir, s.k.Verifier(), &audit.VerifyOptions{Checkpoint: s.outside})
	require.NoError(t, err)
	return r
}

// starts finds where each record begins: every frame has its magic, and no
// payload of the sample holds it.
func starts(b []byte) []int {
	var list []int
	for at := 0; ; {
		i := bytes.Index(b[at:], []byte("GRec"))
		if i < 0 {
			return append(list, len(b))
		}
		list = append(list, at+i)
		at += i + 4
	}
}

func TestEachTamperingIsFoundAndPlaced(t *testing.T) {
	t.Parallel()
	s := newSample(t, 1000, 1<<30)
	seg := filepath.Join("segments", fmt.Sprintf("%020d.seg", 0))
	whole, err := os.ReadFile(filepath.Join(s.dir, seg))
	require.NoError(t, err)
	at := starts(whole)
	require.Len(t, at, s.n+1)
	recordAt := func(offset int) int64 {
		for i := range s.n {
			if offset < at[i+1] {
				return int64(i)
			}
		}
		return int64(s.n)
	}
	check := func(what string, want int64, b []byte) {
		t.Helper()
		r := s.with(t, func(dir string) { require.NoError(t, os.WriteFile(filepath.Join(dir, seg), b, 0o600)) })
		if assert.False(t, r.OK(), "%s was not found", what) {
			assert.True(t, r.Bad.Index <= want && want <= max(want, r.Bad.Last) && r.Bad.Index == want, "%s at record %d, found: %v", what, want, r.Bad)
		}
	}
	rnd := rand.New(rand.NewPCG(3, 4))
	// Every byte of two records' frames, leaves, salts and payloads would be
	// too slow with 1,000 records; the places are drawn, the first and the
	// last included.
	places := []int{0, 10, at[0], at[0] + 5, at[1] - 1, at[s.n-1], len(whole) - 1}
	for range 40 {
		places = append(places, rnd.IntN(len(whole)))
	}
	for _, p := range places {
		b := bytes.Clone(whole)
		b[p] ^= 1 << rnd.IntN(8)
		check(fmt.Sprintf("a flip at byte %d", p), recordAt(p), b)
	}
	for range 5 {
		p := rnd.IntN(len(whole))
		check("a deleted byte", recordAt(p), append(bytes.Clone(whole[:p]), whole[p+1:]...))
		b := append(bytes.Clone(whole[:p]), 'x')
		check("an inserted byte", recordAt(p), append(b, whole[p:]...))
		check("a cut", recordAt(p), bytes.Clone(whole[:p]))
		i := rnd.IntN(s.n - 1)
		check("a deleted record", int64(i), append(bytes.Clone(whole[:at[i]]), whole[at[i+1]:]...))
		check("a doubled record", int64(i+1), append(bytes.Clone(whole[:at[i+1]]), whole[at[i]:]...))
		b = append(bytes.Clone(whole[:at[i]]), whole[at[i+1]:at[i+2]]...)
		b = append(b, whole[at[i]:at[i+1]]...)
		check("two swapped records", int64(i), append(b, whole[at[i+2]:]...))
		check("a cut between records", int64(i), bytes.Clone(whole[:at[i]]))
	}
	check("one record too many", int64(s.n), append(bytes.Clone(whole), whole[at[5]:at[6]]...))
	check("garbage at the end", int64(s.n), append(bytes.Clone(whole), "GR"...))

	// The derived files and the checkpoints.
	for _, name := range []string{"hashes", "checkpoints", "segments/" + fmt.Sprintf("%020d.off", 0)} {
		b, err := os.ReadFile(filepath.Join(s.dir, name))
		require.NoError(t, err)
		for range 10 {
			p := rnd.IntN(len(b))
			flipped := bytes.Clone(b)
			flipped[p] ^= 1 << rnd.IntN(8)
			r := s.with(t, func(dir string) { require.NoError(t, os.WriteFile(filepath.Join(dir, name), flipped, 0o600)) })
			assert.False(t, r.OK(), "a flip at byte %d of %s", p, name)
		}
	}
	r := s.with(t, func(dir string) { require.NoError(t, os.Remove(filepath.Join(dir, "checkpoints"))) })
	assert.False(t, r.OK(), "no checkpoints")
	r = s.with(t, func(dir string) { require.NoError(t, os.Remove(filepath.Join(dir, seg))) })
	assert.False(t, r.OK(), "no segment")
	r = s.with(t, func(dir string) { require.NoError(t, os.Remove(filepath.Join(dir, "hashes"))) })
	assert.True(t, r.OK(), "the hashes can be computed: %v", r.Bad)
}

func TestSinceReadsTheEndOnly(t *testing.T) {
	t.Parallel()
	s := newSample(t, 300, 32<<10)
	since := func(n int64) audit.Result {
		return verify(t, s.dir, s.k, &audit.VerifyOptions{Since: n, Checkpoint: s.outside})
	}
	for _, n := range []int64{0, 1, 150, 299, 1000} {
		r := since(n)
		assert.True(t, r.OK(), "since %d: %v", n, r.Bad)
		assert.EqualValues(t, 300, r.Records)
	}
	// A damage in the first segment is not seen from the last.
	seg := filepath.Join(s.dir, "segments", fmt.Sprintf("%020d.seg", 0))
	b, err := os.ReadFile(seg)
	require.NoError(t, err)
	b[1000] ^= 1
	require.NoError(t, os.WriteFile(seg, b, 0o600))
	assert.True(t, since(299).OK())
	assert.False(t, since(0).OK())
}

func TestOutsideCheckpoints(t *testing.T) {
	t.Parallel()
	s := newSample(t, 50, 1<<20)
	other := newSample(t, 50, 1<<20)
	_, err := audit.Verify(context.Background(), s.dir, s.k.Verifier(), &audit.VerifyOptions{Checkpoint: other.outside})
	assert.ErrorIs(t, err, audit.ErrCheckpoint)

	// A log made again from nothing by somebody who has the key.
	dir := t.TempDir()
	l, err := audit.Open(dir, s.k, nil)
	require.NoError(t, err)
	appendN(t, l, 0, 60)
	require.NoError(t, l.Close())
	assert.True(t, verify(t, dir, s.k, nil).OK(), "in itself it is in order")
	r := verify(t, dir, s.k, &audit.VerifyOptions{Checkpoint: s.outside})
	require.False(t, r.OK())
	assert.Equal(t, audit.ProblemTree, r.Bad.Problem)
}
