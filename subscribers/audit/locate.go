package audit

import (
	"errors"
	"fmt"
	"io"
	"os"
	"sort"
)

// ErrNotFound says that the log has no record with that index.
var ErrNotFound = errors.New("audit: no such record")

// ErrDamaged says that what stands in the files is not what was written.
var ErrDamaged = errors.New("audit: the log is damaged")

// place is where a record stands.
type place struct {
	first  int64 // the segment
	offset int64
}

// readFrameAt reads the record at an offset of f into memory of its own.
func readFrameAt(f io.ReaderAt, offset int64) (frame, error) {
	var head [frameHeader]byte
	if _, err := f.ReadAt(head[:], offset); err != nil {
		return frame{}, err
	}
	sizes, err := parseHeader(head[:])
	if err != nil {
		return frame{}, err
	}
	b := make([]byte, frameHeader+sizes.leaf+saltSize+sizes.payload)
	if _, err := f.ReadAt(b, offset); err != nil {
		return frame{}, err
	}
	return parseFrame(b)
}

// locate finds record index: with the offsets file where that is right, else
// by reading the segment.
func locate(dir string, segments []int64, index int64) (place, frame, error) {
	n := sort.Search(len(segments), func(i int) bool { return segments[i] > index })
	if n == 0 || index < 0 {
		return place{}, frame{}, fmt.Errorf("%w: %d", ErrNotFound, index)
	}
	first := segments[n-1]
	f, err := openSegment(dir, first)
	if err != nil {
		return place{}, frame{}, damaged(err, first)
	}
	defer f.Close()
	if p, fr, ok := locateFast(f, first, index); ok {
		return p, fr, nil
	}
	s, at, err := seek(f, first, index)
	if err != nil {
		return place{}, frame{}, err
	}
	for ; ; at++ {
		offset := s.offset
		fr, err := s.next()
		if err == io.EOF || errors.Is(err, errPadding) {
			return place{}, frame{}, fmt.Errorf("%w: %d; the log has %d", ErrNotFound, index, at)
		}
		if err != nil {
			return place{}, frame{}, damaged(err, first)
		}
		if at == index {
			return place{first, offset}, fr, checkIndex(fr, index)
		}
	}
}

func locateFast(f *os.File, first, index int64) (place, frame, bool) {
	offset, ok := readOffset(f.Name(), index-first)
	if !ok || offset < int64(segmentHeadLen) {
		return place{}, frame{}, false
	}
	fr, err := readFrameAt(f, offset)
	if err != nil || checkIndex(fr, index) != nil {
		return place{}, frame{}, false
	}
	return place{first, offset}, fr, true
}

// seek returns a scanner at a record not behind index, and that record's
// index.
func seek(f *os.File, first, index int64) (*scanner, int64, error) {
	start, offset := first, int64(segmentHeadLen)
	if known := min(index-first, countOffsets(f.Name())-1); known > 0 {
		if p, _, ok := locateFast(f, first, first+known); ok {
			start, offset = first+known, p.offset
		}
	}
	if _, err := f.Seek(offset, io.SeekStart); err != nil {
		return nil, 0, err
	}
	return newScanner(f, offset, 64<<10), start, nil
}

func checkIndex(f frame, index int64) error {
	if got, ok := leafIndex(f.leaf); !ok || got != index {
		return fmt.Errorf("%w: where record %d should be stands another", ErrDamaged, index)
	}
	return nil
}

func damaged(err error, first int64) error {
	var fe *frameError
	if errors.As(err, &fe) {
		return fmt.Errorf("%w: segment %d, %w", ErrDamaged, first, err)
	}
	return err
}
