package audit

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"sort"
	"sync"
	"sync/atomic"

	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"

	"github.com/grapnel-dev/grapnel/internal/filelock"
)

// VerifyOptions tune [Verify]. The zero value is fine.
type VerifyOptions struct {
	// Checkpoint is a signed checkpoint of this log that was kept elsewhere.
	// Without one, Verify cannot know of a log that was replaced as a whole by
	// somebody who has its key.
	Checkpoint []byte
	// Since leaves out the content of segments that end before this record;
	// their hashes are taken from the hash file, for which the checkpoints
	// vouch.
	Since int64
}

// Problem sorts findings.
type Problem string

// The problems.
const (
	// ProblemRecord is a record that cannot be read or is another one than it
	// was.
	ProblemRecord Problem = "record"
	// ProblemPayload is a payload that is not the one the envelope commits to.
	ProblemPayload Problem = "payload"
	// ProblemMissing is a record that is not there.
	ProblemMissing Problem = "missing"
	// ProblemOrder is a record where another one should be: records were
	// inserted, deleted or swapped.
	ProblemOrder Problem = "order"
	// ProblemTree is a tree that is not the one of a checkpoint, while the
	// records look whole: they were rewritten.
	ProblemTree Problem = "tree"
	// ProblemCheckpoint is a checkpoint that is damaged, not signed by the
	// key, or lost.
	ProblemCheckpoint Problem = "checkpoint"
	// ProblemErased is a payload that was deleted without a redaction.
	ProblemErased Problem = "erased"
	// ProblemUnfinished is a redaction that was recorded and not carried out;
	// opening the log finishes it.
	ProblemUnfinished Problem = "unfinished redaction"
	// ProblemTail is an incomplete record at the end, which no checkpoint
	// covers, as a crash leaves it; opening the log cuts it off.
	ProblemTail Problem = "incomplete tail"
	// ProblemDerived is a damaged hash or offsets file; nothing is lost, and
	// deleting the file has it made anew.
	ProblemDerived Problem = "derived"
)

// Finding is one thing that is wrong.
type Finding struct {
	Problem Problem
	// Index is the first record that is concerned, and Last the last one it
	// may be where the place cannot be told exactly.
	Index, Last int64
	// Text is for people.
	Text string
}

// String says it in one line.
func (f Finding) String() string {
	if f.Last > f.Index {
		return fmt.Sprintf("%s, records %d to %d: %s", f.Problem, f.Index, f.Last, f.Text)
	}
	return fmt.Sprintf("%s, record %d: %s", f.Problem, f.Index, f.Text)
}

// Result is what [Verify] found.
type Result struct {
	// Records is how many records were found whole, Redacted how many of them
	// have no payload any more.
	Records, Redacted int64
	// Checkpoints is how many checkpoints were checked; the last one is over
	// Covered records.
	Checkpoints int
	Covered     int64
	// Anchored says that the outside checkpoint was checked too.
	Anchored bool
	// Live says that somebody writes to the log.
	Live bool
	// Bad is the finding with the lowest index, nil when all is well.
	Bad *Finding
}

// OK says that nothing was found.
func (r Result) OK() bool { return r.Bad == nil }

func (r *Result) bad(f Finding) {
	f.Last = max(f.Last, f.Index)
	if r.Bad == nil || f.Index < r.Bad.Index {
		r.Bad = &f
	}
}

// Verify reads the whole log in dir and checks it against its checkpoints and
// the verifier key: that each record is whole and in its place, that each
// payload is the one that was committed to or was redacted by a recorded
// redaction, that the tree at each checkpoint is the one that was signed, and
// that all checkpoints are signed and follow from one another. A log that
// somebody is writing to can be verified.
//
// What is wrong with the log is in the result. The error is about what keeps
// Verify from reading, or about the outside checkpoint (wrapping
// [ErrCheckpoint]).
func Verify(ctx context.Context, dir string, v note.Verifier, o *VerifyOptions) (Result, error) {
	if o == nil {
		o = &VerifyOptions{}
	}
	c := &check{dir: dir, ctx: ctx, verifier: v}
	if o.Checkpoint != nil {
		outside, err := ParseCheckpoint(o.Checkpoint, v)
		if err != nil {
			return c.Result, err
		}
		c.outside = &outside
	}
	if err := c.run(o.Since); err != nil {
		return c.Result, err
	}
	return c.Result, nil
}

