package audit

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"hash"
	"io"
	"os"

	"golang.org/x/mod/sumdb/tlog"
)

// segmentReport is what reading one segment gave. It holds hashes and places,
// no content.
type segmentReport struct {
	leaves   []tlog.Hash
	offsets  []uint32
	problems []Finding // payloads and order, by index
	erased   []int64
	targets  []int64
	// damage ends the segment early, at record first+len(leaves).
	damage *frameError
	err    error
}

// readSegment reads and hashes all records of a segment.
func readSegment(ctx context.Context, dir string, first int64) (r segmentReport) {
	f, err := openSegment(dir, first)
	if errors.As(err, &r.damage) {
		return r
	}
	if err != nil {
		r.err = err
		return r
	}
	defer f.Close()
	if _, err := f.Seek(int64(segmentHeadLen), io.SeekStart); err != nil {
		r.err = err
		return r
	}
	s := newScanner(f, int64(segmentHeadLen), 1<<20)
	var m macs
	m.init()
	for index := first; ; index++ {
		if index&1023 == 0 && ctx.Err() != nil {
			r.err = context.Cause(ctx)
			return r
		}
		offset := s.offset
		fr, err := s.next()
		if err == io.EOF || errors.Is(err, errPadding) {
			return r
		}
		if errors.As(err, &r.damage) {
			return r
		}
		if err != nil {
			r.err = err
			return r
		}
		if got, ok := leafIndex(fr.leaf); !ok || got != index {
			r.problems = append(r.problems, Finding{Problem: ProblemOrder, Index: index, Text: "another record stands in its place"})
			r.damage = &frameError{offset, "another record stands in its place"}
			return r
		}
		r.leaves = append(r.leaves, leafHash(fr.leaf))
		r.offsets = append(r.offsets, uint32(offset))
		if want, ok := leafCommitment(fr.leaf); fr.erased() {
			r.erased = append(r.erased, index)
		} else if !ok || m.sum(fr.salt, fr.payload) != want && !erasedMeanwhile(f, offset) {
			r.problems = append(r.problems, Finding{Problem: ProblemPayload, Index: index, Text: "the payload is not the one that the envelope commits to"})
		}
		if isRedaction(fr.leaf) {
			if e, err := ParseEnvelope(fr.leaf); err == nil && e.Target != nil {
				r.targets = append(r.targets, *e.Target)
			}
		}
	}
}

// isRedaction looks at the kind, which follows the index and the time.
func isRedaction(leaf []byte) bool {
	const kind = `,"kind":"redaction"`
	at := len(leafHead)
	for at < len(leaf) && leaf[at] != ',' {
		at++
	}
	at += len(`,"logged":"2006-01-02T15:04:05.000000000Z"`)
	return at+len(kind) <= len(leaf) && string(leaf[at:at+len(kind)]) == kind
}

// macs computes commitments without making a new HMAC for each.
type macs struct {
	h   hash.Hash
	pad [sha256.BlockSize]byte
	out [sha256.Size]byte
}

func (m *macs) init() { m.h = sha256.New() }

func (m *macs) sum(salt, payload []byte) [sha256.Size]byte {
	m.key(salt, 0x36)
	m.h.Write(payload)
	m.h.Sum(m.out[:0])
	m.key(salt, 0x5c)
	m.h.Write(m.out[:])
	m.h.Sum(m.out[:0])
	return m.out
}

func (m *macs) key(salt []byte, with byte) {
	for i := range m.pad {
		m.pad[i] = with
	}
	for i, c := range salt {
		m.pad[i] ^= c
	}
	m.h.Reset()
	m.h.Write(m.pad[:])
}

// segment adds a segment's records to the tree; it returns false when nothing
// behind can be judged.
func (c *check) segment(first int64, r segmentReport, last bool) bool {
	if first != c.tree.size {
		p := ProblemMissing
		if first < c.tree.size {
			p = ProblemOrder
		}
		c.bad(Finding{Problem: p, Index: min(first, c.tree.size), Last: max(first, c.tree.size) - 1, Text: "the segments do not follow one another"})
		return false
	}
	covered := c.Covered
	if c.outside != nil {
		covered = max(covered, c.outside.Size)
	}
	end := first + int64(len(r.leaves))
	for _, f := range r.problems {
		// What no checkpoint covers may be on its way to the disk right now.
		switch torn := f.Problem == ProblemPayload && last && f.Index >= covered; {
		case torn && c.Live:
			continue
		case torn && f.Index == end-1 && r.damage == nil:
			f.Problem = ProblemTail
		}
		c.bad(f)
	}
	c.offsets(first, r)
	c.Redacted += int64(len(r.erased))
	for _, i := range r.erased {
		c.erased[i] = true
	}
	for _, i := range r.targets {
		c.targets[i] = true
	}
	var stored []tlog.Hash
	for _, leaf := range r.leaves {
		stored = c.tree.add(leaf, stored[:0])
		c.compare(stored)
		c.meet()
	}
	if r.damage == nil {
		return true
	}
	at := c.tree.size
	switch {
	case at < covered || !last:
		c.bad(Finding{Problem: ProblemRecord, Index: at, Text: r.damage.Error()})
	case !c.Live || !isLive(c.dir):
		c.bad(Finding{Problem: ProblemTail, Index: at, Text: r.damage.Error()})
	}
	return false
}

// compare holds what was computed for a record against the hash file. Which of
// the two is wrong where they differ, the next checkpoint tells.
func (c *check) compare(stored []tlog.Hash) {
	for i, h := range stored {
		if got, ok := c.stored.next(); ok && got != h && c.suspect < 0 {
			c.suspect, c.suspectLeaf = c.tree.size-1, i == 0
		}
	}
}

// meet holds the tree against the checkpoints of its size.
func (c *check) meet() {
	for len(c.marks) > 0 && c.marks[0].Size <= c.tree.size {
		m := c.marks[0]
		c.marks = c.marks[1:]
		if c.tampered {
			continue
		}
		if m.Size == c.tree.size && c.tree.root() == m.Root {
			c.good = m.Size
			if c.suspect >= 0 {
				c.bad(Finding{Problem: ProblemDerived, Index: c.suspect, Text: "the hash file holds another hash of the record"})
				c.suspect = -1
			}
			continue
		}
		c.tampered = true
		if c.suspect >= 0 && c.suspectLeaf {
			c.bad(Finding{Problem: ProblemTree, Index: c.suspect, Text: "the envelope was rewritten: its hash is not the one that was stored"})
		} else {
			c.bad(Finding{Problem: ProblemTree, Index: c.good, Last: m.Size - 1, Text: "the tree is not the one that was signed"})
		}
	}
}

// offsets holds the places against the offsets file.
func (c *check) offsets(first int64, r segmentReport) {
	want := r.offsets
	b, err := os.ReadFile(offsetsPath(segmentPath(c.dir, first)))
	if err != nil {
		return // derived, and made anew when it is needed
	}
	for i, offset := range want {
		if len(b) < 4*i+4 {
			return
		}
		if binary.BigEndian.Uint32(b[4*i:]) != offset {
			c.bad(Finding{Problem: ProblemDerived, Index: first + int64(i), Text: "the offsets file says that the record is elsewhere"})
			return
		}
	}
	if len(b) > 4*len(want) && !c.Live && r.damage == nil {
		c.bad(Finding{Problem: ProblemDerived, Index: first + int64(len(want)), Text: "the offsets file knows of more records"})
	}
}

// finish judges what only the whole log tells.
func (c *check) finish() {
	c.Records = c.tree.size
	if c.suspect >= 0 && !c.tampered {
		// No checkpoint behind it: which of the two is wrong is not known.
		c.bad(Finding{Problem: ProblemDerived, Index: c.suspect, Text: "the hash file holds another hash of the record"})
	}
	for _, m := range c.marks {
		if m.Size > c.tree.size {
			c.bad(Finding{Problem: ProblemMissing, Index: c.tree.size, Last: m.Size - 1, Text: "a checkpoint covers records that are not there"})
		}
	}
	for i := range c.erased {
		if !c.targets[i] {
			c.bad(Finding{Problem: ProblemErased, Index: i, Text: "the payload was deleted, and no record says so"})
		}
	}
	for i := range c.targets {
		if !c.erased[i] && i < c.tree.size && i >= 0 && !c.Live && c.seen(i) {
			c.bad(Finding{Problem: ProblemUnfinished, Index: i, Text: "the payload should have been deleted"})
		}
	}
	if c.outside != nil {
		if c.outside.Size > c.Covered {
			c.bad(Finding{Problem: ProblemCheckpoint, Index: c.Covered, Last: c.outside.Size - 1, Text: "the outside checkpoint is later than all of the log's own"})
		}
		c.Anchored = true
	}
}

// seen says whether record i was read in this run.
func (c *check) seen(i int64) bool { return i >= c.from }
