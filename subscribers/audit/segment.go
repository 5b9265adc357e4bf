package audit

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// ErrReplaced says that a file of the log is not at its path any more, or is
// not the file that the log writes to.
var ErrReplaced = errors.New("audit: a file of the log was removed or replaced")

const (
	segmentDir    = "segments"
	segmentSuffix = ".seg"
	offsetsSuffix = ".off"
	nameDigits    = 20
)

// segmentHead is the first line of each segment, of fixed length.
func segmentHead(first int64) string {
	return fmt.Sprintf("grapnel audit segment 1 first %0*d\n", nameDigits, first)
}

const segmentHeadLen = len("grapnel audit segment 1 first \n") + nameDigits

func segmentPath(dir string, first int64) string {
	return filepath.Join(dir, segmentDir, fmt.Sprintf("%0*d%s", nameDigits, first, segmentSuffix))
}

func offsetsPath(segment string) string {
	return strings.TrimSuffix(segment, segmentSuffix) + offsetsSuffix
}

// listSegments returns the first indexes of all segments, in order.
func listSegments(dir string) ([]int64, error) {
	entries, err := os.ReadDir(filepath.Join(dir, segmentDir))
	if err != nil {
		return nil, err
	}
	var list []int64
	for _, e := range entries {
		digits, ok := strings.CutSuffix(e.Name(), segmentSuffix)
		if !ok {
			continue
		}
		first, err := strconv.ParseInt(digits, 10, 64)
		if err != nil || len(digits) != nameDigits || first < 0 {
			return nil, fmt.Errorf("%s is no segment's name", e.Name())
		}
		list = append(list, first)
	}
	slices.Sort(list)
	return list, nil
}

// openSegment opens a segment for reading and checks its first line.
func openSegment(dir string, first int64) (*os.File, error) {
	f, err := os.Open(segmentPath(dir, first))
	if err != nil {
		return nil, err
	}
	head := make([]byte, segmentHeadLen)
	if n, err := io.ReadFull(f, head); err != nil && err != io.EOF && err != io.ErrUnexpectedEOF {
		f.Close()
		return nil, err
	} else if string(head[:n]) != segmentHead(first) {
		f.Close()
		return nil, &frameError{0, "the segment's first line is damaged"}
	}
	return f, nil
}

// writer is the segment that is written to.
type writer struct {
	id    identity
	file  *os.File
	first int64
	// tail is where the next record goes; the file is filled with zeros up to
	// filled. A write into space that exists needs no change of the file
	// system's own records, so that making it durable takes half the time.
	tail, filled int64
	// dirty says that there may be something of a failed commit behind tail.
	dirty bool
	sync  func(*os.File) error
}

// reserve is how much space is taken at once; commits above largeCommit take
// their own.
const (
	reserve     = 256 << 10
	largeCommit = 32 << 10
)

// createSegment makes a new segment and makes its name durable.
func createSegment(dir string, first int64, sync func(*os.File) error) (*writer, error) {
	path := segmentPath(dir, first)
	if info, err := os.Lstat(path); err == nil {
		if info.Size() > int64(segmentHeadLen) {
			return nil, fmt.Errorf("segment %d is there already: %w", first, os.ErrExist)
		}
		os.Remove(path) // left by an attempt that failed
	}
	// It gets its name when its first line is on disk: whoever reads the log
	// of a writer that was killed must not find half a line.
	unnamed := filepath.Join(filepath.Dir(path), "segment.new")
	os.Remove(unnamed)
	f, err := os.OpenFile(unnamed, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return nil, err
	}
	_, err = f.WriteString(segmentHead(first))
	err = errors.Join(err, f.Sync(), f.Close())
	if err == nil {
		err = os.Rename(unnamed, path)
	}
	if err == nil {
		f, err = os.OpenFile(path, os.O_RDWR, 0)
	}
	if err != nil {
		os.Remove(unnamed)
		os.Remove(path)
		return nil, err
	}
	if err := errors.Join(syncDir(filepath.Dir(path)), syncDir(dir)); err != nil {
		f.Close()
		os.Remove(path)
		return nil, err
	}
	n := int64(segmentHeadLen)
	return newWriter(f, first, n, n, sync)
}

