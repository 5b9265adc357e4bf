package audit_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/grapnel-dev/grapnel/subscribers/audit"
)

// BenchmarkAppend measures Append with 1, 8 and 64 callers.
func BenchmarkAppend(b *testing.B) {
	for _, writers := range []int{1, 8, 64} {
		b.Run(fmt.Sprintf("writers=%d", writers), func(b *testing.B) {
			l := open(b, b.TempDir(), newKey(b), &audit.Options{NoIndex: true})
			r := record(1)
			took := make([][]time.Duration, writers)
			b.ResetTimer()
			var all sync.WaitGroup
			for w := range writers {
				all.Go(func() {
					for i := w; i < b.N; i += writers {
						began := time.Now()
						if _, err := l.Append(context.Background(), r); err != nil {
							b.Error(err)
							return
						}
						took[w] = append(took[w], time.Since(began))
					}
				})
			}
			all.Wait()
			b.StopTimer()
			report(b, slices.Concat(took...))
		})
	}
}

// BenchmarkAppendBesideDisk alternates one Append and one write and fsync of
// as many bytes to a plain file, so that what else the machine does hits both.
func BenchmarkAppendBesideDisk(b *testing.B) {
	l := open(b, b.TempDir(), newKey(b), &audit.Options{NoIndex: true})
	f, err := os.Create(filepath.Join(b.TempDir(), "file"))
	require.NoError(b, err)
	defer f.Close()
	r, buf := record(1), make([]byte, recordSize(b))
	var ours, plain []time.Duration
	for b.Loop() {
		began := time.Now()
		_, err := l.Append(context.Background(), r)
		require.NoError(b, err)
		middle := time.Now()
		_, err = f.Write(buf)
		require.NoError(b, err)
		require.NoError(b, f.Sync())
		ours, plain = append(ours, middle.Sub(began)), append(plain, time.Since(middle))
	}
	slices.Sort(ours)
	slices.Sort(plain)
	for _, q := range []int{50, 99} {
		o, p := ours[len(ours)*q/100], plain[len(plain)*q/100]
		b.ReportMetric(float64(o.Microseconds()), fmt.Sprintf("append-p%d-us", q))
		b.ReportMetric(float64(p.Microseconds()), fmt.Sprintf("fsync-p%d-us", q))
		b.ReportMetric(float64(o)/float64(p), fmt.Sprintf("ratio-p%d", q))
	}
}

// recordSize is how many bytes record(1) takes in a segment.
func recordSize(t testing.TB) int {
	s := newSample(t, 2, 1<<20)
	b, err := os.ReadFile(filepath.Join(s.dir, "segments", fmt.Sprintf("%020d.seg", 0)))
	require.NoError(t, err)
	at := starts(b)
	return at[2] - at[1]
}

func report(b *testing.B, took []time.Duration) {
	slices.Sort(took)
	if len(took) == 0 {
		return
	}
	b.ReportMetric(float64(took[len(took)/2].Microseconds()), "p50-us")
	b.ReportMetric(float64(took[len(took)*99/100].Microseconds()), "p99-us")
	b.ReportMetric(float64(len(took))/b.Elapsed().Seconds(), "records/s")
}

// BenchmarkVerify verifies a log of GRAPNEL_BENCH_RECORDS records, 20,000
// where that is not set.
func BenchmarkVerify(b *testing.B) {
	n := 20_000
	if s := os.Getenv("GRAPNEL_BENCH_RECORDS"); s != "" {
		var err error
		n, err = strconv.Atoi(s)
		require.NoError(b, err)
	}
	dir, k := b.TempDir(), newKey(b)
	unsynced := audit.WithSync(audit.Options{NoIndex: true}, func(*os.File) error { return nil })
	l, err := audit.Open(dir, k, unsynced)
	require.NoError(b, err)
	var all sync.WaitGroup
	for w := range 256 {
		all.Go(func() {
			for i := w; i < n; i += 256 {
				if _, err := l.Append(context.Background(), record(i)); err != nil {
					b.Error(err)
				}
			}
		})
	}
	all.Wait()
	require.NoError(b, l.Close())
	for b.Loop() {
		r := verify(b, dir, k, nil)
		require.True(b, r.OK(), "%v", r.Bad)
		require.EqualValues(b, n, r.Records)
	}
	b.ReportMetric(float64(n)*float64(b.N)/b.Elapsed().Seconds(), "records/s")
	b.StopTimer()
	// Memory is measured in a process that does nothing else.
	cmd, out := start(b, "-audit-verify", dir, k)
	for out.Scan() {
		b.Log(out.Text())
	}
	require.NoError(b, cmd.Wait())
	if peak, ok := peakMemory(cmd.ProcessState); ok {
		b.ReportMetric(float64(peak)/(1<<20), "peak-MiB")
	}
}
