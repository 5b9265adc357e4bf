package audit

import (
	"errors"
	"fmt"
	"io"
	"os"
	"sort"

	"golang.org/x/mod/sumdb/tlog"
)

// recovery reads the end of the log, or all of it.
type recovery struct {
	l        *Log
	segments []int64

	start  int64 // index of the first record that is read
	offset int64 // where it begins in its segment
	// end is where the last whole record of the last segment ends.
	end        int64
	filled     int64
	cut        int64
	redactions []int64
}

// resume sets the start to the last checkpoint, if hashes and offsets up to
// there are to be trusted.
func (s *recovery) resume() bool {
	l, d := s.l, &s.l.c.derived
	n := l.last.Size
	stored := tlog.StoredHashCount(n) * tlog.HashSize
	if n == 0 || d.hashed < stored {
		return false
	}
	t, err := readTree(n, hashFile{d.hashes})
	if err != nil || t.root() != l.last.Root {
		return false
	}
	at := sort.Search(len(s.segments), func(i int) bool { return s.segments[i] > n-1 }) - 1
	first := s.segments[at]
	f, err := openSegment(l.dir, first)
	if err != nil {
		return false
	}
	defer f.Close()
	p, fr, ok := locateFast(f, first, n-1)
	if !ok {
		return false
	}
	if e, err := ParseEnvelope(fr.leaf); err == nil {
		l.c.logged = e.Logged
	}
	if d.hashes.Truncate(stored) != nil || d.openOffsets(f.Name(), 4*(n-first)) != nil {
		return false
	}
	d.hashed = stored
	l.c.tree, s.start, s.offset, s.segments = t, n, p.offset+fr.size(), s.segments[at:]
	return true
}

// restart begins from nothing.
func (s *recovery) restart() error {
	s.l.c.tree, s.start, s.offset = tree{}, 0, int64(segmentHeadLen)
	d := &s.l.c.derived
	d.hashed, d.newHashes = 0, nil
	if err := d.hashes.Truncate(0); err != nil {
		return err
	}
	if len(s.segments) > 0 {
		return d.openOffsets(segmentPath(s.l.dir, s.segments[0]), 0)
	}
	return nil
}

// scan reads the records from the start to the end.
func (s *recovery) scan() error {
	for i, first := range s.segments {
		if i > 0 {
			s.offset = int64(segmentHeadLen)
			if first != s.l.c.tree.size {
				return refused("segment %d should begin with record %d", first, s.l.c.tree.size)
			}
			if err := s.l.c.derived.openOffsets(segmentPath(s.l.dir, first), 0); err != nil {
				return fmt.Errorf("audit: %w", err)
			}
		}
		if err := s.scanSegment(first, i == len(s.segments)-1); err != nil {
			return err
		}
	}
	if n := s.l.c.tree.size; n < s.l.last.Size {
		return refused("it has %d records and should have %d", n, s.l.last.Size)
	}
	return nil
}

func (s *recovery) scanSegment(first int64, last bool) error {
	l, c := s.l, &s.l.c
	f, err := openSegment(l.dir, first)
	var fe *frameError
	if errors.As(err, &fe) && last && first == c.tree.size && first >= l.last.Size && s.emptyFile(first) {
		return nil // the crash was while the segment was made
	}
	if err != nil {
		return refused("segment %d: %v", first, err)
	}
	defer f.Close()
	if _, err := f.Seek(s.offset, io.SeekStart); err != nil {
		return fmt.Errorf("audit: %w", err)
	}
	info, err := f.Stat()
	if err != nil {
		return fmt.Errorf("audit: %w", err)
	}
	s.filled = info.Size()
	r := newScanner(f, s.offset, 1<<20)
	for {
		s.end = r.offset
		fr, err := r.next()
		switch {
		case err == io.EOF, errors.Is(err, errPadding):
			return nil
		case errors.As(err, &fe) && last:
			return s.torn(f, fe)
		case err != nil:
			return refused("segment %d, record %d: %v", first, c.tree.size, err)
		}
		bad, torn := s.take(fr)
		switch {
		case bad != "" && torn && last:
			return s.torn(f, &frameError{s.end, bad})
		case bad != "":
			return refused("segment %d, record %d, byte %d: %s", first, c.tree.size, s.end, bad)
		}
		if c.tree.size == l.last.Size && c.tree.root() != l.last.Root {
			return refused("its first %d records are not those of the checkpoint", c.tree.size)
		}
		if len(c.derived.newHashes) > 1<<20 {
			if err := c.derived.flush(); err != nil {
				return err
			}
		}
	}
}

