package policy

import (
	"bytes"
	"crypto/ed25519"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/grapnel-dev/grapnel/internal/strictjson"
)

// Errors of [OpenBundle] that callers tell apart.
var (
	// ErrBundle is wrapped by every error of OpenBundle.
	ErrBundle = errors.New("bad policy bundle")
	// ErrBundleSignature means that the bundle was not signed with the key,
	// or changed since.
	ErrBundleSignature = errors.New("the signature does not hold")
	// ErrBundleExpired means that the bundle is older than allowed, or from
	// the future.
	ErrBundleExpired = errors.New("it is too old or from the future")
)

// MaxBundle is the size of a bundle file in bytes at most.
const MaxBundle = 8 << 20

// signed is a bundle file: the payload's bytes are what was signed.
type signed struct {
	Payload   []byte `json:"payload"`
	Signature []byte `json:"signature"`
}

type payload struct {
	Version int       `json:"version"`
	Created time.Time `json:"created"`
	Sources []Source  `json:"sources"`
}

// purpose keeps a signature from counting for anything else that the key signs.
const purpose = "grapnel policy bundle v1\n"

// clockSkew is how far in the future a bundle may be from.
const clockSkew = 5 * time.Minute

// WriteBundle writes sources to a signed file that decides while no daemon
// runs. The file appears whole or not at all, with mode 0600. Sources that do
// not compile are refused: the bundle is used where nobody looks.
func WriteBundle(file string, sources []Source, key ed25519.PrivateKey) error {
	if len(key) != ed25519.PrivateKeySize {
		return fmt.Errorf("%w: %s: the private key has %d bytes, not %d", ErrBundle, file, len(key), ed25519.PrivateKeySize)
	}
	if _, err := Compile(sources, nil); err != nil {
		return fmt.Errorf("%w: %s: %w", ErrBundle, file, err)
	}
	body, err := json.Marshal(payload{Version: 1, Created: time.Now().UTC(), Sources: sources})
	if err != nil {
		return fmt.Errorf("%w: %s: %w", ErrBundle, file, err)
	}
	b, err := json.Marshal(signed{Payload: body, Signature: ed25519.Sign(key, append([]byte(purpose), body...))})
	if err != nil {
		return fmt.Errorf("%w: %s: %w", ErrBundle, file, err)
	}
	if len(b) > MaxBundle {
		return fmt.Errorf("%w: %s: it would have %d bytes; at most %d are read", ErrBundle, file, len(b), MaxBundle)
	}
	if err := replace(file, b); err != nil {
		return fmt.Errorf("%w: %s: %w", ErrBundle, file, err)
	}
	return nil
}

// replace writes a file beside the old one and renames it into place.
func replace(file string, b []byte) (err error) {
	dir := filepath.Dir(file)
	tmp, err := os.CreateTemp(dir, ".bundle-*")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			tmp.Close()
			os.Remove(tmp.Name())
		}
	}()
	if _, err = tmp.Write(b); err != nil {
		return err
	}
	if err = tmp.Sync(); err != nil {
		return err
	}
	if err = tmp.Close(); err != nil {
		return err
	}
	if err = os.Rename(tmp.Name(), file); err != nil {
		return err
	}
	// The name is on disk when the directory is; not every system can say so.
	if d, openErr := os.Open(dir); openErr == nil {
		_ = d.Sync()
		d.Close()
	}
	return nil
}

// OpenBundle reads a bundle and returns its sources for [Compile]. Errors wrap
// [ErrBundle]; a file that was not signed with the key or changed since wraps
// [ErrBundleSignature] too, one older than maxAge [ErrBundleExpired]. There is
// no way to read a bundle without checking it.
func OpenBundle(file string, key ed25519.PublicKey, maxAge time.Duration) ([]Source, error) {
	sources, err := openBundle(file, key, maxAge, time.Now())
	if err != nil {
		return nil, fmt.Errorf("%w: %s: %w", ErrBundle, file, err)
	}
	return sources, nil
}

func openBundle(file string, key ed25519.PublicKey, maxAge time.Duration, now time.Time) ([]Source, error) {
	if len(key) != ed25519.PublicKeySize {
		return nil, fmt.Errorf("the public key has %d bytes, not %d", len(key), ed25519.PublicKeySize)
	}
	if maxAge <= 0 {
		return nil, fmt.Errorf("the greatest age has to be positive")
	}
	b, err := readLimited(file, MaxBundle)
	if err != nil {
		return nil, err
	}
	var s signed
	if err := strictjson.Unmarshal(b, &s, MaxBundle); err != nil {
		return nil, err
	}
	if !ed25519.Verify(key, append([]byte(purpose), s.Payload...), s.Signature) {
		return nil, ErrBundleSignature
	}
	// Base64 and JSON can spell the same bytes in more than one way; only the
	// one that WriteBundle writes is taken, so that a file is changed or not.
	if again, err := json.Marshal(s); err != nil || !bytes.Equal(again, b) {
		return nil, fmt.Errorf("%w: it is not spelled as it was written", ErrBundleSignature)
	}
	var p payload
	if err := strictjson.Unmarshal(s.Payload, &p, MaxBundle); err != nil {
		return nil, err
	}
	if p.Version != 1 {
		return nil, fmt.Errorf("version %d is not known; this program reads version 1", p.Version)
	}
	if age := now.Sub(p.Created); age > maxAge || age < -clockSkew {
		return nil, fmt.Errorf("%w: made %s, %s ago; at most %s is allowed", ErrBundleExpired, p.Created.Format(time.RFC3339), age.Round(time.Second), maxAge)
	}
	if len(p.Sources) == 0 {
		return nil, fmt.Errorf("it holds no policy")
	}
	return p.Sources, nil
}

// readLimited reads a regular file of at most limit bytes.
func readLimited(file string, limit int64) ([]byte, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("it is no regular file")
	}
	b, err := io.ReadAll(io.LimitReader(f, limit+1))
	if err != nil {
		return nil, err
	}
	if int64(len(b)) > limit {
		return nil, fmt.Errorf("it has more than %d bytes", limit)
	}
	return b, nil
}
