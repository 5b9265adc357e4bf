package audit

import (
	"errors"
	"fmt"
	"log/slog"
	"os"
	"time"

	"golang.org/x/mod/sumdb/tlog"
)

// Limits of one commit.
const (
	maxBatch      = 1024
	maxBatchBytes = 8 << 20
)

// committer is what only the goroutine that writes touches.
type committer struct {
	w       *writer
	tree    tree
	derived derived
	logged  time.Time

	checkpoints     *os.File
	checkpointsTail int64
	// unerased lists redactions that are recorded and not carried out: the
	// disk failed in between. There is no checkpoint until they are.
	unerased []int64

	buf    []byte
	stored []tlog.Hash
}

// run writes what is queued until Close.
func (l *Log) run() {
	defer close(l.done)
	var due <-chan time.Time
	for {
		stopping := false
		select {
		case <-l.wake:
		case <-due:
			due = nil
			l.tend()
		case <-l.stop:
			stopping = true
		}
		for batch := l.take(); len(batch) > 0; batch = l.take() {
			l.serve(batch)
		}
		if stopping {
			l.tend()
			return
		}
		if due == nil && l.untended() {
			due = time.After(l.o.CheckpointInterval)
		}
	}
}

// untended says that there is something for tend to do.
func (l *Log) untended() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.fault != nil || l.size > l.last.Size || len(l.c.unerased) > 0
}

// tend does what comes with time: it tries a failed disk again, finishes
// redactions and writes a checkpoint.
func (l *Log) tend() {
	failed := l.failed()
	l.mu.Lock()
	l.busy = time.Now()
	l.mu.Unlock()
	var err error
	if failed {
		err = l.c.w.probe()
	}
	if err == nil {
		err = l.finishErasing()
	}
	if err == nil {
		err = l.checkpoint()
	}
	l.settled(err)
}

func (l *Log) failed() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.fault != nil
}

// settled notes how a piece of work on the disk ended.
func (l *Log) settled(err error) {
	l.mu.Lock()
	before := l.fault
	l.fault, l.busy = err, time.Time{}
	l.mu.Unlock()
	if err != nil && before == nil {
		l.o.Logger.Error("audit: the log cannot be written", slog.String("dir", l.dir), slog.Any("error", err))
	}
	if err == nil && before != nil {
		l.o.Logger.Info("audit: the log can be written again", slog.String("dir", l.dir))
	}
}

// take takes what waits, at most one commit's worth.
func (l *Log) take() []*request {
	l.mu.Lock()
	defer l.mu.Unlock()
	var batch []*request
	n, size := 0, 0
	for _, q := range l.queue {
		if len(batch) == maxBatch || size > 0 && size+len(q.entry.payload) > maxBatchBytes {
			break
		}
		n++
		if q.state.CompareAndSwap(waiting, taken) {
			batch = append(batch, q)
			size += len(q.entry.payload) + len(q.entry.body) + 256
		}
	}
	rest := copy(l.queue, l.queue[n:])
	clear(l.queue[rest:])
	l.queue = l.queue[:rest]
	if len(batch) > 0 {
		l.busy = time.Now()
	}
	return batch
}

// serve commits a batch and answers everyone in it.
func (l *Log) serve(batch []*request) {
	records := batch[:0:0]
	settle := false
	for _, q := range batch {
		if q.settle {
			settle = true
		} else {
			records = append(records, q)
		}
	}
	var err error
	if len(records) == 0 && l.failed() {
		err = l.c.w.probe()
	}
	first := int64(0)
	if err == nil {
		first, err = l.commit(records)
	}
	var unerased error
	for i, q := range records {
		if err != nil {
			q.done <- result{err: err}
			continue
		}
		r := result{index: first + int64(i)}
		if q.erase >= 0 {
			l.c.unerased = append(l.c.unerased, q.erase)
			if unerased = l.finishErasing(); unerased != nil {
				r.err = fmt.Errorf("audit: redaction %d of record %d is recorded and will be finished later: %w", r.index, q.erase, unerased)
			}
		}
		q.done <- r
	}
	if err == nil {
		err = unerased
	}
	if err == nil && (settle || l.c.tree.size-l.last.Size >= l.o.CheckpointRecords) {
		err = l.checkpoint()
	}
	l.settled(err)
	for _, q := range batch {
		if q.settle {
			q.done <- result{err: err}
		}
	}
}

