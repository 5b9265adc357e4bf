package audit

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"
)

// Redact deletes the payload of record index for ever and leaves its leaf and
// every proof as they are. The redaction is a record of its own, which holds
// who wanted it and why; its index is returned. Redacting twice is recorded
// twice. When the disk fails between the record and the deletion, the error
// says so and the deletion is finished as soon as it can be, at the latest
// when the log is next opened.
func (l *Log) Redact(ctx context.Context, index int64, by, reason string) (int64, error) {
	if index < 0 || index >= l.Size() {
		return 0, fmt.Errorf("%w: %d; the log has %d", ErrNotFound, index, l.Size())
	}
	if reason == "" {
		return 0, errors.New("audit: a redaction needs a reason")
	}
	e, err := seal(Envelope{Version: Version, Kind: Redaction, Caller: by, Target: &index}, Payload{Reason: clip(reason, 4096)}, nil, l.o.Redactor)
	if err != nil {
		return 0, err
	}
	return l.submit(ctx, &request{entry: e, erase: index})
}

// finishErasing carries out the redactions that are recorded.
func (l *Log) finishErasing() error {
	c := &l.c
	for len(c.unerased) > 0 {
		segments, err := listSegments(l.dir)
		if err != nil {
			return err
		}
		p, f, err := locate(l.dir, segments, c.unerased[0])
		if err == nil && !f.erased() {
			err = erase(l.dir, p, f)
		}
		if err != nil {
			return fmt.Errorf("audit: erase record %d: %w", c.unerased[0], err)
		}
		c.unerased = c.unerased[1:]
	}
	return nil
}

// erase overwrites the payload and the salt of a record.
func erase(dir string, p place, f frame) error {
	file, err := os.OpenFile(segmentPath(dir, p.first), os.O_RDWR, 0)
	if err != nil {
		return err
	}
	zeros := make([]byte, 64<<10)
	at := p.offset + frameHeader + int64(len(f.leaf))
	for left := saltSize + len(f.payload); left > 0 && err == nil; {
		n := min(left, len(zeros))
		_, err = file.WriteAt(zeros[:n], at)
		at, left = at+int64(n), left-n
	}
	return errors.Join(err, file.Sync(), file.Close())
}

// erasedMeanwhile looks again at a record whose payload does not match: perhaps
// it was read while a redaction was overwriting it.
func erasedMeanwhile(f io.ReaderAt, offset int64) bool {
	for range 5 {
		time.Sleep(time.Millisecond)
		if fr, err := readFrameAt(f, offset); err == nil && fr.erased() {
			return true
		}
	}
	return false
}
