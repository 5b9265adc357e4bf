package audit

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/grapnel-dev/grapnel/bus/hook"
	"github.com/grapnel-dev/grapnel/internal/redact"
)

// Errors of [Log]; compare with errors.Is.
var (
	// ErrLocked says that another process writes to this log.
	ErrLocked = errors.New("audit: another process has this log open")
	// ErrClosed says that the log was closed.
	ErrClosed = errors.New("audit: the log is closed")
	// ErrBusy says that so many records wait for the disk that no more are
	// taken.
	ErrBusy = errors.New("audit: too many records wait for the disk")
	// ErrUncertain says that the caller stopped waiting while its record was
	// being written: it may be in the log or not.
	ErrUncertain = errors.New("audit: the record may or may not be in the log")
	// ErrStalled says that the disk does not answer.
	ErrStalled = errors.New("audit: the disk does not answer")
	// ErrRefused is wrapped when a log does not open because it is not what
	// its last checkpoint says.
	ErrRefused = errors.New("audit: the log does not match its last checkpoint and is not opened")
)

// Options tune a [Log]. The zero value is fine.
type Options struct {
	// Redactor takes secrets out of records. Default: the built-in rules with
	// a key of the log's own, derived from its signing key.
	Redactor *redact.Redactor
	// Logger gets what an operator should know. Default: nothing is logged.
	Logger *slog.Logger
	// CheckpointRecords and CheckpointInterval bound how much can be in the
	// log without a checkpoint. Default: 256 records and 1 s.
	CheckpointRecords  int64
	CheckpointInterval time.Duration
	// SegmentBytes is the size at which a new segment begins. Default: 64 MiB,
	// at most 1 GiB.
	SegmentBytes int64
	// MaxWaiting is how many records may wait for the disk. Default: 16384.
	MaxWaiting int
	// StallAfter is how long the disk may take before health is red. Default:
	// 5 s.
	StallAfter time.Duration
	// NoIndex leaves the search index to whoever reads.
	NoIndex bool

	// sync makes a file durable; tests put a disk that fails in its place.
	sync func(*os.File) error
}

func (o *Options) withDefaults(k *Key) (Options, error) {
	var v Options
	if o != nil {
		v = *o
	}
	if v.Redactor == nil {
		var err error
		if v.Redactor, err = redact.New(&redact.Options{Key: []byte(k.secret)}); err != nil {
			return v, err
		}
	}
	if v.Logger == nil {
		v.Logger = slog.New(slog.DiscardHandler)
	}
	if v.CheckpointRecords <= 0 {
		v.CheckpointRecords = 256
	}
	if v.CheckpointInterval <= 0 {
		v.CheckpointInterval = time.Second
	}
	if v.SegmentBytes <= 0 {
		v.SegmentBytes = 64 << 20
	}
	v.SegmentBytes = min(v.SegmentBytes, 1<<30)
	if v.MaxWaiting <= 0 {
		v.MaxWaiting = 16384
	}
	if v.StallAfter <= 0 {
		v.StallAfter = 5 * time.Second
	}
	if v.sync == nil {
		v.sync = syncData
	}
	return v, nil
}

// Log is a node's audit log, open for writing. Make one with [Open].
type Log struct {
	dir  string
	key  *Key
	o    Options
	lock *os.File

	mu      sync.Mutex
	queue   []*request
	closing bool
	fault   error     // why the last commit failed; nil after one that worked
	busy    time.Time // since when the disk has been at work; zero when it is not
	size    int64
	last    Checkpoint
	seen    watched

	c    committer
	wake chan struct{}
	stop chan struct{} // closed by Close
	done chan struct{} // closed when the committer has ended

	indexWake chan struct{}
	indexDone chan struct{}
	stopIndex context.CancelFunc
	closed    error
	closeOnce sync.Once
}

// watched is what Health compares with what is on disk.
type watched struct {
	segment, checkpoints identity
	tail                 int64
	sealed               []identity
}

// The states of a request.
const (
	waiting int32 = iota
	taken
	withdrawn
)

// request is one record on its way to the disk.
type request struct {
	entry entry
	// erase is the record to redact, -1 for none.
	erase int64
	// settle asks for no record but for a checkpoint over all that there is.
	settle bool
	state  atomic.Int32
	done   chan result
}

type result struct {
	index int64
	err   error
}