func newWriter(f *os.File, first, tail, filled int64, sync func(*os.File) error) (*writer, error) {
	id, err := identify(f)
	if err != nil {
		f.Close()
		return nil, err
	}
	return &writer{id: id, file: f, first: first, tail: tail, filled: filled, sync: sync}, nil
}

// commit writes b at the tail and returns when it is durable and is sure to be
// in the file at the segment's path. On an error nothing of b stays.
func (w *writer) commit(b []byte) error {
	if w.dirty {
		if err := w.undo(); err != nil {
			return err
		}
	}
	// Before, since a write behind the end of a file that was cut would fill
	// the gap with zeros; after, since the file may go while it is written.
	if err := w.id.check(w.tail); err != nil {
		return err
	}
	err := w.write(b)
	if err == nil {
		err = w.sync(w.file)
	}
	if err == nil {
		err = w.id.check(w.tail)
	}
	if err != nil {
		// Whether it is on disk or not is unknown: it must not be there,
		// since the caller is told that it is not.
		w.dirty = true
		return errors.Join(err, w.undo())
	}
	w.tail += int64(len(b))
	return nil
}

func (w *writer) write(b []byte) error {
	end := w.tail + int64(len(b))
	// A large commit writes enough for the reserve not to be worth its bytes.
	if end > w.filled && len(b) <= largeCommit {
		grown := (end/reserve + 1) * reserve
		padded := append(b[:len(b):len(b)], make([]byte, grown-end)...)
		if _, err := w.file.WriteAt(padded, w.tail); err == nil {
			w.filled = grown
			return nil
		}
		// Perhaps there is room for the records alone.
		w.dirty = true
		if err := w.undo(); err != nil {
			return err
		}
	}
	if _, err := w.file.WriteAt(b, w.tail); err != nil {
		return err
	}
	w.filled = max(w.filled, end)
	return nil
}

// undo takes away what stands behind the tail.
func (w *writer) undo() error {
	if err := w.file.Truncate(w.tail); err != nil {
		return err
	}
	w.filled = w.tail
	if err := w.file.Sync(); err != nil {
		return err
	}
	w.dirty = false
	return nil
}

// identity is a file that was opened, and where it was.
type identity struct {
	path string
	info os.FileInfo
}

func identify(f *os.File) (identity, error) {
	info, err := f.Stat()
	return identity{f.Name(), info}, err
}

// check reports whether the file is still at its path, with at least that many
// bytes. (A write to a file that was deleted succeeds in silence.)
func (i identity) check(least int64) error {
	there, err := os.Lstat(i.path)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrReplaced, err)
	}
	if !os.SameFile(i.info, there) {
		return fmt.Errorf("%w: %s is another file now", ErrReplaced, i.path)
	}
	if there.Size() < least {
		return fmt.Errorf("%w: %s was cut from %d bytes to %d", ErrReplaced, i.path, least, there.Size())
	}
	return nil
}

// probe finds out whether a commit would work again.
func (w *writer) probe() error {
	if w.dirty {
		if err := w.undo(); err != nil {
			return err
		}
	}
	if w.filled < w.tail+4096 {
		zeros := make([]byte, 4096)
		if _, err := w.file.WriteAt(zeros, w.tail); err != nil {
			w.dirty = true
			return errors.Join(err, w.undo())
		}
		w.filled = w.tail + int64(len(zeros))
	}
	return errors.Join(w.sync(w.file), w.id.check(w.tail))
}

// trim gives reserved space back.
func (w *writer) trim() error {
	if err := w.id.check(w.tail); err != nil {
		return err
	}
	if err := w.file.Truncate(w.tail); err != nil {
		return err
	}
	w.filled = w.tail
	return w.file.Sync()
}

func (w *writer) close() error { return errors.Join(w.trim(), w.file.Close()) }
