package audit_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/grapnel-dev/grapnel/subscribers/audit"
)

// childFull is the writer on a disk that gets full: the kernel refuses every
// write beyond a file size, in the middle of a record if need be. (A limit on
// file sizes works for everybody everywhere; a small file system does not.)
func childFull(dir, secret string) error {
	signal.Ignore(syscall.SIGXFSZ)
	k, err := audit.ParseKey(secret)
	if err != nil {
		return err
	}
	l, err := audit.Open(dir, k, &audit.Options{NoIndex: true, CheckpointInterval: 5 * time.Millisecond})
	if err != nil {
		return err
	}
	var old syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_FSIZE, &old); err != nil {
		return err
	}
	for step, limit := range []uint64{6_000, 9_001, 15_003, 15_103, 40_000} {
		if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &syscall.Rlimit{Cur: limit, Max: old.Max}); err != nil {
			return err
		}
		var full error
		for full == nil {
			var at int64
			if at, full = l.Append(context.Background(), record(1)); full == nil {
				fmt.Println("acked", at)
			}
		}
		if !errors.Is(full, syscall.EFBIG) {
			return fmt.Errorf("step %d: the error does not name its cause: %w", step, full)
		}
		// All who wait are told.
		told := make(chan error)
		for range 8 {
			go func() {
				_, err := l.Append(context.Background(), record(2))
				told <- err
			}()
		}
		for range 8 {
			if err := <-told; err == nil {
				return fmt.Errorf("step %d: a record was acknowledged on a full disk", step)
			}
		}
		if err := l.Health(); err == nil {
			return fmt.Errorf("step %d: health is fine on a full disk", step)
		}
	}
	// There is room again: health recovers by itself, without any record.
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &old); err != nil {
		return err
	}
	again, end := time.NewTicker(time.Millisecond), time.After(10*time.Second)
	defer again.Stop()
	for l.Health() != nil {
		select {
		case <-again.C:
		case <-end:
			return fmt.Errorf("health does not recover: %w", l.Health())
		}
	}
	at, err := l.Append(context.Background(), record(3))
	if err != nil {
		return err
	}
	fmt.Println("acked", at)
	return l.Close()
}

func TestDiskFull(t *testing.T) {
	t.Parallel()
	dir, k := t.TempDir(), newKey(t)
	cmd, out := start(t, "-audit-full", dir, k)
	n := 0
	for out.Scan() {
		var at int
		_, err := fmt.Sscanf(out.Text(), "acked %d", &at)
		require.NoError(t, err, "%q", out.Text())
		require.Equal(t, n, at, "indexes are dense over failures")
		n++
	}
	require.NoError(t, cmd.Wait())
	assert.Greater(t, n, 5)
	requireGood(t, dir, k, n)
	for rec, err := range reader(t, dir).All(0) {
		require.NoError(t, err)
		require.NotEqual(t, audit.Recovered, rec.Kind, "there was nothing to recover: no half records")
	}
}

// peakMemory is the most memory a process that ended had, in bytes.
func peakMemory(p *os.ProcessState) (int64, bool) {
	usage, ok := p.SysUsage().(*syscall.Rusage)
	if !ok {
		return 0, false
	}
	return usage.Maxrss << 10, true
}
