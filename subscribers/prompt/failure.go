package prompt

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// errCutStream: a stream ended before the model had.
var errCutStream = errors.New("the stream broke off")

// callError is one attempt that failed. Its text holds nothing that the server
// sent but a status and a word; its cause is not to be had from it, since that
// would print the server's text.
type callError struct {
	status     int    // 0 where there was no response
	kind       string // the vendor's word for it
	inStream   bool   // after a good status
	retryAfter time.Duration
	forbidden  bool // the server asked not to try again
	adapted    bool // the next attempt will be another one
	cause      error
	about      error // an error of ours or the context's
}

func newCallError(ctx context.Context, raw *http.Response, err error) *callError {
	c := &callError{cause: err}
	if ctx.Err() != nil {
		c.about = context.Cause(ctx)
	}
	for _, ours := range []error{errRedirect, errTooLarge, errElsewhere, errCutStream} {
		if errors.Is(err, ours) {
			c.about = ours
		}
	}
	if raw != nil {
		c.status = raw.StatusCode
		c.inStream = raw.StatusCode < 300 && strings.HasPrefix(raw.Header.Get("Content-Type"), "text/event-stream")
		c.retryAfter = retryAfter(raw.Header)
		c.forbidden = raw.Header.Get("X-Should-Retry") == "false"
		if errors.Is(c.about, errCutStream) && raw.StatusCode < 300 && !c.inStream {
			c.about = nil // it was no stream at all
		}
	}
	return c
}

// Error implements error.
func (c *callError) Error() string {
	switch {
	case c.about != nil && c.status == 0, errors.Is(c.about, errTooLarge), errors.Is(c.about, errCutStream):
		return c.about.Error()
	case c.about != nil:
		return fmt.Sprintf("%v after status %d", c.about, c.status)
	case c.status == 0:
		return connection(c.cause)
	case c.status < 300 && c.kind != "":
		return "the server reported " + c.kind + " in its answer"
	case c.status < 300 && broken(c.cause):
		return "the connection broke within the answer"
	case c.status < 300:
		return fmt.Sprintf("status %d and a body that is no answer of this vendor's", c.status)
	}
	text := fmt.Sprintf("status %d", c.status)
	if c.kind != "" {
		text += " " + c.kind
	}
	return text + hint(c.status)
}

// Unwrap gives what may be looked at from outside.
func (c *callError) Unwrap() error { return c.about }

// hint says what to do about a status.
func hint(status int) string {
	switch status {
	case http.StatusBadRequest:
		return ": the server does not take the request; check the model's name"
	case http.StatusUnauthorized, http.StatusForbidden:
		return ": the key was not accepted; check key, key_env or key_file and the model's name"
	case http.StatusPaymentRequired:
		return ": the account has nothing left to pay with"
	case http.StatusNotFound, http.StatusMethodNotAllowed:
		return ": there is no such model or address; check model and base_url (for OpenAI's protocol it usually ends in /v1)"
	case http.StatusRequestEntityTooLarge:
		return ": the event is too large for the server; lower max_data"
	}
	return ""
}

// again reports whether another attempt may go better.
func (c *callError) again() bool {
	switch {
	case c.forbidden, errors.Is(c.about, errRedirect), errors.Is(c.about, errTooLarge), errors.Is(c.about, errElsewhere):
		return false
	case c.kind == "insufficient_quota": // sent as 429, and true for weeks
		return false
	case errors.Is(c.about, errCutStream):
		return true
	case c.status == 0:
		_, certificate := errors.AsType[*tls.CertificateVerificationError](c.cause)
		return !certificate
	case c.status < 300 && c.inStream && c.kind != "":
		for _, mine := range []string{"invalid", "authentication", "permission", "not_found", "too_large"} {
			if strings.Contains(c.kind, mine) {
				return false
			}
		}
		return true
	case c.status < 300:
		return broken(c.cause)
	}
	switch c.status {
	case http.StatusRequestTimeout, http.StatusTooManyRequests, http.StatusInternalServerError,
		http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout, statusOverloaded:
		return true
	}
	return false
}

// statusOverloaded is Anthropic's own.
const statusOverloaded = 529

// free reports whether the attempt cost nothing: the server refused it, or
// never had it.
func (c *callError) free() bool {
	if c.status >= 400 {
		return true
	}
	op, ok := errors.AsType[*net.OpError](c.cause)
	return c.status == 0 && ok && op.Op == "dial" || errors.Is(c.about, errRedirect) || errors.Is(c.about, errElsewhere)
}

// broken reports whether a body ended before it should.
func broken(err error) bool {
	_, op := errors.AsType[*net.OpError](err)
	return op || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF)
}

// connection describes an exchange without a response, in words that hold
// nothing of what was sent or received.
func connection(err error) string {
	if op, ok := errors.AsType[*net.OpError](err); ok {
		return op.Error()
	}
	if dns, ok := errors.AsType[*net.DNSError](err); ok {
		return dns.Error()
	}
	if cert, ok := errors.AsType[*tls.CertificateVerificationError](err); ok {
		return cert.Error()
	}
	if broken(err) {
		return "the server closed the connection without an answer"
	}
	return "there was no answer that is HTTP"
}

// retryAfter reads how long the server wants to be left alone.
func retryAfter(h http.Header) time.Duration {
	const most = 24 * time.Hour
	seconds := func(text string, unit time.Duration) time.Duration {
		v, err := strconv.ParseFloat(text, 64)
		if err != nil || !(v > 0) {
			return 0
		}
		return time.Duration(min(v*float64(unit), float64(most)))
	}
	if d := seconds(h.Get("Retry-After-Ms"), time.Millisecond); d > 0 {
		return d
	}
	text := h.Get("Retry-After")
	if d := seconds(text, time.Second); d > 0 {
		return d
	}
	if at, err := http.ParseTime(text); err == nil {
		return min(max(time.Until(at), 0), most)
	}
	return 0
}

// token keeps a vendor's word for an error if it is one.
func token(s string) string {
	if len(s) > 64 {
		return ""
	}
	for _, c := range []byte(s) {
		if c != '_' && c != '-' && (c < '0' || c > '9') && (c < 'a' || c > 'z') {
			return ""
		}
	}
	return s
}
