package prompt

import (
	"errors"
	"io"
	"net/http"
	"net/url"
	"time"
)

// maxResponse is how much of a response is read, in bytes, decompressed.
const maxResponse = 4 << 20

// Errors of an exchange that trying again does not mend.
var (
	errRedirect  = errors.New("the server redirects to another address, which is not followed: the key and the event were meant for this one; set base_url to where the model is")
	errTooLarge  = errors.New("the response is too large")
	errElsewhere = errors.New("the request was about to go to another host than base_url names")
)

// newTransport is the transport of a judge that is given none.
func newTransport() *http.Transport {
	return &http.Transport{
		Proxy:                  proxy,
		ForceAttemptHTTP2:      true,
		MaxIdleConnsPerHost:    4,
		IdleConnTimeout:        90 * time.Second,
		TLSHandshakeTimeout:    10 * time.Second,
		MaxResponseHeaderBytes: 64 << 10,
	}
}

// proxy takes the system's proxy for https alone, where it passes on what it
// cannot read.
func proxy(r *http.Request) (*url.URL, error) {
	if r.URL.Scheme != "https" {
		return nil, nil
	}
	return http.ProxyFromEnvironment(r)
}

// guard holds requests to one host and responses to a size, and follows
// nothing: Go's client would take the x-api-key header along to another host.
type guard struct {
	base *url.URL
	next http.RoundTripper
}

// RoundTrip implements http.RoundTripper.
func (g guard) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.URL.Scheme != g.base.Scheme || r.URL.Host != g.base.Host || r.Host != "" && r.Host != g.base.Host {
		if r.Body != nil {
			_ = r.Body.Close()
		}
		return nil, errElsewhere
	}
	res, err := g.next.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	if res.StatusCode >= 300 && res.StatusCode < 400 {
		_ = res.Body.Close()
		return nil, errRedirect
	}
	res.Body = &bounded{ReadCloser: res.Body, left: maxResponse}
	return res, nil
}

// bounded is a body that fails where it grows too large.
type bounded struct {
	io.ReadCloser
	left int64
}

// Read implements io.Reader.
func (b *bounded) Read(p []byte) (int, error) {
	if b.left <= 0 {
		return 0, errTooLarge
	}
	if int64(len(p)) > b.left {
		p = p[:b.left]
	}
	n, err := b.ReadCloser.Read(p)
	b.left -= int64(n)
	return n, err
}
