package audit_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/grapnel-dev/grapnel/bus/hook"
	"github.com/grapnel-dev/grapnel/subscribers/audit"
)

// A log whose file is gone writes into nothing: the write succeeds, and the
// record is lost. So each write looks.
func TestFilesRemovedOrReplaced(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		return // an open file can be neither removed nor replaced there
	}
	segment := filepath.Join("segments", fmt.Sprintf("%020d.seg", 0))
	for what, spoil := range map[string]func(dir, path string) error{
		"removed":  func(_, path string) error { return os.Remove(path) },
		"replaced": func(_, path string) error { return replaceWithCopy(path) },
		"moved":    func(_, path string) error { return os.Rename(path, path+".1") },
		"linked": func(_, path string) error {
			if err := replaceWithCopy(path); err != nil {
				return err
			}
			if err := os.Rename(path, path+".x"); err != nil {
				return err
			}
			return os.Symlink(path+".x", path)
		},
		"cut":                 func(_, path string) error { return os.Truncate(path, 100) },
		"directory moved":     func(dir, _ string) error { return os.Rename(dir, dir+".old") },
		"checkpoints removed": func(dir, _ string) error { return os.Remove(filepath.Join(dir, "checkpoints")) },
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			dir, k := filepath.Join(t.TempDir(), "log"), newKey(t)
			l, err := audit.Open(dir, k, &audit.Options{NoIndex: true})
			require.NoError(t, err)
			defer l.Close()
			appendN(t, l, 0, 3)
			require.NoError(t, l.Health())
			require.NoError(t, spoil(dir, filepath.Join(dir, segment)))
			assert.ErrorIs(t, l.Health(), audit.ErrReplaced, "health looks before anything is written")
			if what == "checkpoints removed" {
				_, err := l.Settle(context.Background())
				assert.ErrorIs(t, err, audit.ErrReplaced)
				return
			}
			_, err = l.Append(context.Background(), record(3))
			assert.ErrorIs(t, err, audit.ErrReplaced)
			assert.EqualValues(t, 3, l.Size())
			assert.ErrorIs(t, l.Health(), audit.ErrReplaced)
		})
	}
}

func replaceWithCopy(path string) error {
	b, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	if err := os.WriteFile(path+".new", b, 0o600); err != nil {
		return err
	}
	return os.Rename(path+".new", path)
}

func TestMovedBackIsFine(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		return
	}
	dir, k := t.TempDir(), newKey(t)
	l := open(t, dir, k, &audit.Options{NoIndex: true})
	appendN(t, l, 0, 3)
	path := filepath.Join(dir, "segments", fmt.Sprintf("%020d.seg", 0))
	require.NoError(t, os.Rename(path, path+".1"))
	_, err := l.Append(context.Background(), record(3))
	require.ErrorIs(t, err, audit.ErrReplaced)
	require.NoError(t, os.Rename(path+".1", path))
	appendN(t, l, 3, 2)
	require.NoError(t, l.Health())
	require.NoError(t, l.Close())
	requireGood(t, dir, k, 5)
}

// A sealed segment that goes missing turns health red too.
func TestSealedSegmentsAreWatched(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		return
	}
	dir, k := t.TempDir(), newKey(t)
	l := open(t, dir, k, &audit.Options{NoIndex: true, SegmentBytes: 8 << 10})
	appendN(t, l, 0, 30)
	require.NoError(t, l.Health())
	require.NoError(t, os.Remove(filepath.Join(dir, "segments", fmt.Sprintf("%020d.seg", 0))))
	assert.ErrorIs(t, l.Health(), audit.ErrReplaced)
}

// disk is a disk that the test can stop and break.
type disk struct {
	mu     sync.Mutex
	held   chan struct{} // not nil: syncs wait until it is closed
	fails  error
	during chan struct{} // gets one value when a sync waits
}

func (d *disk) sync(f *os.File) error {
	d.mu.Lock()
	held, fails := d.held, d.fails
	d.mu.Unlock()
	if held != nil {
		select {
		case d.during <- struct{}{}:
		default:
		}
		<-held
	}
	if fails != nil {
		return fails
	}
	return audit.RealSync(f)
}

