package audit

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/mod/sumdb/tlog"

	"github.com/grapnel-dev/grapnel/internal/filelock"
)

// Open opens the log in dir for writing, and makes it when there is none. What
// a crash left behind is put right: an incomplete record at the end that no
// checkpoint covers is cut off (and a record of kind [Recovered] says so),
// redactions are finished, and what is derived is computed anew. Anything else
// that is not as the last checkpoint says is left as it is, and the error wraps
// [ErrRefused]. The error wraps [ErrLocked] when somebody else writes.
func Open(dir string, key *Key, o *Options) (*Log, error) {
	if key == nil {
		return nil, fmt.Errorf("%w: there is none", ErrKey)
	}
	options, err := o.withDefaults(key)
	if err != nil {
		return nil, err
	}
	l := &Log{
		dir: dir, key: key, o: options, wake: make(chan struct{}, 1), stop: make(chan struct{}), done: make(chan struct{}),
		indexWake: make(chan struct{}, 1), indexDone: make(chan struct{}),
	}
	if err := os.MkdirAll(filepath.Join(dir, segmentDir), 0o700); err != nil {
		return nil, fmt.Errorf("audit: %w", err)
	}
	if l.lock, err = os.OpenFile(filepath.Join(dir, lockName), os.O_RDWR|os.O_CREATE, 0o600); err != nil {
		return nil, fmt.Errorf("audit: %w", err)
	}
	err = l.takeLock()
	var cut int64
	if err == nil {
		cut, err = l.restore()
	}
	if err != nil {
		if l.c.w != nil {
			l.c.w.file.Close() // not close: a log that was refused stays as it is
		}
		l.c.derived.close()
		if l.c.checkpoints != nil {
			l.c.checkpoints.Close()
		}
		l.lock.Close()
		return nil, err
	}
	ctx, stop := context.WithCancel(context.Background())
	l.stopIndex = stop
	go l.run()
	go l.keepIndex(ctx)
	if cut > 0 {
		e, err := seal(Envelope{Version: Version, Kind: Recovered, Bytes: cut}, Payload{Note: fmt.Sprintf("%d bytes of an incomplete record were cut off at the start", cut)}, nil, l.o.Redactor)
		if err == nil {
			_, err = l.submit(ctx, &request{entry: e, erase: -1})
		}
		if err != nil {
			return nil, errors.Join(err, l.Close())
		}
	}
	return l, nil
}

// takeLock takes the lock. Verify takes it for a moment to see whether there
// is a writer, which is no reason to give up.
func (l *Log) takeLock() error {
	for range 10 {
		if taken, err := filelock.Try(l.lock); taken || err != nil {
			return err
		}
		time.Sleep(5 * time.Millisecond)
	}
	return fmt.Errorf("%w: %s", ErrLocked, l.dir)
}

func refused(format string, args ...any) error {
	return fmt.Errorf("%w: "+format+"; run grapnel audit verify, and keep the directory as it is for whoever looks into it", append([]any{ErrRefused}, args...)...)
}

// restore loads the state of the log and returns how many bytes of an
// incomplete record it cut off.
func (l *Log) restore() (int64, error) {
	segments, err := listSegments(l.dir)
	if err != nil {
		return 0, fmt.Errorf("audit: %w", err)
	}
	if err := l.openCheckpoints(len(segments) > 0); err != nil {
		return 0, err
	}
	c := &l.c
	if l.last.Size > 0 && len(segments) == 0 {
		return 0, refused("it has no records and should have %d", l.last.Size)
	}
	if len(segments) > 0 && segments[0] != 0 {
		return 0, refused("its first segment begins with record %d", segments[0])
	}
	if err := c.derived.openHashesFor(l.dir); err != nil {
		return 0, fmt.Errorf("audit: %w", err)
	}
	// The fast way trusts the hashes as far as the last checkpoint vouches
	// for them; the slow one reads everything.
	s := &recovery{l: l, segments: segments}
	if !s.resume() {
		if err := s.restart(); err != nil {
			return 0, fmt.Errorf("audit: %w", err)
		}
	}
	if err := s.scan(); err != nil {
		return 0, err
	}
	if err := s.openWriter(); err != nil {
		return 0, err
	}
	c.unerased = s.redactions
	l.size = c.tree.size
	if err := l.finishErasing(); err != nil {
		return 0, err
	}
	if l.last.Note == nil {
		if err := l.firstCheckpoint(); err != nil {
			return 0, err
		}
	}
	return s.cut, nil
}

// openCheckpoints reads the last checkpoint and cuts off a torn one behind it.
func (l *Log) openCheckpoints(used bool) error {
	path := filepath.Join(l.dir, checkpointsName)
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return fmt.Errorf("audit: %w", err)
	}
	l.c.checkpoints = f
	if l.seen.checkpoints, err = identify(f); err != nil {
		return fmt.Errorf("audit: %w", err)
	}
	size := l.seen.checkpoints.info.Size()
	start := max(0, size-4*maxCheckpoint)
	b := make([]byte, size-start)
	if _, err := f.ReadAt(b, start); err != nil && err != io.EOF {
		return fmt.Errorf("audit: %w", err)
	}
	signed, whole := lastCheckpoint(b)
	if signed == nil {
		if used && l.hasRecords() || start > 0 {
			return refused("it has records and no checkpoint")
		}
		return f.Truncate(0)
	}
	if l.last, err = ParseCheckpoint(signed, l.key.Verifier()); err != nil {
		return fmt.Errorf("%w (is it another key's log?): %w", ErrRefused, err)
	}
	l.c.checkpointsTail = start + int64(whole)
	return f.Truncate(l.c.checkpointsTail)
}

// hasRecords says whether the first segment holds more than its first line: a
// crash while the log was made leaves an empty one without a checkpoint.
func (l *Log) hasRecords() bool {
	info, err := os.Stat(segmentPath(l.dir, 0))
	return err != nil || info.Size() > int64(segmentHeadLen)
}

// firstCheckpoint signs the empty log: from now on a log without a checkpoint
// is one that lost it.
func (l *Log) firstCheckpoint() error {
	if err := l.checkpoint(); err != nil {
		return err
	}
	return errors.Join(l.c.checkpoints.Sync(), syncDir(l.dir))
}

// openHashesFor opens the hash file as it is.
func (d *derived) openHashesFor(dir string) error {
	info, err := os.Stat(filepath.Join(dir, hashesName))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	n := int64(0)
	if err == nil {
		n = info.Size() / tlog.HashSize * tlog.HashSize
	}
	return d.openHashes(dir, n)
}
