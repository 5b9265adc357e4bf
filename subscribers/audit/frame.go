package audit

import (
	"bufio"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
)

// Sizes of records.
const (
	MaxLeaf    = 4096     // bytes of an envelope
	MaxPayload = 24 << 20 // bytes of a payload

	frameHeader = 24
	saltSize    = 32
)

const frameMagic = "GRec"

// frame is one record as it stands in a segment:
//
//	magic    4 bytes  "GRec"
//	leaf     4 bytes  length of the leaf, big endian
//	payload  4 bytes  length of the payload, big endian
//	commit   8 bytes  index of the first record of the same commit
//	crc      4 bytes  CRC-32C of the 20 bytes before and of the leaf
//	leaf, then 32 bytes of salt, then the payload
type frame struct {
	leaf    []byte
	salt    []byte
	payload []byte
	commit  int64
}

func (f frame) size() int64 {
	return frameHeader + int64(len(f.leaf)) + saltSize + int64(len(f.payload))
}

// erased says that payload and salt were overwritten by a redaction.
func (f frame) erased() bool {
	return allZero(f.salt) && allZero(f.payload)
}

func allZero(b []byte) bool {
	for ; len(b) >= 8; b = b[8:] {
		if binary.NativeEndian.Uint64(b) != 0 {
			return false
		}
	}
	for _, c := range b {
		if c != 0 {
			return false
		}
	}
	return true
}

// checksum is the CRC-32C of a header without its last field and a leaf.
func checksum(header, leaf []byte) uint32 {
	table := crc32.MakeTable(crc32.Castagnoli) // made once, by the package
	return crc32.Update(crc32.Checksum(header, table), table, leaf)
}

// appendFrame appends f to b.
func appendFrame(b []byte, f frame) []byte {
	at := len(b)
	b = append(b, frameMagic...)
	b = binary.BigEndian.AppendUint32(b, uint32(len(f.leaf)))
	b = binary.BigEndian.AppendUint32(b, uint32(len(f.payload)))
	b = binary.BigEndian.AppendUint64(b, uint64(f.commit))
	b = binary.BigEndian.AppendUint32(b, checksum(b[at:], f.leaf))
	b = append(b, f.leaf...)
	b = append(b, f.salt...)
	return append(b, f.payload...)
}

// frameError says why the bytes at an offset of a segment are no record.
type frameError struct {
	offset int64
	what   string
}

func (e *frameError) Error() string { return fmt.Sprintf("byte %d: %s", e.offset, e.what) }

// errPadding says that from here on the segment holds zeros alone: space that
// was reserved and not used yet.
var errPadding = errors.New("nothing but reserved space")

type frameSizes struct {
	leaf, payload int
	commit        int64
	crc           uint32
}

func parseHeader(h []byte) (frameSizes, error) {
	if string(h[:4]) != frameMagic {
		return frameSizes{}, errors.New("no record begins here")
	}
	s := frameSizes{
		leaf: int(binary.BigEndian.Uint32(h[4:])), payload: int(binary.BigEndian.Uint32(h[8:])),
		commit: int64(binary.BigEndian.Uint64(h[12:])), crc: binary.BigEndian.Uint32(h[20:]),
	}
	if s.leaf == 0 || s.leaf > MaxLeaf || s.payload == 0 || s.payload > MaxPayload || s.commit < 0 {
		return s, errors.New("the record's header holds impossible sizes")
	}
	return s, nil
}

// parseFrame reads the record at the start of b; it refers to b's memory.
func parseFrame(b []byte) (frame, error) {
	if len(b) < frameHeader {
		return frame{}, errors.New("the record is cut off")
	}
	s, err := parseHeader(b)
	if err != nil {
		return frame{}, err
	}
	if len(b) < frameHeader+s.leaf+saltSize+s.payload {
		return frame{}, errors.New("the record is cut off")
	}
	f := frame{commit: s.commit, leaf: b[frameHeader : frameHeader+s.leaf]}
	if checksum(b[:20], f.leaf) != s.crc {
		return frame{}, errors.New("the envelope's checksum does not match")
	}
	rest := b[frameHeader+s.leaf:]
	f.salt, f.payload = rest[:saltSize], rest[saltSize:saltSize+s.payload]
	return f, nil
}

// scanner reads the records of a segment one after the other.
type scanner struct {
	r      *bufio.Reader
	offset int64
	buf    []byte
}

func newScanner(r io.Reader, offset int64, buffer int) *scanner {
	return &scanner{r: bufio.NewReaderSize(r, buffer), offset: offset}
}

// next returns the record at s.offset and moves behind it. The record's bytes
// hold until the next call. At the end of the file the error is io.EOF, before
// reserved space errPadding, and at anything else a *frameError.
func (s *scanner) next() (frame, error) {
	h, err := s.r.Peek(frameHeader)
	if len(h) == 0 && err == io.EOF {
		return frame{}, io.EOF
	}
	if err != nil && err != io.EOF {
		return frame{}, err
	}
	if allZero(h) {
		return frame{}, s.padding()
	}
	if len(h) < frameHeader {
		return frame{}, &frameError{s.offset, "the record is cut off"}
	}
	sizes, err := parseHeader(h)
	if err != nil {
		return frame{}, &frameError{s.offset, err.Error()}
	}
	size := frameHeader + sizes.leaf + saltSize + sizes.payload
	// The payload's length is not to be believed yet: memory grows with what
	// is really there.
	s.buf = s.buf[:0]
	for len(s.buf) < size {
		step := min(size-len(s.buf), 1<<20)
		at := len(s.buf)
		s.buf = append(s.buf, make([]byte, step)...)
		if _, err := io.ReadFull(s.r, s.buf[at:]); err == io.EOF || err == io.ErrUnexpectedEOF {
			return frame{}, &frameError{s.offset, "the record is cut off"}
		} else if err != nil {
			return frame{}, err
		}
	}
	f, err := parseFrame(s.buf)
	if err != nil {
		return frame{}, &frameError{s.offset, err.Error()}
	}
	s.offset += int64(size)
	return f, nil
}

// padding reads to the end to see whether all is zero.
func (s *scanner) padding() error {
	for {
		b, err := s.r.Peek(4096)
		if !allZero(b) {
			return &frameError{s.offset, "no record begins here"}
		}
		if len(b) == 0 && err == io.EOF {
			return errPadding
		}
		if err != nil && err != io.EOF {
			return err
		}
		s.r.Discard(len(b))
	}
}

// commitment is HMAC-SHA256(salt, payload).
func commitment(salt, payload []byte) [sha256.Size]byte {
	var sum [sha256.Size]byte
	m := hmac.New(sha256.New, salt)
	m.Write(payload)
	m.Sum(sum[:0])
	return sum
}