// take adds a record to the tree, or says what is wrong with it; torn says
// that a crash can have done that.
func (s *recovery) take(fr frame) (bad string, torn bool) {
	c := &s.l.c
	if i, ok := leafIndex(fr.leaf); !ok || i != c.tree.size {
		return "another record stands here", false
	}
	e, err := ParseEnvelope(fr.leaf)
	if err != nil {
		return err.Error(), false
	}
	if want, ok := leafCommitment(fr.leaf); !ok {
		return "the envelope has no commitment", false
	} else if !fr.erased() && commitment(fr.salt, fr.payload) != want && !s.redactedLater(c.tree.size) {
		return "the payload is not the one that was written", true
	}
	if e.Kind == Redaction && e.Target != nil {
		s.redactions = append(s.redactions, *e.Target)
	}
	c.logged = e.Logged
	c.stored = c.tree.add(leafHash(fr.leaf), c.stored[:0])
	c.derived.add(c.stored, s.end)
	return "", false
}

// redactedLater says that a later record redacts this one: the crash was while
// its payload was being overwritten.
func (s *recovery) redactedLater(index int64) bool {
	for _, first := range s.segments {
		if f, err := openSegment(s.l.dir, first); err == nil {
			r := newScanner(f, int64(segmentHeadLen), 64<<10)
			for fr, err := r.next(); err == nil; fr, err = r.next() {
				if e, err := ParseEnvelope(fr.leaf); err == nil && e.Kind == Redaction && e.Target != nil && *e.Target == index && e.Index > index {
					f.Close()
					return true
				}
			}
			f.Close()
		}
	}
	return false
}

// torn deals with the incomplete record at s.end: it goes if it is the last
// one and no checkpoint covers it.
func (s *recovery) torn(f *os.File, what *frameError) error {
	l, n := s.l, s.l.c.tree.size
	if n < l.last.Size {
		return refused("record %d, byte %d: %s, and the checkpoint covers %d records", n, s.end, what.what, l.last.Size)
	}
	b := make([]byte, s.filled-s.end)
	if _, err := f.ReadAt(b, s.end); err != nil {
		return fmt.Errorf("audit: %w", err)
	}
	for at := 0; at+frameHeader < len(b); at++ {
		if string(b[at:at+4]) != frameMagic {
			continue
		}
		// A later record of the same commit was not acknowledged either; one
		// of another commit was begun only after this one was durable.
		if fr, err := parseFrame(b[at:]); err == nil && fr.commit > n {
			return refused("record %d, byte %d: %s, and whole records stand behind it", n, s.end, what.what)
		}
	}
	end := len(b)
	for end > 0 && b[end-1] == 0 {
		end--
	}
	s.cut = int64(end)
	return nil
}

func (s *recovery) emptyFile(first int64) bool {
	b, err := os.ReadFile(segmentPath(s.l.dir, first))
	if err != nil || len(b) > segmentHeadLen {
		return false
	}
	s.end, s.filled = 0, 0
	return true
}

// openWriter opens the last segment for writing, without what was cut off, or
// makes the first one.
func (s *recovery) openWriter() error {
	l, c := s.l, &s.l.c
	fresh := len(s.segments) == 0
	if !fresh && s.end == 0 { // made anew: its first line was not complete
		if err := os.Remove(segmentPath(l.dir, c.tree.size)); err != nil {
			return fmt.Errorf("audit: %w", err)
		}
		fresh = true
	}
	var err error
	if fresh {
		if c.w, err = createSegment(l.dir, c.tree.size, l.o.sync); err != nil {
			return fmt.Errorf("audit: %w", err)
		}
		err = c.derived.openOffsets(c.w.id.path, 0)
	} else {
		first := s.segments[len(s.segments)-1]
		f, openErr := os.OpenFile(segmentPath(l.dir, first), os.O_RDWR, 0)
		if openErr != nil {
			return fmt.Errorf("audit: %w", openErr)
		}
		if c.w, err = newWriter(f, first, s.end, s.filled, l.o.sync); err == nil && s.cut > 0 {
			err = c.w.undo()
		}
	}
	if err != nil {
		return fmt.Errorf("audit: %w", err)
	}
	// What the crash left in memory only is made durable before anything is
	// built on it.
	if err := c.w.file.Sync(); err != nil {
		return fmt.Errorf("audit: %w", err)
	}
	l.seen.segment, l.seen.tail = c.w.id, c.w.tail
	return s.seal()
}

// seal notes the complete segments, so that Health can watch them.
func (s *recovery) seal() error {
	all, err := listSegments(s.l.dir)
	if err != nil {
		return fmt.Errorf("audit: %w", err)
	}
	for _, first := range all {
		path := segmentPath(s.l.dir, first)
		if path == s.l.c.w.id.path {
			continue
		}
		info, err := os.Lstat(path)
		if err != nil {
			return fmt.Errorf("audit: %w", err)
		}
		s.l.seen.sealed = append(s.l.seen.sealed, identity{path, info})
	}
	return nil
}
