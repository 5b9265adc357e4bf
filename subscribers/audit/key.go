package audit

import (
	"crypto/ed25519"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"golang.org/x/mod/sumdb/note"
)

// ErrKey is wrapped by every error about a log's key.
var ErrKey = errors.New("audit: bad key")

// Key signs a log's checkpoints. Its name is the log's origin line.
type Key struct {
	name     string
	secret   string
	public   string
	signer   note.Signer
	verifier note.Verifier
}

// NewKey makes a key of an Ed25519 private key. The name is the log's origin,
// such as "host.example/grapnel": no spaces and no '+'. The error wraps
// [ErrKey].
func NewKey(name string, private ed25519.PrivateKey) (*Key, error) {
	if len(private) != ed25519.PrivateKeySize {
		return nil, fmt.Errorf("%w: an Ed25519 private key has %d bytes, this one %d", ErrKey, ed25519.PrivateKeySize, len(private))
	}
	public, err := note.NewEd25519VerifierKey(name, private.Public().(ed25519.PublicKey))
	if err != nil {
		return nil, fmt.Errorf("%w: name %.80q: %w", ErrKey, name, err)
	}
	parts := strings.SplitN(strings.TrimPrefix(public, name), "+", 3)
	if len(parts) != 3 {
		return nil, fmt.Errorf("%w: name %.80q cannot be used", ErrKey, name)
	}
	seed := append([]byte{1}, private.Seed()...) // 1 is the note format's number for Ed25519
	return ParseKey("PRIVATE+KEY+" + name + "+" + parts[1] + "+" + base64.StdEncoding.EncodeToString(seed))
}

// ParseKey reads a key in the signed-note form "PRIVATE+KEY+name+…". The error
// wraps [ErrKey] and never holds the key.
func ParseKey(secret string) (*Key, error) {
	signer, err := note.NewSigner(secret)
	if err != nil {
		return nil, fmt.Errorf("%w: it is no signed-note private key", ErrKey)
	}
	parts := strings.Split(secret, "+")
	if len(parts) < 5 {
		return nil, fmt.Errorf("%w: it is no signed-note private key", ErrKey)
	}
	seed, err := base64.StdEncoding.DecodeString(strings.Join(parts[4:], "+"))
	if err != nil || len(seed) != 1+ed25519.SeedSize {
		return nil, fmt.Errorf("%w: it is no Ed25519 key", ErrKey)
	}
	public, err := note.NewEd25519VerifierKey(signer.Name(), ed25519.NewKeyFromSeed(seed[1:]).Public().(ed25519.PublicKey))
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrKey, err)
	}
	verifier, err := note.NewVerifier(public)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrKey, err)
	}
	return &Key{signer.Name(), secret, public, signer, verifier}, nil
}

// GenerateKey makes a new key.
func GenerateKey(name string) (*Key, error) {
	secret, _, err := note.GenerateKey(rand.Reader, name)
	if err != nil {
		return nil, fmt.Errorf("%w: name %.80q: %w", ErrKey, name, err)
	}
	return ParseKey(secret)
}

// LoadKey reads the key from the file at path, or makes one with that name and
// writes it there (mode 0600) when there is no file. A file that others can
// read is refused. The error wraps [ErrKey].
func LoadKey(path, name string) (*Key, error) {
	info, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return createKey(path, name)
	}
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrKey, err)
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%w: %s is no regular file", ErrKey, path)
	}
	if runtime.GOOS != "windows" && info.Mode().Perm()&0o077 != 0 {
		return nil, fmt.Errorf("%w: %s can be read by others (mode %04o); run: chmod 600 %s", ErrKey, path, info.Mode().Perm(), path)
	}
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrKey, err)
	}
	k, err := ParseKey(strings.TrimSpace(string(b)))
	if err != nil {
		return nil, fmt.Errorf("%w in %s", err, path)
	}
	return k, nil
}

func createKey(path, name string) (*Key, error) {
	k, err := GenerateKey(name)
	if err != nil {
		return nil, err
	}
	// A temporary file of its own and a link: two processes that start at
	// once end up with the same key, and none with half of one.
	f, err := os.CreateTemp(filepath.Dir(path), ".key-*")
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrKey, err)
	}
	defer os.Remove(f.Name())
	_, err = f.WriteString(k.secret + "\n")
	err = errors.Join(err, f.Sync(), f.Close())
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrKey, err)
	}
	if err := os.Link(f.Name(), path); errors.Is(err, fs.ErrExist) {
		return LoadKey(path, name)
	} else if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrKey, err)
	}
	return k, syncDir(filepath.Dir(path))
}

// Name is the log's origin.
func (k *Key) Name() string { return k.name }

// Secret is the whole key in signed-note form; [ParseKey] reads it.
func (k *Key) Secret() string { return k.secret }

// VerifierKey is the public half in signed-note form ("name+hash+base64"), to
// give to whoever verifies the log; [note.NewVerifier] reads it.
func (k *Key) VerifierKey() string { return k.public }

// Verifier checks signatures of this key.
func (k *Key) Verifier() note.Verifier { return k.verifier }

// String is the public half: a key that gets printed gives nothing away.
func (k *Key) String() string { return k.public }
