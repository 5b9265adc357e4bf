package audit_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/grapnel-dev/grapnel/subscribers/audit"
)

// A writer is killed at a hundred random points, each time on the log that the
// ones before left behind.
func TestNothingAcknowledgedIsLostToKill(t *testing.T) {
	t.Parallel()
	dir, k := t.TempDir(), newKey(t)
	rnd := rand.New(rand.NewPCG(5, 6))
	recovered := 0
	before := int64(0)
	for round := range 100 {
		cmd, out := start(t, "-audit-writer", dir, k)
		last := int64(-1)
		kill := 1 + rnd.IntN(60)
		for n := 0; out.Scan(); {
			var at int64
			if _, err := fmt.Sscanf(out.Text(), "acked %d", &at); err != nil {
				_, err := fmt.Sscanf(out.Text(), "open %d", &at)
				require.NoError(t, err, "%q", out.Text())
				require.GreaterOrEqual(t, at, before, "round %d", round)
				continue
			}
			last = max(last, at)
			if n++; n == kill {
				require.NoError(t, cmd.Process.Kill())
			}
		}
		cmd.Wait()
		require.GreaterOrEqual(t, last, int64(0), "round %d: nothing was written", round)
		// Without a writer to put things right, all that was acknowledged is
		// there already.
		n, err := reader(t, dir).Len()
		require.NoError(t, err, "round %d", round)
		require.Greater(t, n, last, "round %d: an acknowledged record is gone", round)
		before = last + 1
	}
	l := open(t, dir, k, nil)
	n := l.Size()
	require.NoError(t, l.Close())
	requireGood(t, dir, k, int(n))
	i := int64(0)
	for rec, err := range reader(t, dir).All(0) {
		require.NoError(t, err)
		require.Equal(t, i, rec.Index)
		if rec.Kind == audit.Recovered {
			recovered++
		}
		i++
	}
	require.Equal(t, n, i)
	t.Logf("%d records, %d recoveries", n, recovered)
}

// What a power cut can leave of the last commit: every length of it, and pages
// of it out of order.
func TestTornTail(t *testing.T) {
	t.Parallel()
	s := newSample(t, 12, 1<<20)
	seg := filepath.Join("segments", fmt.Sprintf("%020d.seg", 0))
	whole, err := os.ReadFile(filepath.Join(s.dir, seg))
	require.NoError(t, err)
	at := starts(whole)
	cp, err := os.ReadFile(filepath.Join(s.dir, "checkpoints"))
	require.NoError(t, err)
	first := strings.SplitAfterN(string(cp), "\n\n", 3)
	// Only the checkpoint of the empty log is left: nothing is covered.
	uncovered := func(t *testing.T, seg0 []byte) string {
		dir := t.TempDir()
		require.NoError(t, os.CopyFS(dir, os.DirFS(s.dir)))
		require.NoError(t, os.WriteFile(filepath.Join(dir, "checkpoints"), []byte(first[0]+first[1]), 0o600))
		require.NoError(t, os.WriteFile(filepath.Join(dir, seg), seg0, 0o600))
		return dir
	}
	last := at[11]
	var cuts []int
	for n := last + 1; n < len(whole); n += 37 {
		cuts = append(cuts, n)
	}
	for _, cut := range append(cuts, last+1, last+24, len(whole)-1) {
		for _, pad := range []int{0, 4096} {
			b := append(append([]byte(nil), whole[:cut]...), make([]byte, pad)...)
			dir := uncovered(t, b)
			r := verify(t, dir, s.k, nil)
			require.False(t, r.OK())
			assert.Equal(t, audit.ProblemTail, r.Bad.Problem, "cut at %d: %v", cut, r.Bad)
			l, err := audit.Open(dir, s.k, &audit.Options{NoIndex: true})
			require.NoError(t, err, "cut at %d, %d zeros", cut, pad)
			require.EqualValues(t, 12, l.Size())
			require.NoError(t, l.Close())
			requireGood(t, dir, s.k, 12)
			rec, err := reader(t, dir).Record(11)
			require.NoError(t, err)
			assert.Equal(t, audit.Recovered, rec.Kind)
			assert.LessOrEqual(t, rec.Bytes, int64(cut-last))
			assert.Greater(t, rec.Bytes, int64(0))
		}
	}
	t.Run("clean", func(t *testing.T) {
		t.Parallel()
		for _, cut := range []int{last, len(whole)} {
			dir := uncovered(t, append(append([]byte(nil), whole[:cut]...), make([]byte, 9000)...))
			l := open(t, dir, s.k, &audit.Options{NoIndex: true})
			want := 11
			if cut == len(whole) {
				want = 12
			}
			assert.EqualValues(t, want, l.Size(), "nothing was torn, so that nothing is recovered")
		}
	})
	t.Run("damage before whole records", func(t *testing.T) {
		t.Parallel()
		for _, p := range []int{at[5] + 2, at[5] + 60, at[6] - 3} {
			b := append([]byte(nil), whole...)
			b[p] ^= 1
			dir := uncovered(t, b)
			_, err := audit.Open(dir, s.k, nil)
			require.ErrorIs(t, err, audit.ErrRefused)
			assert.Contains(t, err.Error(), "record 5")
			after, err := os.ReadFile(filepath.Join(dir, seg))
			require.NoError(t, err)
			assert.Equal(t, b, after, "a log that is refused stays as it is")
		}
	})
	t.Run("below the checkpoint", func(t *testing.T) {
		t.Parallel()
		dir := t.TempDir()
		require.NoError(t, os.CopyFS(dir, os.DirFS(s.dir)))
		require.NoError(t, os.WriteFile(filepath.Join(dir, seg), whole[:len(whole)-1], 0o600))
		_, err := audit.Open(dir, s.k, nil)
		require.ErrorIs(t, err, audit.ErrRefused)
		require.NoError(t, os.WriteFile(filepath.Join(dir, seg), whole[:last], 0o600))
		_, err = audit.Open(dir, s.k, nil)
		require.ErrorIs(t, err, audit.ErrRefused)
		require.NoError(t, os.Remove(filepath.Join(dir, seg)))
		_, err = audit.Open(dir, s.k, nil)
		require.ErrorIs(t, err, audit.ErrRefused)
	})
	t.Run("other damage", func(t *testing.T) {
		t.Parallel()
		for what, spoil := range map[string]func(dir string) error{
			"another key's checkpoint": func(dir string) error {
				b, _ := os.ReadFile(filepath.Join(newSample(t, 1, 1<<20).dir, "checkpoints"))
				return os.WriteFile(filepath.Join(dir, "checkpoints"), b, 0o600)
			},
			"no checkpoints": func(dir string) error { return os.Remove(filepath.Join(dir, "checkpoints")) },
			"a renamed segment": func(dir string) error {
				return os.Rename(filepath.Join(dir, seg), filepath.Join(dir, "segments", fmt.Sprintf("%020d.seg", 3)))
			},
			"a strange segment": func(dir string) error {
				return os.WriteFile(filepath.Join(dir, "segments", fmt.Sprintf("%020d.seg", 12)), []byte("hello"), 0o600)
			},
		} {
			dir := t.TempDir()
			require.NoError(t, os.CopyFS(dir, os.DirFS(s.dir)))
			require.NoError(t, spoil(dir))
			l, err := audit.Open(dir, s.k, nil)
			if what == "a strange segment" { // shorter than a first line: a crash leaves such
				require.NoError(t, err, what)
				require.NoError(t, l.Close())
				continue
			}
			assert.Error(t, err, what)
		}
	})
}

