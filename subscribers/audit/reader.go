package audit

import (
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"golang.org/x/mod/sumdb/tlog"
)

// Record is one record of the log.
type Record struct {
	Envelope
	// Leaf is the envelope as it stands in the tree.
	Leaf []byte
	// Payload is zero when Redacted.
	Payload Payload
	// Redacted says that the payload was deleted.
	Redacted bool
}

// LeafHash is the record's hash in the tree.
func (r Record) LeafHash() tlog.Hash { return leafHash(r.Leaf) }

// Reader reads a log, also while a [Log] writes to it, here or in another
// process. Many goroutines may use it at once. What it returns matches the
// commitment in its envelope; that the envelopes are those of the tree is what
// [Verify] is for.
type Reader struct {
	dir string

	mu sync.Mutex
	ix *index
}

// OpenReader opens the log in dir for reading. Close it.
func OpenReader(dir string) (*Reader, error) {
	if _, err := listSegments(dir); err != nil {
		return nil, fmt.Errorf("audit: there is no log in %s: %w", dir, err)
	}
	return &Reader{dir: dir}, nil
}

// Close closes the search index.
func (r *Reader) Close() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.ix == nil {
		return nil
	}
	err := r.ix.close()
	r.ix = nil
	return err
}

// Record returns one record. The error wraps [ErrNotFound] when there is none
// and [ErrDamaged] when it is not what was written.
func (r *Reader) Record(index int64) (Record, error) {
	segments, err := listSegments(r.dir)
	if err != nil {
		return Record{}, fmt.Errorf("audit: %w", err)
	}
	_, f, err := locate(r.dir, segments, index)
	if err != nil {
		return Record{}, err
	}
	rec, err := decode(f, index)
	for try := 0; try < 5 && errors.Is(err, errPayload); try++ {
		// Perhaps a redaction was overwriting it just now.
		time.Sleep(time.Millisecond)
		if _, f, again := locate(r.dir, segments, index); again == nil {
			rec, err = decode(f, index)
		}
	}
	return rec, err
}

var errPayload = errors.New("the payload is not the one that was written")

// decode makes a Record of a frame; it keeps the frame's memory.
func decode(f frame, index int64) (Record, error) {
	e, err := ParseEnvelope(f.leaf)
	if err != nil {
		return Record{}, fmt.Errorf("%w: record %d: %w", ErrDamaged, index, err)
	}
	rec := Record{Envelope: e, Leaf: f.leaf, Redacted: f.erased()}
	if e.Index != index {
		return rec, fmt.Errorf("%w: where record %d should be stands record %d", ErrDamaged, index, e.Index)
	}
	if rec.Redacted {
		return rec, nil
	}
	want, ok := leafCommitment(f.leaf)
	if !ok || commitment(f.salt, f.payload) != want {
		return rec, fmt.Errorf("%w: record %d: %w", ErrDamaged, index, errPayload)
	}
	// The commitment has vouched for the bytes. They hold what agents wrote,
	// so that limits of our own have no place here.
	if err := jsonv2.Unmarshal(f.payload, &rec.Payload, jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true)); err != nil {
		return rec, fmt.Errorf("%w: payload of record %d: %w", ErrDamaged, index, err)
	}
	return rec, nil
}

// All yields the records from index on, in order, up to what is in the log
// when it gets there. It ends with the first error; see [Reader.Record].
func (r *Reader) All(from int64) iter.Seq2[Record, error] {
	return func(yield func(Record, error) bool) {
		for f, err := range r.frames(from) {
			if err != nil {
				yield(Record{}, err)
				return
			}
			i, _ := leafIndex(f.leaf)
			rec, err := decode(frame{slices.Clone(f.leaf), slices.Clone(f.salt), slices.Clone(f.payload), f.commit}, i)
			if errors.Is(err, errPayload) {
				rec, err = r.Record(i)
			}
			if !yield(rec, err) || err != nil {
				return
			}
		}
	}
}

// frames yields frames from an index on; each holds until the next.
func (r *Reader) frames(from int64) iter.Seq2[frame, error] {
	return func(yield func(frame, error) bool) {
		segments, err := listSegments(r.dir)
		if err != nil {
			yield(frame{}, fmt.Errorf("audit: %w", err))
			return
		}
		for i, first := range segments {
			if i+1 < len(segments) && segments[i+1] <= from {
				continue
			}
			next, more, err := r.segmentFrames(first, from, i == len(segments)-1, yield)
			if err != nil {
				yield(frame{}, err)
				return
			}
			if !more {
				return
			}
			if i+1 < len(segments) && segments[i+1] != next {
				yield(frame{}, fmt.Errorf("%w: after record %d comes segment %d", ErrDamaged, next-1, segments[i+1]))
				return
			}
		}
	}
}

// segmentFrames yields a segment's frames from an index on. It returns the
// index behind the last.
func (r *Reader) segmentFrames(first, from int64, last bool, yield func(frame, error) bool) (int64, bool, error) {
	f, err := openSegment(r.dir, first)
	if err != nil {
		return 0, false, damaged(err, first)
	}
	defer f.Close()
	s, at, err := seek(f, first, from)
	if err != nil {
		return 0, false, err
	}
	// Behind the last checkpoint stands what a writer is writing now, or was
	// when it died.
	covered := int64(1<<63 - 1)
	if c, err := r.Checkpoint(); last && err == nil {
		covered = c.Size
	}
	for ; ; at++ {
		fr, err := s.next()
		if err == io.EOF || errors.Is(err, errPadding) {
			return at, true, nil
		}
		if err == nil {
			err = checkIndex(fr, at)
		}
		if err == nil && at >= covered && !fr.erased() {
			if want, ok := leafCommitment(fr.leaf); !ok || commitment(fr.salt, fr.payload) != want {
				err = ErrDamaged
			}
		}
		if err != nil && at >= covered {
			return at, true, nil
		}
		if err != nil {
			return at, false, damaged(err, first)
		}
		if at >= from && !yield(fr, nil) {
			return at, false, nil
		}
	}
}

// Len is how many records are in the log.
func (r *Reader) Len() (int64, error) {
	c, err := r.Checkpoint()
	if err != nil {
		return 0, err
	}
	n := c.Size
	for _, err := range r.frames(n) {
		if err != nil {
			return 0, err
		}
		n++
	}
	return n, nil
}

// Checkpoint is the last checkpoint in the log's directory. Its signature is
// not checked; [ParseCheckpoint] does that.
func (r *Reader) Checkpoint() (Checkpoint, error) {
	f, err := os.Open(filepath.Join(r.dir, checkpointsName))
	if err != nil {
		return Checkpoint{}, fmt.Errorf("audit: %w", err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return Checkpoint{}, fmt.Errorf("audit: %w", err)
	}
	start := max(0, info.Size()-4*maxCheckpoint)
	b, err := io.ReadAll(io.NewSectionReader(f, start, info.Size()-start))
	if err != nil {
		return Checkpoint{}, fmt.Errorf("audit: %w", err)
	}
	signed, _ := lastCheckpoint(b)
	if signed == nil {
		return Checkpoint{}, fmt.Errorf("%w: there is none in %s", ErrCheckpoint, f.Name())
	}
	return parseUnsigned(signed)
}
