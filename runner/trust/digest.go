package trust

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"hash"
)

// Digest is a SHA-256.
type Digest [sha256.Size]byte

// String is the digest in hexadecimal.
func (d Digest) String() string { return hex.EncodeToString(d[:]) }

// MarshalText is String.
func (d Digest) MarshalText() ([]byte, error) { return []byte(d.String()), nil }

// UnmarshalText reads what MarshalText wrote: 64 lower-case hexadecimal digits.
func (d *Digest) UnmarshalText(b []byte) error {
	var got Digest
	if len(b) == hex.EncodedLen(len(got)) { // Decode panics on more
		_, _ = hex.Decode(got[:], b) // what is wrong with it shows in the comparison
	}
	if got.String() != string(b) {
		return fmt.Errorf("a digest is %d lower-case hexadecimal digits", 2*len(d))
	}
	*d = got
	return nil
}

// encoder hashes a sequence of fields so that no two different sequences have
// the same encoding: every string carries its length and every list its count.
type encoder struct{ hash.Hash }

// newEncoder starts with what is hashed and the version of its encoding.
func newEncoder(what string) encoder {
	e := encoder{sha256.New()}
	e.text(what)
	return e
}

func (e encoder) number(n uint64) {
	var b [8]byte
	binary.BigEndian.PutUint64(b[:], n)
	_, _ = e.Write(b[:]) // a hash takes everything
}

func (e encoder) text(s string) {
	e.number(uint64(len(s)))
	_, _ = e.Write([]byte(s))
}

func (e encoder) list(list []string) {
	e.number(uint64(len(list)))
	for _, s := range list {
		e.text(s)
	}
}

func (e encoder) digest() Digest { return Digest(e.Sum(nil)) }
