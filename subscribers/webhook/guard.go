package webhook

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"strings"
	"syscall"
	"time"

	"code.dny.dev/ssrf"
)

// guard says which addresses may be dialled.
type guard struct {
	public   *ssrf.Guardian
	prefixes []netip.Prefix
	places   map[netip.AddrPort]bool
	names    map[string]bool // name:port
}

func newGuard(allow []string) (*guard, error) {
	g := &guard{
		public: ssrf.New(ssrf.WithAnyPort(), ssrf.WithAnyNetwork(),
			// Azure's platform address; its range is otherwise public.
			ssrf.WithDeniedV4Prefixes(netip.PrefixFrom(netip.AddrFrom4([4]byte{168, 63, 129, 16}), 32))),
		places: map[netip.AddrPort]bool{},
		names:  map[string]bool{},
	}
	for _, entry := range allow {
		if prefix, err := netip.ParsePrefix(entry); err == nil {
			if prefix.Addr().Is4In6() {
				return nil, fmt.Errorf("%w: allow_private: %.80q: write the IPv4 network itself", ErrConfig, entry)
			}
			g.prefixes = append(g.prefixes, prefix.Masked())
			continue
		}
		// A URL's rules for hosts and ports are the right ones here.
		t, err := parseTarget("https://" + entry)
		if err != nil || t.url.Port() == "" || t.url.Path != "" || t.url.RawQuery != "" || t.url.ForceQuery {
			return nil, fmt.Errorf("%w: allow_private: %.80q is neither host:port nor a network such as 10.0.0.0/8", ErrConfig, entry)
		}
		if t.addr.IsValid() {
			g.places[netip.AddrPortFrom(t.addr, t.port)] = true
		} else {
			g.names[nameAndPort(t.host, t.port)] = true
		}
	}
	return g, nil
}

func nameAndPort(name string, port uint16) string { return fmt.Sprintf("%s:%d", name, port) }

// check reports why an address must not be dialled for host; the error wraps
// [ErrAddress].
func (g *guard) check(host string, to netip.AddrPort, plain bool) error {
	bare := to.Addr().WithZone("").Unmap()
	allowed := g.allowed(host, bare, to.Port())
	switch {
	case plain && !bare.IsLoopback():
		return fmt.Errorf("%w: %s: plain http is for loopback addresses alone; use https", ErrAddress, to)
	case allowed:
		return nil
	case plain:
		return fmt.Errorf("%w: %s: %w", ErrAddress, to, errPrivate)
	case !sanePort(to.Port()):
		return fmt.Errorf("%w: %s: port %d is not one for HTTP; where it is meant, put %s into webhooks.private", ErrAddress, to, to.Port(), nameAndPort(host, to.Port()))
	}
	if g.public.SafeAddr(bare) != nil {
		return fmt.Errorf("%w: %s: %w", ErrAddress, to, errPrivate)
	}
	return nil
}

var errPrivate = errors.New("it is loopback, private, link-local or reserved; where it is meant, put it into webhooks.private")

func (g *guard) allowed(host string, addr netip.Addr, port uint16) bool {
	if g.places[netip.AddrPortFrom(addr, port)] || g.names[nameAndPort(host, port)] && ordinary(addr) {
		return true
	}
	for _, prefix := range g.prefixes {
		if prefix.Contains(addr) {
			return true
		}
	}
	return false
}

// ordinary reports whether a name that is allowed may lead there: whoever has a
// say about the name must not lead it to a cloud's metadata.
func ordinary(addr netip.Addr) bool {
	switch addr.String() {
	case "100.100.100.200", "fd00:ec2::254", "fd20:ce::254":
		return false
	}
	shared := netip.PrefixFrom(netip.AddrFrom4([4]byte{100, 64, 0, 0}), 10)
	return addr.IsLoopback() || addr.IsPrivate() || shared.Contains(addr)
}

// literal is check for what is known before anything is resolved.
func (g *guard) literal(t target) error {
	plain := t.url.Scheme == "http"
	if t.addr.IsValid() {
		return g.check(t.host, netip.AddrPortFrom(t.addr, t.port), plain)
	}
	local := t.host == "localhost" || strings.HasSuffix(t.host, ".localhost")
	if plain && !local && !g.names[nameAndPort(t.host, t.port)] {
		return fmt.Errorf("%w: plain http is for loopback addresses alone; use https", ErrAddress)
	}
	return nil
}

// private reports whether the target is among the exceptions by its name or
// address.
func (g *guard) private(t target) bool {
	return g.names[nameAndPort(t.host, t.port)] || t.addr.IsValid() && g.allowed(t.host, t.addr, t.port)
}

// dial connects to address after check has seen what it resolved to.
func (g *guard) dial(ctx context.Context, network, address string, plain bool) (net.Conn, error) {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return nil, err
	}
	d := net.Dialer{
		Timeout:   dialTimeout,
		KeepAlive: 15 * time.Second,
		Control: func(_, resolved string, _ syscall.RawConn) error {
			to, err := netip.ParseAddrPort(resolved)
			if err != nil {
				return fmt.Errorf("%w: it cannot be read", ErrAddress)
			}
			return g.check(strings.ToLower(host), to, plain)
		},
	}
	return d.DialContext(ctx, network, address)
}

// sanePort keeps requests from services of other protocols. Under 1024 only
// HTTP's own are left; above are those of the Fetch standard's bad ports.
func sanePort(port uint16) bool {
	switch port {
	case 80, 443:
		return true
	case 1719, 1720, 1723, 2049, 3659, 4045, 4190, 5060, 5061, 6000, 6566, 6665, 6666, 6667, 6668, 6669, 6679, 6697, 10080:
		return false
	}
	return port >= 1024
}