func TestDerivedFilesAreMadeAnew(t *testing.T) {
	t.Parallel()
	s := newSample(t, 200, 32<<10)
	names, err := filepath.Glob(filepath.Join(s.dir, "segments", "*.off"))
	require.NoError(t, err)
	require.Greater(t, len(names), 3)
	for what, spoil := range map[string]func(path string) error{
		"gone":  os.Remove,
		"short": func(path string) error { return os.Truncate(path, 21) },
		"wrong": func(path string) error {
			b, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			b[len(b)/2] ^= 0xff
			b[0] ^= 0xff
			b[len(b)-1] ^= 0xff
			return os.WriteFile(path, b, 0o600)
		},
	} {
		dir := t.TempDir()
		require.NoError(t, os.CopyFS(dir, os.DirFS(s.dir)))
		require.NoError(t, spoil(filepath.Join(dir, "hashes")))
		for _, n := range names {
			require.NoError(t, spoil(filepath.Join(dir, "segments", filepath.Base(n))))
		}
		rec, err := reader(t, dir).Record(199)
		require.NoError(t, err, what)
		assert.EqualValues(t, 199, rec.Index)
		p, err := reader(t, dir).Prove(context.Background(), 42)
		require.NoError(t, err, what)
		_, err = audit.CheckProof(p, s.k.Verifier())
		require.NoError(t, err, what)
		l := open(t, dir, s.k, &audit.Options{NoIndex: true})
		appendN(t, l, 200, 3)
		require.NoError(t, l.Close())
		requireGood(t, dir, s.k, 203)
	}
}

// A checkpoint that was being written when the machine died is cut off.
func TestTornCheckpoint(t *testing.T) {
	t.Parallel()
	s := newSample(t, 5, 1<<20)
	cp, err := os.ReadFile(filepath.Join(s.dir, "checkpoints"))
	require.NoError(t, err)
	for cut := len(cp) - 1; cut > len(cp)/2+2; cut -= 3 {
		dir := t.TempDir()
		require.NoError(t, os.CopyFS(dir, os.DirFS(s.dir)))
		require.NoError(t, os.WriteFile(filepath.Join(dir, "checkpoints"), cp[:cut], 0o600))
		l, err := audit.Open(dir, s.k, &audit.Options{NoIndex: true})
		require.NoError(t, err, "cut at %d of %d", cut, len(cp))
		require.EqualValues(t, 5, l.Size())
		require.NoError(t, l.Close())
		requireGood(t, dir, s.k, 5)
	}
}
