package prompt

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"runtime"
	"strings"
)

// maxKey is how long a key may be, in bytes.
const maxKey = 8 << 10

// hidden is what shows in place of a secret.
const hidden = "[secret]"

// Secret is text that does not print: not with fmt, in a log, or as JSON or
// YAML. The zero value is no secret at all.
type Secret struct{ value string }

// NewSecret wraps value.
func NewSecret(value string) Secret { return Secret{value} }

// IsZero reports whether there is no secret.
func (s Secret) IsZero() bool { return s.value == "" }

// String returns a fixed text, or nothing for no secret.
func (s Secret) String() string {
	if s.IsZero() {
		return ""
	}
	return hidden
}

// Format writes what String returns, whatever the verb.
func (s Secret) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, s.String()) }

// LogValue implements [slog.LogValuer].
func (s Secret) LogValue() slog.Value { return slog.StringValue(s.String()) }

// MarshalText implements encoding.TextMarshaler; it writes what String returns.
func (s Secret) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText implements encoding.TextUnmarshaler, for configuration files.
func (s *Secret) UnmarshalText(text []byte) error {
	s.value = string(text)
	return nil
}

// key finds the model's key; there may be none.
func (m Model) key(lookup func(string) (string, bool)) (Secret, error) {
	sources := 0
	for _, set := range []bool{!m.Key.IsZero(), m.KeyEnv != "", m.KeyFile != ""} {
		if set {
			sources++
		}
	}
	if sources > 1 {
		return Secret{}, errors.New("set one of key, key_env and key_file")
	}
	value, from := m.Key.value, "key"
	switch {
	case m.KeyEnv != "":
		v, ok := lookup(m.KeyEnv)
		if from = "key_env " + m.KeyEnv; !ok || strings.TrimSpace(v) == "" {
			return Secret{}, fmt.Errorf("%.80s: the variable is not set", from)
		}
		value = strings.TrimSpace(v)
	case m.KeyFile != "":
		v, err := readKey(m.KeyFile)
		if err != nil {
			return Secret{}, fmt.Errorf("key_file: %w", err)
		}
		value, from = v, "key_file"
	}
	for _, c := range []byte(value) {
		if c <= ' ' || c >= 0x7f {
			return Secret{}, fmt.Errorf("%.80s: there is a character in the key that cannot stand in a header", from)
		}
	}
	if len(value) > maxKey {
		return Secret{}, fmt.Errorf("%.80s: %d bytes are too long for a key", from, len(value))
	}
	return Secret{value}, nil
}

// readKey reads a file that holds a key and white space, and nobody else may
// read.
func readKey(name string) (string, error) {
	f, err := os.Open(name)
	if err != nil {
		return "", err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return "", err
	}
	if !info.Mode().IsRegular() {
		return "", fmt.Errorf("%s is not a regular file", name)
	}
	if runtime.GOOS != "windows" && info.Mode().Perm()&0o077 != 0 {
		return "", fmt.Errorf("%s can be read by others (mode %04o); chmod 600 it", name, info.Mode().Perm())
	}
	b, err := io.ReadAll(io.LimitReader(f, maxKey+1))
	if err != nil {
		return "", err
	}
	key := strings.TrimSpace(string(b))
	if key == "" {
		return "", fmt.Errorf("%s is empty", name)
	}
	return key, nil
}
