package audit

import (
	"math/bits"

	"golang.org/x/mod/sumdb/tlog"
)

// tree is the right edge of the Merkle tree (RFC 6962): the roots of the
// largest complete subtrees, from left to right. It is all that appending
// needs.
type tree struct {
	size int64
	edge []tlog.Hash
}

// add appends a leaf's hash to the tree and the hashes that it completes to
// stored, in the order in which they are stored (see [tlog.StoredHashIndex]).
func (t *tree) add(leaf tlog.Hash, stored []tlog.Hash) []tlog.Hash {
	stored = append(stored, leaf)
	for n := t.size; n&1 == 1; n >>= 1 {
		last := len(t.edge) - 1
		leaf = tlog.NodeHash(t.edge[last], leaf)
		t.edge = t.edge[:last]
		stored = append(stored, leaf)
	}
	t.edge = append(t.edge, leaf)
	t.size++
	return stored
}

// root is the tree's hash.
func (t *tree) root() tlog.Hash {
	if t.size == 0 {
		h, _ := tlog.TreeHash(0, nil)
		return h
	}
	h := t.edge[len(t.edge)-1]
	for i := len(t.edge) - 2; i >= 0; i-- {
		h = tlog.NodeHash(t.edge[i], h)
	}
	return h
}

// readTree loads the edge of the tree of the given size.
func readTree(size int64, r tlog.HashReader) (tree, error) {
	t := tree{size: size}
	var at []int64
	start := int64(0)
	for rest := uint64(size); rest > 0; {
		level := bits.Len64(rest) - 1
		at = append(at, tlog.StoredHashIndex(level, start>>level))
		start += 1 << level
		rest &^= 1 << level
	}
	if len(at) == 0 {
		return t, nil
	}
	var err error
	t.edge, err = r.ReadHashes(at)
	return t, err
}

// leafHash is the Merkle hash of a leaf.
func leafHash(leaf []byte) tlog.Hash { return tlog.RecordHash(leaf) }
