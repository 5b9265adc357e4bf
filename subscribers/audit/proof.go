package audit

import (
	"bytes"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"
)

// Errors of proofs.
var (
	// ErrProof is wrapped by every error about a proof that does not hold.
	ErrProof = errors.New("audit: the proof does not hold")
	// ErrNotCovered says that no checkpoint covers the record yet; it takes
	// about a second after it was written.
	ErrNotCovered = errors.New("audit: no checkpoint covers the record yet")
)

const proofHead = "c2sp.org/tlog-proof@v1\n"

// maxProof bounds a proof: a leaf, at most 63 hashes and a checkpoint.
const maxProof = 2*MaxLeaf + 64*48 + maxCheckpoint

// Prove returns a proof that record index is in the log, which can be checked
// with nothing but the log's verifier key ([CheckProof]). It has the form of a
// C2SP .tlog-proof file, with the leaf as its extra data. The error wraps
// [ErrNotCovered] or [ErrNotFound].
func (r *Reader) Prove(ctx context.Context, index int64) ([]byte, error) {
	c, err := r.Checkpoint()
	if err != nil {
		return nil, err
	}
	segments, err := listSegments(r.dir)
	if err != nil {
		return nil, fmt.Errorf("audit: %w", err)
	}
	_, f, err := locate(r.dir, segments, index)
	if err != nil {
		return nil, err
	}
	if index >= c.Size {
		return nil, fmt.Errorf("%w: %d; the last checkpoint is over %d", ErrNotCovered, index, c.Size)
	}
	hashes, err := os.Open(filepath.Join(r.dir, hashesName))
	if err == nil {
		defer hashes.Close()
		p, err := tlog.ProveRecord(c.Size, index, hashFile{hashes})
		if err == nil && tlog.CheckRecord(p, c.Size, c.Root, index, leafHash(f.leaf)) == nil {
			return formatProof(index, f.leaf, p, c.Note), nil
		}
	}
	// The hashes are derived: without good ones it takes reading the log.
	all, err := r.computeHashes(ctx, c.Size)
	if err != nil {
		return nil, err
	}
	p, err := tlog.ProveRecord(c.Size, index, all)
	if err == nil {
		err = tlog.CheckRecord(p, c.Size, c.Root, index, leafHash(f.leaf))
	}
	if err != nil {
		return nil, fmt.Errorf("%w: record %d is not in the tree of the last checkpoint: %w", ErrDamaged, index, err)
	}
	return formatProof(index, f.leaf, p, c.Note), nil
}

type hashList []tlog.Hash

// ReadHashes implements [tlog.HashReader].
func (h hashList) ReadHashes(indexes []int64) ([]tlog.Hash, error) {
	list := make([]tlog.Hash, len(indexes))
	for i, at := range indexes {
		if at < 0 || at >= int64(len(h)) {
			return nil, fmt.Errorf("audit: there is no hash %d", at)
		}
		list[i] = h[at]
	}
	return list, nil
}

func (r *Reader) computeHashes(ctx context.Context, size int64) (hashList, error) {
	var t tree
	var all hashList
	for f, err := range r.frames(0) {
		if err == nil {
			err = context.Cause(ctx)
		}
		if err != nil {
			return nil, err
		}
		if t.size == size {
			break
		}
		all = t.add(leafHash(f.leaf), all)
	}
	return all, nil
}

// Prove is [Reader.Prove] over a checkpoint that is made now.
func (l *Log) Prove(ctx context.Context, index int64) ([]byte, error) {
	if _, err := l.Settle(ctx); err != nil {
		return nil, err
	}
	return (&Reader{dir: l.dir}).Prove(ctx, index)
}

func formatProof(index int64, leaf []byte, p tlog.RecordProof, signed []byte) []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, "%sextra %s\nindex %d\n", proofHead, base64.StdEncoding.EncodeToString(leaf), index)
	for _, h := range p {
		b.WriteString(base64.StdEncoding.EncodeToString(h[:]) + "\n")
	}
	b.WriteString("\n")
	b.Write(signed)
	return b.Bytes()
}

// Proven is what a proof proves: that the log had this record at this
// checkpoint.
type Proven struct {
	Envelope
	Leaf       []byte
	Checkpoint Checkpoint
}

// CheckProof checks a proof made by [Reader.Prove], offline. The error wraps
// [ErrProof].
func CheckProof(proof []byte, v note.Verifier) (Proven, error) {
	index, leaf, path, signed, err := parseProof(proof)
	if err != nil {
		return Proven{}, fmt.Errorf("%w: %w", ErrProof, err)
	}
	c, err := ParseCheckpoint(signed, v)
	if err != nil {
		return Proven{}, fmt.Errorf("%w: %w", ErrProof, err)
	}
	if index >= c.Size {
		return Proven{}, fmt.Errorf("%w: record %d, and the checkpoint is over %d", ErrProof, index, c.Size)
	}
	if err := tlog.CheckRecord(path, c.Size, c.Root, index, leafHash(leaf)); err != nil {
		return Proven{}, fmt.Errorf("%w: the record is not in the tree: %w", ErrProof, err)
	}
	e, err := ParseEnvelope(leaf)
	if err != nil {
		return Proven{}, fmt.Errorf("%w: %w", ErrProof, err)
	}
	if e.Index != index {
		return Proven{}, fmt.Errorf("%w: it is about record %d and says %d", ErrProof, index, e.Index)
	}
	return Proven{e, leaf, c}, nil
}

// CheckPayload reports whether payload is what the envelope commits to, given
// the salt that stands beside it.
func (p Proven) CheckPayload(salt, payload []byte) bool {
	want, ok := leafCommitment(p.Leaf)
	return ok && len(salt) == saltSize && commitment(salt, payload) == want
}

func parseProof(b []byte) (index int64, leaf []byte, path tlog.RecordProof, signed []byte, err error) {
	bad := func(what string) (int64, []byte, tlog.RecordProof, []byte, error) {
		return 0, nil, nil, nil, errors.New(what)
	}
	if len(b) > maxProof {
		return bad("it is too large to be a proof")
	}
	rest, ok := strings.CutPrefix(string(b), proofHead)
	if !ok {
		return bad("it does not begin with " + strings.TrimSpace(proofHead))
	}
	head, checkpoint, ok := strings.Cut(rest, "\n\n")
	if !ok {
		return bad("it has no checkpoint")
	}
	lines := strings.Split(head, "\n")
	if len(lines) < 2 || len(lines) > 2+63 {
		return bad("it has no extra or no index line, or too many hashes")
	}
	extra, ok := strings.CutPrefix(lines[0], "extra ")
	if !ok {
		return bad("it has no extra line with the leaf")
	}
	if leaf, err = decode64(extra); err != nil {
		return bad("its extra line is not base64")
	}
	number, ok := strings.CutPrefix(lines[1], "index ")
	index, err = strconv.ParseInt(number, 10, 64)
	if !ok || err != nil || index < 0 || strconv.FormatInt(index, 10) != number {
		return bad("its index line is not a number")
	}
	for _, l := range lines[2:] {
		h, err := decode64(l)
		if err != nil || len(h) != tlog.HashSize {
			return bad("one of its hashes is none")
		}
		path = append(path, tlog.Hash(h))
	}
	return index, leaf, path, []byte(checkpoint), nil
}

// decode64 takes the one right encoding alone.
func decode64(s string) ([]byte, error) {
	b, err := base64.StdEncoding.Strict().DecodeString(s)
	if err == nil && base64.StdEncoding.EncodeToString(b) != s {
		err = errors.New("not canonical")
	}
	return b, err
}