// Append writes r to the log and returns its index once it is durable: when
// the machine loses power after Append has returned, the record is there. Many
// goroutines may call it; those that wait at the same time share one write.
//
// When ctx ends first, the error wraps its cause, and [ErrUncertain] if the
// record was being written. An error about the disk (wrapping for instance
// syscall.ENOSPC or [ErrReplaced]) means that the record is not in the log; the
// next Append tries again. r is not kept.
func (l *Log) Append(ctx context.Context, r hook.Record) (int64, error) {
	if err := context.Cause(ctx); err != nil {
		return 0, err
	}
	if r.Kind == "" || r.Kind == Redaction || r.Kind == Recovered {
		return 0, fmt.Errorf("audit: a record of kind %q cannot be appended", r.Kind)
	}
	e, err := prepare(r, l.o.Redactor)
	if err != nil {
		return 0, err
	}
	return l.submit(ctx, &request{entry: e, erase: -1})
}

// submit queues q and waits for it.
func (l *Log) submit(ctx context.Context, q *request) (int64, error) {
	q.done = make(chan result, 1)
	l.mu.Lock()
	switch {
	case l.closing:
		l.mu.Unlock()
		return 0, ErrClosed
	case len(l.queue) >= l.o.MaxWaiting:
		l.dropWithdrawn()
		if len(l.queue) >= l.o.MaxWaiting {
			l.mu.Unlock()
			return 0, ErrBusy
		}
	}
	l.queue = append(l.queue, q)
	l.mu.Unlock()
	select {
	case l.wake <- struct{}{}:
	default:
	}
	select {
	case r := <-q.done:
		return r.index, r.err
	case <-ctx.Done():
	}
	if q.state.CompareAndSwap(waiting, withdrawn) {
		return 0, fmt.Errorf("audit: gave up waiting for the disk: %w", context.Cause(ctx))
	}
	select {
	case r := <-q.done: // it was just done
		return r.index, r.err
	default:
		return 0, fmt.Errorf("%w: %w", ErrUncertain, context.Cause(ctx))
	}
}

func (l *Log) dropWithdrawn() {
	kept := l.queue[:0]
	for _, q := range l.queue {
		if q.state.Load() != withdrawn {
			kept = append(kept, q)
		}
	}
	clear(l.queue[len(kept):])
	l.queue = kept
}

// Health is nil when the log takes records, and says what is wrong when it
// does not: the last write failed, the disk does not answer, or a file is not
// where it was. It looks at the disk each time.
func (l *Log) Health() error {
	l.mu.Lock()
	fault, busy, seen, closing := l.fault, l.busy, l.seen, l.closing
	l.mu.Unlock()
	if closing {
		return ErrClosed
	}
	if !busy.IsZero() {
		if d := time.Since(busy); d > l.o.StallAfter {
			return fmt.Errorf("%w: the last write has been going on for %s", ErrStalled, d.Round(time.Millisecond))
		}
	}
	if fault != nil {
		return fault
	}
	return seen.check()
}

func (w watched) check() error {
	if err := w.segment.check(w.tail); err != nil {
		return err
	}
	if err := w.checkpoints.check(0); err != nil {
		return err
	}
	for _, s := range w.sealed {
		if err := s.check(s.info.Size()); err != nil {
			return err
		}
	}
	return nil
}

// Size is how many records are in the log, each of them durable.
func (l *Log) Size() int64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.size
}

// Checkpoint is the last checkpoint, for publishing.
func (l *Log) Checkpoint() Checkpoint {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.last
}

// Settle writes a checkpoint over all records now and returns it.
func (l *Log) Settle(ctx context.Context) (Checkpoint, error) {
	if _, err := l.submit(ctx, &request{erase: -1, settle: true}); err != nil {
		return Checkpoint{}, err
	}
	return l.Checkpoint(), nil
}

// Dir is the log's directory.
func (l *Log) Dir() string { return l.dir }

// Close writes what waits, a last checkpoint, and gives the lock back. It may
// be called more than once.
func (l *Log) Close() error {
	l.closeOnce.Do(func() {
		l.mu.Lock()
		l.closing = true
		l.mu.Unlock()
		l.stopIndex()
		close(l.stop)
		<-l.done
		<-l.indexDone
		l.closed = errors.Join(l.c.close(), l.lock.Close())
	})
	return l.closed
}
