package webhook

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"time"
)

// Limits of every connection.
const (
	dialTimeout       = 5 * time.Second
	tlsTimeout        = 5 * time.Second
	idleTimeout       = 60 * time.Second
	maxResponseHeader = 64 << 10 // bytes
)

// ClientOptions tune a [Client]. The zero value works.
type ClientOptions struct {
	// AllowPrivate lists what may be reached though it is not public: networks
	// ("10.0.0.0/8") and places ("localhost:8080", "127.0.0.1:8080",
	// "[::1]:8080"). A name may lead to loopback and private addresses then,
	// and never to link-local ones. Take it from the user's own configuration
	// alone, and give no such Client to hooks from elsewhere.
	AllowPrivate []string
	// RootCAs are who may vouch for endpoints; nil means the system's.
	RootCAs *x509.CertPool
	// Proxy is an HTTP proxy for https requests to everything that
	// AllowPrivate does not list. The proxy resolves names then: what they
	// lead to cannot be checked here. Nil means none.
	Proxy *url.URL
}

// Client is the connections that webhooks share. All methods may be called
// concurrently.
type Client struct {
	guard *guard
	// plain and secure never share a connection, and differ in what may be
	// dialled.
	plain, secure *http.Transport
}

// NewClient makes a client. Nothing is connected. The error wraps [ErrConfig].
func NewClient(o *ClientOptions) (*Client, error) {
	if o == nil {
		o = new(ClientOptions)
	}
	g, err := newGuard(o.AllowPrivate)
	if err != nil {
		return nil, err
	}
	c := &Client{guard: g}
	c.plain = transport(func(ctx context.Context, network, address string) (net.Conn, error) {
		return g.dial(ctx, network, address, true)
	})
	c.secure = transport(func(ctx context.Context, network, address string) (net.Conn, error) {
		return g.dial(ctx, network, address, false)
	})
	c.secure.TLSClientConfig = &tls.Config{MinVersion: tls.VersionTLS12, RootCAs: o.RootCAs}
	c.secure.ForceAttemptHTTP2 = true
	if o.Proxy != nil {
		if err := c.useProxy(*o.Proxy); err != nil {
			return nil, err
		}
	}
	return c, nil
}

func transport(dial func(context.Context, string, string) (net.Conn, error)) *http.Transport {
	return &http.Transport{
		DialContext:            dial,
		TLSHandshakeTimeout:    tlsTimeout,
		IdleConnTimeout:        idleTimeout,
		MaxIdleConns:           64,
		MaxIdleConnsPerHost:    DefaultConcurrency,
		MaxResponseHeaderBytes: maxResponseHeader,
		DisableCompression:     true, // a small body must not become a large one
		// A connection that died without a word is found by a ping.
		HTTP2: &http.HTTP2Config{SendPingTimeout: 15 * time.Second, PingTimeout: 5 * time.Second},
	}
}

// useProxy leads https requests through proxy. What AllowPrivate lists is near
// by and goes straight there.
func (c *Client) useProxy(proxy url.URL) error {
	if proxy.Scheme != "http" && proxy.Scheme != "https" || proxy.Hostname() == "" {
		return fmt.Errorf("%w: proxy: it is no http or https URL", ErrConfig)
	}
	c.secure.Proxy = func(r *http.Request) (*url.URL, error) {
		t, err := parseTarget(r.URL.String())
		if err != nil || c.guard.private(t) {
			return nil, nil
		}
		return &proxy, nil
	}
	address := proxy.Host
	if proxy.Port() == "" {
		address = net.JoinHostPort(proxy.Hostname(), map[string]string{"http": "80", "https": "443"}[proxy.Scheme])
	}
	guarded := c.secure.DialContext
	direct := net.Dialer{Timeout: dialTimeout}
	c.secure.DialContext = func(ctx context.Context, network, to string) (net.Conn, error) {
		if to == address {
			return direct.DialContext(ctx, network, to)
		}
		return guarded(ctx, network, to)
	}
	return nil
}

// Close closes the connections that nobody uses. Requests under way go on; the
// client can be used again.
func (c *Client) Close() {
	c.plain.CloseIdleConnections()
	c.secure.CloseIdleConnections()
}

// do sends one request. There are no redirects, cookies or proxies from the
// environment on this level.
func (c *Client) do(r *http.Request) (*http.Response, error) {
	if r.URL.Scheme == "http" {
		return c.plain.RoundTrip(r)
	}
	return c.secure.RoundTrip(r)
}
