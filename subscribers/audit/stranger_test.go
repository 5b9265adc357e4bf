package audit_test

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"hash/crc32"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/grapnel-dev/grapnel/subscribers/audit"
)

// stranger verifies a log with the standard library and the package's
// documentation alone, and returns how many records it holds.
func stranger(dir, verifierKey string) (int, error) {
	names, err := filepath.Glob(filepath.Join(dir, "segments", "*.seg"))
	if err != nil {
		return 0, err
	}
	slices.Sort(names)
	var leaves [][32]byte
	erased, targets := map[int]bool{}, map[int]bool{}
	for _, name := range names {
		b, err := os.ReadFile(name)
		if err != nil {
			return 0, err
		}
		head := fmt.Sprintf("grapnel audit segment 1 first %020d\n", len(leaves))
		if !bytes.HasPrefix(b, []byte(head)) {
			return 0, fmt.Errorf("%s does not begin with %q", name, head)
		}
		for b = b[len(head):]; len(bytes.Trim(b, "\x00")) > 0; {
			leafLen, payloadLen := int(binary.BigEndian.Uint32(b[4:])), int(binary.BigEndian.Uint32(b[8:]))
			leaf := b[24 : 24+leafLen]
			table := crc32.MakeTable(crc32.Castagnoli)
			if string(b[:4]) != "GRec" || crc32.Checksum(append(bytes.Clone(b[:20]), leaf...), table) != binary.BigEndian.Uint32(b[20:]) {
				return 0, fmt.Errorf("record %d: bad frame", len(leaves))
			}
			salt, payload := b[24+leafLen:56+leafLen], b[56+leafLen:56+leafLen+payloadLen]
			var e struct {
				Index   int    `json:"index"`
				Kind    string `json:"kind"`
				Target  *int   `json:"target"`
				Payload string `json:"payload"`
			}
			if err := json.Unmarshal(leaf, &e); err != nil || e.Index != len(leaves) {
				return 0, fmt.Errorf("record %d: %v %d", len(leaves), err, e.Index)
			}
			mac := hmac.New(sha256.New, salt)
			mac.Write(payload)
			if len(bytes.Trim(b[24+leafLen:56+leafLen+payloadLen], "\x00")) == 0 {
				erased[e.Index] = true
			} else if hex.EncodeToString(mac.Sum(nil)) != e.Payload {
				return 0, fmt.Errorf("record %d: bad payload", e.Index)
			}
			if e.Kind == "redaction" {
				targets[*e.Target] = true
			}
			leaves = append(leaves, sha256.Sum256(append([]byte{0}, leaf...)))
			b = b[56+leafLen+payloadLen:]
		}
	}
	for i := range erased {
		if !targets[i] {
			return 0, fmt.Errorf("record %d: deleted", i)
		}
	}
	b, err := os.ReadFile(filepath.Join(dir, "checkpoints"))
	if err != nil {
		return 0, err
	}
	key, err := base64.StdEncoding.DecodeString(verifierKey[strings.Index(verifierKey, "+")+10:])
	if err != nil {
		return 0, err
	}
	parts := strings.Split(string(b), "\n\n")
	for i := 0; i+1 < len(parts); i += 2 {
		text := parts[i] + "\n"
		fields := strings.Fields(parts[i+1])
		sig, err := base64.StdEncoding.DecodeString(fields[2])
		if err != nil || !ed25519.Verify(key[1:], []byte(text), sig[4:]) {
			return 0, fmt.Errorf("checkpoint %q: bad signature", text)
		}
		var size int
		var root string
		fmt.Sscanf(strings.SplitN(text, "\n", 2)[1], "%d\n%s", &size, &root)
		if h := merkle(leaves[:size]); base64.StdEncoding.EncodeToString(h[:]) != root {
			return 0, fmt.Errorf("checkpoint %q: bad root", text)
		}
	}
	return len(leaves), nil
}

// merkle is the tree hash of RFC 6962, section 2.1, word for word.
func merkle(leaves [][32]byte) [32]byte {
	switch len(leaves) {
	case 0:
		return sha256.Sum256(nil)
	case 1:
		return leaves[0]
	}
	k := 1
	for 2*k < len(leaves) {
		k *= 2
	}
	left, right := merkle(leaves[:k]), merkle(leaves[k:])
	return sha256.Sum256(append(append([]byte{1}, left[:]...), right[:]...))
}

func TestAStrangerCanVerify(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	n, err := stranger(f.dir, strings.TrimSpace(string(must(os.ReadFile("testdata/verifier.key")))))
	require.NoError(t, err)
	assert.Equal(t, 6, n)

	dir, k := t.TempDir(), newKey(t)
	l := open(t, dir, k, &audit.Options{SegmentBytes: 16 << 10, CheckpointRecords: 7})
	appendN(t, l, 0, 50)
	_, err = l.Redact(context.Background(), 20, "me", "private")
	require.NoError(t, err)
	appendN(t, l, 51, 5)
	require.NoError(t, l.Close())
	n, err = stranger(dir, k.VerifierKey())
	require.NoError(t, err)
	assert.Equal(t, 56, n)
}

func must(b []byte, err error) []byte {
	if err != nil {
		panic(err)
	}
	return b
}

// Somebody who knows the format rewrites an envelope and its checksum, then
// also the hash file.
func TestRewrittenEnvelopes(t *testing.T) {
	t.Parallel()
	s := newSample(t, 100, 1<<20)
	seg := filepath.Join("segments", fmt.Sprintf("%020d.seg", 0))
	rewrite := func(dir string) {
		b := must(os.ReadFile(filepath.Join(dir, seg)))
		at := starts(b)[43] // denied
		leaf := b[at+24 : at+24+int(binary.BigEndian.Uint32(b[at+4:]))]
		i := bytes.Index(leaf, []byte(`"effect":"deny"`))
		require.Positive(t, i)
		copy(leaf[i:], `"effect":"yeah"`)
		binary.BigEndian.PutUint32(b[at+20:], crc32.Checksum(append(bytes.Clone(b[at:at+20]), leaf...), crc32.MakeTable(crc32.Castagnoli)))
		require.NoError(t, os.WriteFile(filepath.Join(dir, seg), b, 0o600))
	}
	r := s.with(t, rewrite)
	require.False(t, r.OK())
	assert.Equal(t, audit.ProblemTree, r.Bad.Problem)
	assert.EqualValues(t, 43, r.Bad.Index)
	assert.EqualValues(t, 43, r.Bad.Last)

	r = s.with(t, func(dir string) {
		rewrite(dir)
		require.NoError(t, os.Remove(filepath.Join(dir, "hashes")))
	})
	require.False(t, r.OK())
	assert.Equal(t, audit.ProblemTree, r.Bad.Problem)
	assert.LessOrEqual(t, r.Bad.Index, int64(43))
	assert.GreaterOrEqual(t, r.Bad.Last, int64(43), "between the two checkpoints around it")

	// The log does not open on it either when the hashes have to be computed.
	dir := t.TempDir()
	require.NoError(t, os.CopyFS(dir, os.DirFS(s.dir)))
	rewrite(dir)
	require.NoError(t, os.Remove(filepath.Join(dir, "hashes")))
	_, err := audit.Open(dir, s.k, nil)
	assert.ErrorIs(t, err, audit.ErrRefused)
}

func TestVerifyStopsWithItsContext(t *testing.T) {
	t.Parallel()
	s := newSample(t, 10, 1<<20)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	_, err := audit.Verify(ctx, s.dir, s.k.Verifier(), nil)
	assert.ErrorIs(t, err, context.Canceled)
}