// commit writes records in one go and returns the index of the first.
func (l *Log) commit(records []*request) (int64, error) {
	c := &l.c
	first := c.tree.size
	if len(records) == 0 {
		return first, nil
	}
	if now := time.Now(); now.After(c.logged) {
		c.logged = now
	}
	size := 0
	for _, q := range records {
		size += frameHeader + leafRoom + len(q.entry.body) + saltSize + len(q.entry.payload)
	}
	if c.w.tail+int64(size) > l.o.SegmentBytes && first > c.w.first {
		if err := l.rotate(); err != nil {
			return 0, fmt.Errorf("audit: next segment: %w", err)
		}
	}
	if cap(c.buf) > 4*maxBatchBytes {
		c.buf = nil
	}
	b, offsets := c.buf[:0], make([]int64, len(records))
	hashes := make([]tlog.Hash, len(records))
	var leaf []byte
	for i, q := range records {
		leaf = appendLeaf(leaf[:0], first+int64(i), c.logged, q.entry.body)
		hashes[i], offsets[i] = leafHash(leaf), c.w.tail+int64(len(b))
		b = appendFrame(b, frame{leaf: leaf, salt: q.entry.salt[:], payload: q.entry.payload, commit: first})
	}
	c.buf = b
	if err := c.w.commit(b); err != nil {
		return 0, fmt.Errorf("audit: write: %w", err)
	}
	for i := range records {
		c.stored = c.tree.add(hashes[i], c.stored[:0])
		c.derived.add(c.stored, offsets[i])
	}
	l.mu.Lock()
	l.size, l.seen.tail = c.tree.size, c.w.tail
	l.mu.Unlock()
	return first, nil
}

// rotate begins a new segment.
func (l *Log) rotate() error {
	c, old := &l.c, l.c.w
	if err := errors.Join(c.derived.flush(), old.trim()); err != nil {
		return err
	}
	at, err := os.Lstat(old.id.path)
	if err != nil {
		return err
	}
	next, err := createSegment(l.dir, c.tree.size, l.o.sync)
	if err != nil {
		return err
	}
	if err := c.derived.openOffsets(next.id.path, 0); err != nil {
		next.file.Close()
		return errors.Join(err, os.Remove(next.id.path))
	}
	old.file.Close() // it is synced
	c.w = next
	l.mu.Lock()
	l.seen.sealed = append(l.seen.sealed[:len(l.seen.sealed):len(l.seen.sealed)], identity{old.id.path, at})
	l.seen.segment, l.seen.tail = next.id, next.tail
	l.mu.Unlock()
	return nil
}

// checkpoint signs the tree as it is, unless it is signed already. What is
// derived goes out first, so that proofs can be made for any checkpoint.
func (l *Log) checkpoint() error {
	c := &l.c
	if c.tree.size == l.last.Size && l.last.Note != nil || len(c.unerased) > 0 {
		return nil
	}
	if err := c.derived.flush(); err != nil {
		return err
	}
	signed, err := signCheckpoint(l.key, c.tree.size, c.tree.root())
	if err != nil {
		return err
	}
	line := append(signed.Note[:len(signed.Note):len(signed.Note)], '\n')
	if _, err = c.checkpoints.WriteAt(line, c.checkpointsTail); err == nil {
		err = l.seen.checkpoints.check(c.checkpointsTail)
	}
	if err != nil {
		return errors.Join(fmt.Errorf("audit: write checkpoint: %w", err), c.checkpoints.Truncate(c.checkpointsTail))
	}
	c.checkpointsTail += int64(len(line))
	l.mu.Lock()
	l.last = signed
	l.mu.Unlock()
	select {
	case l.indexWake <- struct{}{}:
	default:
	}
	return nil
}

// close gives back reserved space and closes all files.
func (c *committer) close() error {
	err := errors.Join(c.w.close(), c.derived.close())
	if c.checkpoints != nil {
		err = errors.Join(err, c.checkpoints.Sync(), c.checkpoints.Close())
	}
	return err
}