func (d *disk) set(held chan struct{}, fails error) {
	d.mu.Lock()
	d.held, d.fails = held, fails
	d.mu.Unlock()
}

func TestHangingDisk(t *testing.T) {
	t.Parallel()
	dir, k := t.TempDir(), newKey(t)
	d := &disk{during: make(chan struct{}, 1)}
	l := open(t, dir, k, audit.WithSync(audit.Options{NoIndex: true, StallAfter: time.Millisecond, MaxWaiting: 10}, d.sync))
	appendN(t, l, 0, 2)
	held := make(chan struct{})
	d.set(held, nil)

	// The one that is being written is not known to be there or not.
	ctx, cancel := context.WithCancelCause(context.Background())
	first := make(chan error, 1)
	go func() { _, err := l.Append(ctx, record(2)); first <- err }()
	<-d.during
	gone := errors.New("the agent is gone")
	cancel(gone)
	err := <-first
	assert.ErrorIs(t, err, audit.ErrUncertain)
	assert.ErrorIs(t, err, gone)
	require.Eventually(t, func() bool { return errors.Is(l.Health(), audit.ErrStalled) }, 5*time.Second, time.Millisecond)

	// The ones that wait behind it are not written when they gave up.
	short, cancelShort := context.WithTimeout(context.Background(), time.Millisecond)
	defer cancelShort()
	_, err = l.Append(short, record(3))
	assert.ErrorIs(t, err, context.DeadlineExceeded)
	assert.NotErrorIs(t, err, audit.ErrUncertain)
	_, err = l.Append(short, record(3))
	assert.ErrorIs(t, err, context.DeadlineExceeded, "a context that has ended")

	// And there is a limit to how many wait.
	answers := make(chan error, 40)
	for range 40 {
		go func() { _, err := l.Append(context.Background(), record(4)); answers <- err }()
	}
	for range 30 { // of 40, ten can wait
		assert.ErrorIs(t, <-answers, audit.ErrBusy)
	}
	d.set(nil, nil)
	close(held)
	for range 10 {
		assert.NoError(t, <-answers)
	}
	assert.NoError(t, l.Health())
	assert.EqualValues(t, 13, l.Size(), "two, the uncertain one and ten")
	require.NoError(t, l.Close())
	requireGood(t, dir, k, 13)
}

func TestFailingDisk(t *testing.T) {
	t.Parallel()
	dir, k := t.TempDir(), newKey(t)
	d := &disk{}
	l := open(t, dir, k, audit.WithSync(audit.Options{NoIndex: true, CheckpointInterval: time.Millisecond}, d.sync))
	appendN(t, l, 0, 2)
	d.set(nil, syscall.EIO)
	for range 3 {
		_, err := l.Append(context.Background(), record(2))
		require.ErrorIs(t, err, syscall.EIO)
	}
	assert.ErrorIs(t, l.Health(), syscall.EIO)
	_, err := l.Settle(context.Background())
	assert.ErrorIs(t, err, syscall.EIO, "asking for a checkpoint does not turn health green")
	assert.ErrorIs(t, l.Health(), syscall.EIO)
	n, err := reader(t, dir).Len()
	require.NoError(t, err)
	assert.EqualValues(t, 2, n, "what was refused is not in the log")
	d.set(nil, nil)
	require.Eventually(t, func() bool { return l.Health() == nil }, 5*time.Second, time.Millisecond)
	appendN(t, l, 2, 2)
	require.NoError(t, l.Close())
	requireGood(t, dir, k, 4)
}

