package webhook

import (
	"io"
	"net/http"
	"net/netip"
	"strings"

	"github.com/grapnel-dev/grapnel/bus/hook"
)

// ReadDecision is what the fuzz target reads with.
func ReadDecision(body []byte) (hook.Decision, error) { return readDecision(body, DefaultMaxResponse) }

// Check is what a client with these exceptions says when a name has resolved.
func Check(allow []string, name, resolved string, plain bool) error {
	g, err := newGuard(allow)
	if err != nil {
		return err
	}
	return g.check(name, netip.MustParseAddrPort(resolved), plain)
}

// Replace puts respond in the place of the network, in memory: in a synctest
// bubble, time passes only while everything in it waits.
func Replace(w *Webhook, respond func(*http.Request) (int, http.Header)) {
	c := &Client{guard: w.client.guard, secure: &http.Transport{Protocols: new(http.Protocols)}}
	c.secure.Protocols.SetHTTP1(true)
	c.secure.RegisterProtocol("https", roundTrip(func(r *http.Request) (*http.Response, error) {
		status, header := respond(r)
		return &http.Response{StatusCode: status, Header: header, Body: io.NopCloser(strings.NewReader("")), Request: r, ProtoMajor: 2}, nil
	}))
	w.client = c
}

type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }
