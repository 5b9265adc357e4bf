package audit

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"sync"

	"golang.org/x/mod/sumdb/tlog"
)

// storedHashes reads the hash file from front to back.
type storedHashes struct{ r *bufio.Reader }

func newStoredHashes(f *os.File, from int64) *storedHashes {
	if f == nil {
		return &storedHashes{}
	}
	if _, err := f.Seek(from*tlog.HashSize, io.SeekStart); err != nil {
		return &storedHashes{}
	}
	return &storedHashes{bufio.NewReaderSize(f, 256<<10)}
}

// next returns false at the end of the file: it may lag behind.
func (s *storedHashes) next() (h tlog.Hash, ok bool) {
	if s.r == nil {
		return h, false
	}
	if _, err := io.ReadFull(s.r, h[:]); err != nil {
		s.r = nil
		return h, false
	}
	return h, true
}

// loadCheckpoints reads the log's own checkpoints and checks their signatures.
func (c *check) loadCheckpoints() error {
	b, err := os.ReadFile(filepath.Join(c.dir, checkpointsName))
	if errors.Is(err, fs.ErrNotExist) {
		c.bad(Finding{Problem: ProblemCheckpoint, Text: "there is no checkpoints file"})
		b = nil
	} else if err != nil {
		return fmt.Errorf("audit: %w", err)
	}
	var notes [][]byte
	for len(b) > 0 {
		signed, rest := cutCheckpoint(b)
		if signed == nil {
			break
		}
		notes, b = append(notes, signed), rest
	}
	list, bad := c.checkNotes(notes)
	before := int64(0)
	for i, m := range list {
		if bad[i] != nil {
			c.bad(Finding{Problem: ProblemCheckpoint, Index: before, Text: bad[i].Error()})
			continue
		}
		if m.Size < before {
			c.bad(Finding{Problem: ProblemCheckpoint, Index: m.Size, Text: "the checkpoints are out of order"})
			continue
		}
		before = m.Size
		c.marks = append(c.marks, m)
		c.Checkpoints++
	}
	c.Covered = before
	if len(b) > 0 && !c.Live {
		c.bad(Finding{Problem: ProblemCheckpoint, Index: before, Text: "the last checkpoint is incomplete"})
	}
	if len(c.marks) == 0 {
		c.bad(Finding{Problem: ProblemCheckpoint, Text: "there is no checkpoint"})
	}
	if c.outside != nil {
		c.place(*c.outside)
	}
	return nil
}

// checkNotes opens signed notes, on all processors: a signature takes longer to
// check than a record.
func (c *check) checkNotes(notes [][]byte) ([]Checkpoint, []error) {
	list, bad := make([]Checkpoint, len(notes)), make([]error, len(notes))
	step := max(1, (len(notes)+runtime.GOMAXPROCS(0)-1)/runtime.GOMAXPROCS(0))
	var workers sync.WaitGroup
	for from := 0; from < len(notes); from += step {
		workers.Go(func() {
			for i := from; i < min(from+step, len(notes)); i++ {
				list[i], bad[i] = ParseCheckpoint(notes[i], c.verifier)
				list[i].Note = nil
			}
		})
	}
	workers.Wait()
	return list, bad
}

// place puts the outside checkpoint among the log's own.
func (c *check) place(outside Checkpoint) {
	at, _ := slices.BinarySearchFunc(c.marks, outside.Size, func(m Checkpoint, size int64) int {
		return int(min(1, max(-1, m.Size-size)))
	})
	c.marks = slices.Insert(c.marks, at, outside)
}
