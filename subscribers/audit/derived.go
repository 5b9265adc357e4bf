package audit

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"golang.org/x/mod/sumdb/tlog"
)

const (
	hashesName      = "hashes"
	checkpointsName = "checkpoints"
	lockName        = "lock"
	indexName       = "index.sqlite"
)

// hashFile reads the hashes of the tree in the order of
// [tlog.StoredHashIndex].
type hashFile struct{ io.ReaderAt }

// ReadHashes implements [tlog.HashReader].
func (h hashFile) ReadHashes(indexes []int64) ([]tlog.Hash, error) {
	list := make([]tlog.Hash, len(indexes))
	for i, at := range indexes {
		if _, err := h.ReadAt(list[i][:], at*tlog.HashSize); err != nil {
			return nil, fmt.Errorf("audit: hash %d: %w", at, err)
		}
	}
	return list, nil
}

// derived writes what can be computed from the segments: the hashes of the
// tree, and where each record of the current segment begins. Nothing of it is
// synced, and it lags behind the segment; whoever reads it checks it.
type derived struct {
	hashes, offsets *os.File
	// hashed and placed are the lengths of the files, in bytes.
	hashed, placed int64
	// What waits to be written.
	newHashes, newOffsets []byte
}

func (d *derived) add(stored []tlog.Hash, offset int64) {
	for i := range stored {
		d.newHashes = append(d.newHashes, stored[i][:]...)
	}
	d.newOffsets = binary.BigEndian.AppendUint32(d.newOffsets, uint32(offset))
}

// openHashes opens the hash file, of which the first n bytes are good.
func (d *derived) openHashes(dir string, n int64) error {
	var err error
	if d.hashes, err = os.OpenFile(filepath.Join(dir, hashesName), os.O_RDWR|os.O_CREATE, 0o600); err != nil {
		return err
	}
	d.hashed = n
	return d.hashes.Truncate(n)
}

// openOffsets opens the offsets of a segment, of which the first n bytes are
// good, and closes those of the segment before.
func (d *derived) openOffsets(segment string, n int64) error {
	err := d.closeOffsets()
	f, openErr := os.OpenFile(offsetsPath(segment), os.O_RDWR|os.O_CREATE, 0o600)
	if openErr != nil {
		return errors.Join(err, openErr)
	}
	d.offsets, d.placed, d.newOffsets = f, n, nil
	return errors.Join(err, f.Truncate(n))
}

func (d *derived) closeOffsets() error {
	if d.offsets == nil {
		return nil
	}
	err := errors.Join(d.flush(), d.offsets.Close())
	d.offsets = nil
	return err
}

func (d *derived) flush() error {
	if len(d.newHashes) > 0 {
		if _, err := d.hashes.WriteAt(d.newHashes, d.hashed); err != nil {
			return fmt.Errorf("audit: write hashes: %w", err)
		}
		d.hashed += int64(len(d.newHashes))
		d.newHashes = d.newHashes[:0]
	}
	if len(d.newOffsets) > 0 && d.offsets != nil {
		if _, err := d.offsets.WriteAt(d.newOffsets, d.placed); err != nil {
			return fmt.Errorf("audit: write offsets: %w", err)
		}
		d.placed += int64(len(d.newOffsets))
		d.newOffsets = d.newOffsets[:0]
	}
	return nil
}

func (d *derived) close() error {
	err := d.closeOffsets()
	if d.hashes != nil {
		err = errors.Join(err, d.flush(), d.hashes.Close())
	}
	return err
}

// readOffset returns where record n of a segment begins, as its offsets file
// says, and false when that file does not say.
func readOffset(segment string, n int64) (int64, bool) {
	f, err := os.Open(offsetsPath(segment))
	if err != nil {
		return 0, false
	}
	defer f.Close()
	var b [4]byte
	if _, err := f.ReadAt(b[:], 4*n); err != nil {
		return 0, false
	}
	return int64(binary.BigEndian.Uint32(b[:])), true
}

// countOffsets is how many records an offsets file knows.
func countOffsets(segment string) int64 {
	info, err := os.Stat(offsetsPath(segment))
	if err != nil {
		return 0
	}
	return info.Size() / 4
}
