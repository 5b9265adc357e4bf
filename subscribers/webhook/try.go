package webhook

import (
	"bytes"
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

	"github.com/grapnel-dev/grapnel/runner/process"
)

// maxDrain is how many bytes of a body that nobody wants are read.
const maxDrain = 4 << 10

// try sends the message once. With read it returns the body of a 2xx response.
func (w *Webhook) try(ctx context.Context, m Message, header http.Header, read bool) (Response, *failure) {
	select {
	case w.places <- struct{}{}:
		defer func() { <-w.places }()
	case <-ctx.Done():
		if !errors.Is(ctx.Err(), context.DeadlineExceeded) {
			return Response{}, unanswered(ctx, ctx.Err())
		}
		return Response{}, &failure{err: fmt.Errorf("%w: all %d places for requests were taken", ErrTimedOut, cap(w.places)), again: true}
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, w.target.url.String(), bytes.NewReader(m.Body))
	if err != nil {
		return Response{}, &failure{err: fmt.Errorf("%w: the request cannot be made", ErrMessage)}
	}
	now := time.Now()
	request.Header = header.Clone()
	request.Header.Set(HeaderTimestamp, strconv.FormatInt(now.Unix(), 10))
	if len(w.secrets) > 0 {
		request.Header.Set(HeaderSignature, Sign(m.ID, now, m.Body, w.secrets...))
	}
	r, err := w.client.do(request)
	if err != nil {
		return Response{}, unanswered(ctx, err)
	}
	defer func() { _ = r.Body.Close() }()
	switch {
	case r.StatusCode >= 200 && r.StatusCode <= 299 && !read:
		if r.ContentLength > 0 && r.ContentLength <= maxDrain {
			_, _ = io.Copy(io.Discard, r.Body) // so that the connection can be used again
		}
		return Response{Status: r.StatusCode}, nil
	case r.StatusCode >= 200 && r.StatusCode <= 299:
		response, err := readResponse(r, w.maxResponse)
		switch {
		case err == nil:
			return response, nil
		case errors.Is(err, ErrAnswer):
			return Response{}, &failure{err: err}
		}
		f := unanswered(ctx, err)
		f.unworked = false // it had begun to answer
		return Response{}, f
	}
	return Response{Status: r.StatusCode, Header: r.Header}, refused(r)
}

// refused sorts the responses that are no 2xx.
func refused(r *http.Response) *failure {
	status := strconv.Itoa(r.StatusCode)
	if text := http.StatusText(r.StatusCode); text != "" {
		status += " " + text
	}
	f := &failure{err: fmt.Errorf("%w with status %s", ErrStatus, status)}
	switch code := r.StatusCode; {
	case code >= 300 && code <= 399:
		f.err = fmt.Errorf("%w, status %s: %w; configure the URL that it leads to", ErrStatus, status, ErrRedirect)
	case code == http.StatusGone:
		f.err = fmt.Errorf("%w, status %s: %w; take the hook out of the configuration", ErrStatus, status, ErrGone)
	case code == http.StatusRequestHeaderFieldsTooLarge:
		f.err = fmt.Errorf("%w; the body %s needs fewer headers", f.err, Structured)
	case code == http.StatusRequestTimeout, code == http.StatusTooEarly, code == http.StatusTooManyRequests,
		code == http.StatusBadGateway, code == http.StatusServiceUnavailable, code == http.StatusGatewayTimeout:
		f.again, f.unworked, f.after = true, true, retryAfter(r.Header, time.Now())
	case code >= 500 && code <= 599:
		f.again, f.after = true, retryAfter(r.Header, time.Now())
	}
	return f
}

// retryAfter reads the header of that name: seconds or a date (RFC 9110,
// 10.2.3). Zero means that there is none that can be used.
func retryAfter(h http.Header, now time.Time) time.Duration {
	text := h.Get("Retry-After")
	if seconds, err := strconv.ParseUint(text, 10, 31); err == nil {
		return time.Duration(seconds) * time.Second
	}
	if at, err := http.ParseTime(text); err == nil {
		return max(at.Sub(now), 0)
	}
	return 0
}

// unanswered sorts the errors of the transport. Only texts that are known not
// to hold anything of the request or the response are passed on: an endpoint
// that echoes would otherwise write our headers into our log.
func unanswered(ctx context.Context, err error) *failure {
	var (
		timeout     net.Error
		dial        *net.OpError
		resolve     *net.DNSError
		certificate *tls.CertificateVerificationError
		noTLS       tls.RecordHeaderError
		alert       tls.AlertError
	)
	safe := func(sentinel, cause error) error {
		return fmt.Errorf("%w: %s", sentinel, process.Text([]byte(cause.Error()), 300))
	}
	switch {
	case errors.Is(err, ErrAddress):
		return &failure{err: addressError(err)}
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		return &failure{err: fmt.Errorf("%w: there was no whole response in time", ErrTimedOut), again: true}
	case ctx.Err() != nil:
		return &failure{err: fmt.Errorf("%w: %w", ErrConnect, context.Cause(ctx))}
	case errors.As(err, &resolve):
		return &failure{err: safe(ErrConnect, resolve), again: true, unworked: true}
	case errors.As(err, &certificate):
		return &failure{err: safe(ErrConnect, certificate)}
	case errors.As(err, &noTLS):
		return &failure{err: fmt.Errorf("%w: it does not speak TLS", ErrConnect)}
	case errors.As(err, &alert):
		return &failure{err: safe(ErrConnect, alert)}
	case errors.As(err, &dial) && dial.Op == "dial":
		return &failure{err: safe(ErrConnect, dial), again: true, unworked: true}
	case errors.As(err, &timeout) && timeout.Timeout():
		return &failure{err: fmt.Errorf("%w: the connection was not ready in time", ErrTimedOut), again: true, unworked: true}
	}
	return &failure{
		err:   fmt.Errorf("%w: the connection broke, or what came was no HTTP response with at most %d bytes of headers", ErrConnect, maxResponseHeader),
		again: true, unworked: true,
	}
}

// addressError is the guard's error without what the dialer put around it.
func addressError(err error) error {
	for e := err; e != nil; e = errors.Unwrap(e) {
		if strings.HasPrefix(e.Error(), ErrAddress.Error()) {
			return e
		}
	}
	return ErrAddress
}
