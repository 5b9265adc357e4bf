package webhook

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// Headers of Standard Webhooks.
const (
	HeaderID        = "Webhook-Id"
	HeaderTimestamp = "Webhook-Timestamp"
	HeaderSignature = "Webhook-Signature"
)

// Tolerance is how far a webhook-timestamp may be from now.
const Tolerance = 5 * time.Minute

// maxSignatures is how many signatures of one request are looked at.
const maxSignatures = 16

// ErrSignature is wrapped by every error of [Verify].
var ErrSignature = errors.New("webhook signature is not valid")

var (
	// messageID has no full stop, which would let the signed text be divided
	// in another way (Standard Webhooks, "Signature scheme").
	messageID = regexp.MustCompile(`^[A-Za-z0-9_-]{1,128}$`)
	timestamp = regexp.MustCompile(`^[1-9][0-9]{0,11}$`)
)

// Secret is a key that requests are signed with. It shows itself to nobody.
type Secret struct{ key []byte }

// ParseSecret reads "whsec_" and the base64 of 24 to 64 random bytes. The error
// wraps [ErrConfig] and does not hold the secret.
func ParseSecret(s string) (Secret, error) {
	encoded, ok := strings.CutPrefix(s, "whsec_")
	if !ok {
		return Secret{}, fmt.Errorf("%w: a signing secret begins with whsec_", ErrConfig)
	}
	key, err := base64.StdEncoding.Strict().DecodeString(encoded)
	if err != nil || strings.ContainsAny(encoded, "\r\n") {
		return Secret{}, fmt.Errorf("%w: what follows whsec_ in a signing secret is base64", ErrConfig)
	}
	if len(key) < 24 || len(key) > 64 {
		return Secret{}, fmt.Errorf("%w: a signing secret has 24 to 64 bytes, this one %d", ErrConfig, len(key))
	}
	return Secret{key}, nil
}

// Format writes that there is a secret, whatever the verb.
func (s Secret) Format(f fmt.State, _ rune) { fmt.Fprint(f, "whsec_…") }

// MarshalText writes what Format does: a secret is not for storing.
func (s Secret) MarshalText() ([]byte, error) { return []byte("whsec_…"), nil }

// Sign is the value of the webhook-signature header: one signature for each
// secret, with spaces between.
func Sign(id string, at time.Time, body []byte, secrets ...Secret) string {
	stamp := strconv.FormatInt(at.Unix(), 10)
	list := make([]string, len(secrets))
	for i, s := range secrets {
		list[i] = "v1," + base64.StdEncoding.EncodeToString(s.mac(id, stamp, body))
	}
	return strings.Join(list, " ")
}

func (s Secret) mac(id, stamp string, body []byte) []byte {
	h := hmac.New(sha256.New, s.key)
	h.Write([]byte(id + "." + stamp + "."))
	h.Write(body)
	return h.Sum(nil)
}

// Verify is for receivers: it reports whether one of secrets signed the
// request's body, and not longer than [Tolerance] ago. The body is the bytes as
// they came. The error wraps [ErrSignature]. Whether the id was seen before is
// for the receiver to remember, for at least the tolerance.
func Verify(header http.Header, body []byte, secrets ...Secret) error {
	bad := func(format string, args ...any) error {
		return fmt.Errorf("%w: "+format, append([]any{ErrSignature}, args...)...)
	}
	var values [3]string
	for i, name := range []string{HeaderID, HeaderTimestamp, HeaderSignature} {
		list := header.Values(name)
		if len(list) != 1 || list[0] == "" {
			return bad("the header %s is not there exactly once", strings.ToLower(name))
		}
		values[i] = list[0]
	}
	id, stamp, signatures := values[0], values[1], values[2]
	if !messageID.MatchString(id) {
		return bad("webhook-id is not 1 to 128 letters, digits, - or _")
	}
	if !timestamp.MatchString(stamp) {
		return bad("webhook-timestamp is no number of seconds")
	}
	seconds, err := strconv.ParseInt(stamp, 10, 64)
	if err != nil {
		return bad("webhook-timestamp is no number of seconds")
	}
	if age := time.Since(time.Unix(seconds, 0)); age > Tolerance || age < -Tolerance {
		return bad("webhook-timestamp is more than %s from now", Tolerance)
	}
	list := strings.Split(signatures, " ")
	if len(list) > maxSignatures {
		return bad("there are more than %d signatures", maxSignatures)
	}
	// Every pair is compared, so that time tells nothing about which fits.
	valid := false
	for _, secret := range secrets {
		if len(secret.key) == 0 {
			continue // a Secret that nobody parsed vouches for nothing
		}
		want := secret.mac(id, stamp, body)
		for _, signature := range list {
			encoded, v1 := strings.CutPrefix(signature, "v1,")
			got, err := base64.StdEncoding.DecodeString(encoded)
			if v1 && err == nil && hmac.Equal(got, want) {
				valid = true
			}
		}
	}
	if !valid {
		return bad("no v1 signature fits any secret")
	}
	return nil
}
