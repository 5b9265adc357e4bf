package webhook

import (
	"errors"
	"net/netip"
	"net/url"
	"regexp"
	"strconv"
	"strings"
)

// maxURL is the longest URL, in bytes.
const maxURL = 2048

var (
	hostName = regexp.MustCompile(`^[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?(\.[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?)*$`)
	// number is a last label that some resolver takes for a part of an IPv4
	// address (WHATWG URL, "ends in a number").
	number = regexp.MustCompile(`(^|\.)([0-9]+|0x[0-9a-f]*)$`)
)

// target is a URL that names one place in one way only.
type target struct {
	url *url.URL
	// host is a lower-case name, or an address without brackets.
	host string
	port uint16
	// addr is set when the host is an address; IPv4 inside IPv6 is unpacked.
	addr netip.Addr
}

// parseTarget reads a URL. It refuses what different readers take for different
// places. The error never holds the URL, which may have a secret in it.
func parseTarget(raw string) (target, error) {
	switch {
	case raw == "":
		return target{}, errors.New("there is none")
	case len(raw) > maxURL:
		return target{}, errors.New("it is too long, " + strconv.Itoa(maxURL) + " bytes at most")
	}
	for i := 0; i < len(raw); i++ {
		if c := raw[i]; c <= ' ' || c > '~' || c == '\\' {
			return target{}, errors.New("there is a space, a backslash or a character that is not printable ASCII in it; percent-encode those, and write host names in punycode")
		}
	}
	u, err := url.Parse(raw)
	switch {
	case err != nil:
		return target{}, errors.New("it is not well formed")
	case u.Scheme != "http" && u.Scheme != "https":
		return target{}, errors.New("it begins with neither https:// nor http://")
	case u.Opaque != "" || u.Host == "":
		return target{}, errors.New("it has no host")
	case u.User != nil:
		return target{}, errors.New("there is a user name or password in it; use a header with a variable")
	case strings.Contains(raw, "#"):
		return target{}, errors.New("there is a # in it, which is never sent")
	}
	t := target{url: u, host: strings.ToLower(u.Hostname())}
	if t.port, err = port(u); err != nil {
		return target{}, err
	}
	if addr, err := netip.ParseAddr(t.host); err == nil {
		if addr.Zone() != "" || addr.Is6() != strings.HasPrefix(u.Host, "[") {
			return target{}, errors.New("the address in it is not written as it must be: 192.0.2.1 or [2001:db8::1], without a zone")
		}
		t.addr = addr.Unmap()
		return t, nil
	}
	switch {
	case strings.HasPrefix(u.Host, "["), len(t.host) > 253, !hostName.MatchString(t.host):
		return target{}, errors.New("the host in it is neither a name nor an address")
	case number.MatchString(t.host):
		return target{}, errors.New("the host in it is a number; write an address as four decimal numbers without leading zeros")
	}
	return t, nil
}

func port(u *url.URL) (uint16, error) {
	text := u.Port()
	if text == "" {
		if strings.HasSuffix(u.Host, ":") {
			return 0, errors.New("there is no port after the colon")
		}
		if u.Scheme == "http" {
			return 80, nil
		}
		return 443, nil
	}
	n, err := strconv.ParseUint(text, 10, 16)
	if err != nil || n == 0 || text[0] == '0' {
		return 0, errors.New("the port in it is not a number from 1 to 65535")
	}
	return uint16(n), nil
}

// place is what may be shown of a URL: its scheme and host.
func place(raw string) string {
	t, err := parseTarget(raw)
	if err != nil {
		return "no usable URL"
	}
	return t.String()
}

// String is the target without path and query.
func (t target) String() string { return t.url.Scheme + "://" + t.url.Host }