// check is one run of Verify.
type check struct {
	Result
	ctx      context.Context
	dir      string
	verifier note.Verifier
	outside  *Checkpoint
	marks    []Checkpoint // checkpoints still to be met, by size
	good     int64        // the size up to which the tree is vouched for
	tree     tree
	stored   *storedHashes
	suspect  int64 // first record with a stored hash that differs, -1 for none
	// suspectLeaf says that it is the hash of the record itself.
	suspectLeaf bool
	tampered    bool // the tree does not match, so that further roots say nothing
	erased      map[int64]bool
	targets     map[int64]bool
	from        int64 // the first record that is read
}

func (c *check) run(since int64) error {
	c.suspect, c.erased, c.targets = -1, map[int64]bool{}, map[int64]bool{}
	c.Live = isLive(c.dir)
	if err := c.loadCheckpoints(); err != nil {
		return err
	}
	segments, err := listSegments(c.dir)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrPermission) {
		return fmt.Errorf("audit: %w", err)
	} else if err != nil {
		c.bad(Finding{Problem: ProblemMissing, Text: err.Error()})
		return nil
	}
	hashes, err := os.Open(filepath.Join(c.dir, hashesName))
	if err == nil {
		defer hashes.Close()
	} else if !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("audit: %w", err)
	}
	segments = c.skip(segments, since, hashes)
	c.from = c.tree.size
	c.stored = newStoredHashes(hashes, tlog.StoredHashCount(c.tree.size))
	c.meet() // the checkpoint of the empty log
	if err := c.fold(segments); err != nil {
		return err
	}
	c.finish()
	return nil
}

// isLive says whether a Log has the directory open.
func isLive(dir string) bool {
	f, err := os.OpenFile(filepath.Join(dir, lockName), os.O_RDWR, 0)
	if err != nil {
		return false
	}
	defer f.Close()
	taken, err := filelock.Try(f)
	return err == nil && !taken
}

// skip starts the tree at the segment that holds since.
func (c *check) skip(segments []int64, since int64, hashes *os.File) []int64 {
	n := sort.Search(len(segments), func(i int) bool { return segments[i] > since }) - 1
	if n <= 0 || hashes == nil {
		return segments
	}
	t, err := readTree(segments[n], hashFile{hashes})
	if err != nil {
		return segments // everything is read then
	}
	c.tree = t
	// Of the checkpoints before, the last one vouches for all.
	for len(c.marks) > 0 && c.marks[0].Size <= t.size {
		m := c.marks[0]
		c.marks = c.marks[1:]
		if len(c.marks) > 0 && c.marks[0].Size <= t.size && (c.outside == nil || m.Size != c.outside.Size) {
			continue
		}
		if h, err := tlog.TreeHash(m.Size, hashFile{hashes}); err != nil || h != m.Root {
			c.bad(Finding{Problem: ProblemTree, Index: c.good, Last: m.Size - 1, Text: "the stored hashes are not those of the checkpoint; verify the whole log"})
		}
		c.good = m.Size
	}
	return segments[n:]
}

// fold reads the segments, several at a time, and adds them to the tree in
// order.
func (c *check) fold(segments []int64) error {
	ctx, stop := context.WithCancel(c.ctx)
	var workers sync.WaitGroup
	defer workers.Wait()
	defer stop()
	reports := make([]chan segmentReport, len(segments))
	for i := range reports {
		reports[i] = make(chan segmentReport, 1)
	}
	var next atomic.Int64
	for range min(len(segments), runtime.GOMAXPROCS(0)) {
		workers.Go(func() {
			for i := next.Add(1) - 1; i < int64(len(segments)); i = next.Add(1) - 1 {
				reports[i] <- readSegment(ctx, c.dir, segments[i])
			}
		})
	}
	for i, first := range segments {
		r := <-reports[i]
		if err := context.Cause(c.ctx); err != nil {
			return err
		}
		if r.err != nil {
			return fmt.Errorf("audit: %w", r.err)
		}
		if !c.segment(first, r, i == len(segments)-1) {
			return nil
		}
	}
	return nil
}
