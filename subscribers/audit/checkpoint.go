package audit

import (
	"bytes"
	"encoding/base64"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"
)

// ErrCheckpoint is wrapped by every error about a checkpoint that cannot be
// accepted.
var ErrCheckpoint = errors.New("audit: bad checkpoint")

// maxCheckpoint bounds a checkpoint with all its signatures.
const maxCheckpoint = 16 << 10

// Checkpoint is a signed statement: the log named Origin had Size records, and
// Root is the hash of its tree.
type Checkpoint struct {
	Origin string
	Size   int64
	Root   tlog.Hash
	// Note is the signed note that it was read from.
	Note []byte
}

// ParseCheckpoint reads a checkpoint and checks its signature and that its
// origin is the verifier's name. Signatures of others (witnesses) are passed
// over. The error wraps [ErrCheckpoint].
func ParseCheckpoint(signed []byte, v note.Verifier) (Checkpoint, error) {
	if len(signed) > maxCheckpoint {
		return Checkpoint{}, fmt.Errorf("%w: %d bytes, at most %d", ErrCheckpoint, len(signed), maxCheckpoint)
	}
	n, err := note.Open(signed, note.VerifierList(v))
	if err != nil {
		return Checkpoint{}, fmt.Errorf("%w: %w", ErrCheckpoint, err)
	}
	// Base64 has more than one spelling of the same signature.
	for _, sig := range append(n.Sigs, n.UnverifiedSigs...) {
		if _, err := decode64(sig.Base64); err != nil {
			return Checkpoint{}, fmt.Errorf("%w: the signature of %.80q is not canonical base64", ErrCheckpoint, sig.Name)
		}
	}
	c, err := parseCheckpointText(n.Text)
	if err != nil {
		return c, err
	}
	if c.Origin != v.Name() {
		return c, fmt.Errorf("%w: it is of the log %.80q, not of %.80q", ErrCheckpoint, c.Origin, v.Name())
	}
	c.Note = bytes.Clone(signed)
	return c, nil
}

// parseUnsigned reads a signed note without checking who signed it.
func parseUnsigned(signed []byte) (Checkpoint, error) {
	text, _, ok := bytes.Cut(signed, []byte("\n\n"))
	if !ok {
		return Checkpoint{}, fmt.Errorf("%w: it is not signed", ErrCheckpoint)
	}
	c, err := parseCheckpointText(string(text) + "\n")
	c.Note = bytes.Clone(signed)
	return c, err
}

func parseCheckpointText(text string) (Checkpoint, error) {
	var c Checkpoint
	lines := strings.Split(text, "\n")
	if len(lines) < 4 || lines[len(lines)-1] != "" {
		return c, fmt.Errorf("%w: it has less than three lines", ErrCheckpoint)
	}
	for _, l := range lines[:len(lines)-1] {
		if l == "" {
			return c, fmt.Errorf("%w: it has an empty line", ErrCheckpoint)
		}
	}
	c.Origin = lines[0]
	size, err := strconv.ParseInt(lines[1], 10, 64)
	if err != nil || size < 0 || strconv.FormatInt(size, 10) != lines[1] {
		return c, fmt.Errorf("%w: size %.40q", ErrCheckpoint, lines[1])
	}
	root, err := base64.StdEncoding.Strict().DecodeString(lines[2])
	if err != nil || len(root) != tlog.HashSize || base64.StdEncoding.EncodeToString(root) != lines[2] {
		return c, fmt.Errorf("%w: root %.80q", ErrCheckpoint, lines[2])
	}
	c.Size, c.Root = size, tlog.Hash(root)
	return c, nil
}

// signCheckpoint makes the checkpoint of a tree.
func signCheckpoint(k *Key, size int64, root tlog.Hash) (Checkpoint, error) {
	text := fmt.Sprintf("%s\n%d\n%s\n", k.name, size, base64.StdEncoding.EncodeToString(root[:]))
	signed, err := note.Sign(&note.Note{Text: text}, k.signer)
	if err != nil {
		return Checkpoint{}, fmt.Errorf("audit: sign checkpoint: %w", err)
	}
	return Checkpoint{k.name, size, root, signed}, nil
}

// cutCheckpoint takes the first checkpoint off the content of a checkpoints
// file, in which an empty line stands behind each. It returns nil when there
// is no whole one.
func cutCheckpoint(b []byte) (signed, rest []byte) {
	// The text ends at the first empty line, the signatures at the second.
	text := bytes.Index(b, []byte("\n\n"))
	if text < 0 {
		return nil, b
	}
	end := bytes.Index(b[text+2:], []byte("\n\n"))
	if end < 0 {
		return nil, b
	}
	end += text + 2
	return b[:end+1], b[end+2:]
}

// lastCheckpoint returns the last whole checkpoint in the content of a
// checkpoints file and the length of what ends with it.
func lastCheckpoint(b []byte) (signed []byte, whole int) {
	// A torn one has a piece of text or of a signature line and no end.
	for end := len(b); ; {
		at := bytes.LastIndex(b[:end], []byte("\n\n"))
		if at < 0 {
			return nil, 0
		}
		line := b[bytes.LastIndexByte(b[:at], '\n')+1 : at]
		if !bytes.HasPrefix(line, []byte("— ")) {
			end = at + 1 // the empty line between text and signatures
			continue
		}
		whole = at + 2
		text := bytes.LastIndex(b[:at], []byte("\n\n"))
		if text < 0 {
			return nil, 0
		}
		if start := bytes.LastIndex(b[:text], []byte("\n\n")); start >= 0 {
			return b[start+2 : at+1], whole
		}
		return b[:at+1], whole
	}
}