func TestOneWriter(t *testing.T) {
	t.Parallel()
	dir, k := t.TempDir(), newKey(t)
	l := open(t, dir, k, nil)
	_, err := audit.Open(dir, k, nil)
	require.ErrorIs(t, err, audit.ErrLocked)
	assert.Contains(t, err.Error(), dir)
	require.NoError(t, l.Close())

	cmd, out := start(t, "-audit-lock", dir, k)
	require.True(t, out.Scan())
	_, err = audit.Open(dir, k, nil)
	require.ErrorIs(t, err, audit.ErrLocked, "another process has it")
	require.NoError(t, cmd.Process.Kill())
	cmd.Wait()
	again := open(t, dir, k, nil)
	require.NoError(t, again.Health(), "a lock does not outlive its process")
	require.NoError(t, again.Close())
	_, err = audit.Open(dir, newKey(t), nil)
	require.ErrorIs(t, err, audit.ErrRefused, "the log is another key's")
}

func TestManyWriters(t *testing.T) {
	t.Parallel()
	dir, k := t.TempDir(), newKey(t)
	l := open(t, dir, k, &audit.Options{SegmentBytes: 128 << 10})
	const writers, each = 64, 20
	got := make([]string, writers*each)
	var all sync.WaitGroup
	for w := range writers {
		all.Go(func() {
			before := int64(-1)
			for i := range each {
				r := record(w*each + i)
				at, err := l.Append(context.Background(), r)
				if !assert.NoError(t, err) {
					return
				}
				assert.Greater(t, at, before, "one writer's records are in its order")
				before = at
				got[at] = r.Event.ID
			}
		})
	}
	all.Wait()
	require.NoError(t, l.Close())
	requireGood(t, dir, k, writers*each)
	logged := time.Time{}
	i := 0
	for rec, err := range reader(t, dir).All(0) {
		require.NoError(t, err)
		require.Equal(t, got[i], rec.EventID, "index %d belongs to who was told so", i)
		require.False(t, rec.Logged.Before(logged), "time does not run backwards")
		logged = rec.Logged
		i++
	}
	require.Equal(t, writers*each, i)
}

func TestWhatCannotBeAppended(t *testing.T) {
	t.Parallel()
	l := open(t, t.TempDir(), newKey(t), nil)
	for _, kind := range []hook.RecordKind{"", audit.Redaction, audit.Recovered} {
		r := record(0)
		r.Kind = kind
		_, err := l.Append(context.Background(), r)
		assert.Error(t, err, "%q", kind)
	}
	r := record(0)
	r.Verdict.Input = make([]byte, audit.MaxPayload+1)
	for i := range r.Verdict.Input {
		r.Verdict.Input[i] = '1'
	}
	_, err := l.Append(context.Background(), r)
	assert.ErrorIs(t, err, audit.ErrTooLarge)
	assert.EqualValues(t, 0, l.Size())
	assert.NoError(t, l.Health())
	_, err = audit.Open(t.TempDir(), nil, nil)
	assert.ErrorIs(t, err, audit.ErrKey)
	_, err = audit.OpenReader(filepath.Join(t.TempDir(), "none"))
	assert.Error(t, err)
}

func TestKeys(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "key")
	made := make(chan string, 8)
	for range 8 {
		go func() {
			k, err := audit.LoadKey(path, "node.example/log")
			if assert.NoError(t, err) {
				made <- k.VerifierKey()
			} else {
				made <- ""
			}
		}()
	}
	first := <-made
	for range 7 {
		assert.Equal(t, first, <-made, "all who start at once get the same key")
	}
	k, err := audit.LoadKey(path, "another name")
	require.NoError(t, err)
	assert.Equal(t, "node.example/log", k.Name(), "the file's name counts")
	assert.NotContains(t, fmt.Sprint(k), "PRIVATE")
	if runtime.GOOS != "windows" {
		require.NoError(t, os.Chmod(path, 0o644))
		_, err = audit.LoadKey(path, "x")
		assert.ErrorIs(t, err, audit.ErrKey)
		assert.Contains(t, err.Error(), "chmod 600")
	}
	for _, bad := range []string{"", "PRIVATE+KEY+x", first} {
		_, err := audit.ParseKey(bad)
		assert.ErrorIs(t, err, audit.ErrKey)
	}
	_, err = audit.GenerateKey("no spaces")
	assert.ErrorIs(t, err, audit.ErrKey)
	_, err = audit.NewKey("x", nil)
	assert.ErrorIs(t, err, audit.ErrKey)
}
