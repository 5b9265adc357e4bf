package webhook

import (
	"errors"
	"fmt"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
)

// ErrPattern is wrapped by every error about a URL pattern.
var ErrPattern = errors.New("bad URL pattern")

// MatchURL reports whether a URL fits a pattern such as those of Claude Code's
// allowedHttpHookUrls, "https://hooks.example.com/*". Both are taken apart
// first, and each part of the pattern is compared with the same part of the
// URL, so that no wildcard reaches from one into the next:
//
//	scheme  https, http, or * for both
//	host    a name or address; "*." at its start stands for one or more labels,
//	        * within a label for characters of that label (not in the last)
//	port    a number, * for any; without one, the scheme's own
//	path    with the query; * stands for anything; without one, "/" alone
//
// "https://*" and "http://localhost:*", which end in a wildcard before the path,
// fit any path; a host of * alone without a port fits any port; "*" fits every
// URL. A URL that a [Hook] could not have (a user name in it, a number as host),
// or with "." or ".." among its path's segments, encoded or not, fits nothing.
//
// The error is about the pattern and wraps [ErrPattern].
func MatchURL(pattern, rawURL string) (bool, error) {
	p, err := parsePattern(pattern)
	if err != nil {
		return false, err
	}
	t, err := parseTarget(rawURL)
	if err != nil || dotted(t.url) {
		return false, nil
	}
	return p.match(t), nil
}

// urlPattern is a pattern's parts. Empty scheme or port and a host of "*" fit
// everything.
type urlPattern struct {
	scheme string
	host   string // lower case
	addr   netip.Addr
	port   uint16 // 0: any
	own    bool   // the port is the scheme's own
	path   string
}

func parsePattern(pattern string) (urlPattern, error) {
	bad := func(format string, args ...any) (urlPattern, error) {
		return urlPattern{}, fmt.Errorf("%w: %.100q: "+format, append([]any{ErrPattern, pattern}, args...)...)
	}
	if pattern == "*" {
		return urlPattern{host: "*", path: "*"}, nil
	}
	for i := 0; i < len(pattern); i++ {
		if c := pattern[i]; c <= ' ' || c > '~' || c == '\\' || c == '#' {
			return bad("there is a character in it that no URL has")
		}
	}
	scheme, rest, ok := strings.Cut(pattern, "://")
	scheme = strings.ToLower(scheme)
	if !ok || len(pattern) > maxURL || scheme != "https" && scheme != "http" && scheme != "*" {
		return bad("it begins with neither https:// nor http:// nor *://")
	}
	p := urlPattern{scheme: strings.TrimPrefix(scheme, "*"), path: "/"}
	authority := rest
	if i := strings.IndexAny(rest, "/?"); i >= 0 {
		authority, p.path = rest[:i], rest[i:]
		if p.path[0] == '?' {
			p.path = "/" + p.path
		}
	} else if authority == "*" || strings.HasSuffix(authority, ":*") {
		p.path = "*"
	}
	p.host = strings.ToLower(authority)
	portText, hasPort := "", false
	if i := strings.LastIndexByte(p.host, ':'); i >= 0 && !strings.HasSuffix(p.host, "]") {
		p.host, portText, hasPort = p.host[:i], p.host[i+1:], true
	}
	switch {
	case !hasPort:
		p.own = p.host != "*"
	case portText != "*":
		n, err := strconv.ParseUint(portText, 10, 16)
		if err != nil || n == 0 || portText[0] == '0' {
			return bad("the port is neither a number from 1 to 65535 nor *")
		}
		p.port = uint16(n)
	}
	if p.host == "*" {
		return p, nil
	}
	if strings.HasPrefix(p.host, "[") != strings.HasSuffix(p.host, "]") {
		return bad("the host's brackets do not match")
	}
	if addr, err := netip.ParseAddr(strings.Trim(p.host, "[]")); err == nil {
		if addr.Zone() != "" || addr.Is6() != strings.HasPrefix(p.host, "[") {
			return bad("write addresses as 192.0.2.1 or [2001:db8::1]")
		}
		p.addr = addr.Unmap()
		return p, nil
	}
	name := strings.ReplaceAll(strings.TrimPrefix(p.host, "*."), "*", "x")
	last := p.host[strings.LastIndexByte(p.host, '.')+1:]
	if strings.Contains(last, "*") || !hostName.MatchString(name) || number.MatchString(name) {
		return bad("the host is neither a name nor an address, or has a wildcard where anybody could register a name that fits")
	}
	return p, nil
}

func (p urlPattern) match(t target) bool {
	if p.scheme != "" && p.scheme != t.url.Scheme {
		return false
	}
	own := uint16(443)
	if t.url.Scheme == "http" {
		own = 80
	}
	if p.own && t.port != own || p.port != 0 && t.port != p.port {
		return false
	}
	switch {
	case p.host == "*":
	case p.addr.IsValid() || t.addr.IsValid():
		if p.addr != t.addr {
			return false
		}
	case !matchHost(p.host, t.host):
		return false
	}
	path := t.url.EscapedPath()
	if path == "" {
		path = "/"
	}
	if t.url.RawQuery != "" || t.url.ForceQuery {
		path += "?" + t.url.RawQuery
	}
	return glob(p.path, path)
}

// matchHost compares label by label.
func matchHost(pattern, host string) bool {
	if suffix, ok := strings.CutPrefix(pattern, "*."); ok {
		labels := strings.Split(host, ".")
		n := strings.Count(suffix, ".") + 1
		if len(labels) <= n {
			return false
		}
		pattern, host = suffix, strings.Join(labels[len(labels)-n:], ".")
	}
	want, got := strings.Split(pattern, "."), strings.Split(host, ".")
	if len(want) != len(got) {
		return false
	}
	for i := range want {
		if !glob(want[i], got[i]) {
			return false
		}
	}
	return true
}

// glob matches s against a pattern in which '*' stands for any text. It takes
// time in proportion to the product of the lengths at worst.
func glob(pattern, s string) bool {
	p, i, star, mark := 0, 0, -1, 0
	for i < len(s) {
		switch {
		case p < len(pattern) && pattern[p] == '*':
			star, mark = p, i
			p++
		case p < len(pattern) && pattern[p] == s[i]:
			p++
			i++
		case star >= 0:
			mark++
			p, i = star+1, mark
		default:
			return false
		}
	}
	return strings.Trim(pattern[p:], "*") == ""
}

// dotted reports whether a server may take the path for another one.
func dotted(u *url.URL) bool {
	for path := u.EscapedPath(); ; {
		for _, segment := range strings.FieldsFunc(path, func(r rune) bool { return r == '/' || r == '\\' }) {
			// Some servers cut parameters off first.
			if segment, _, _ = strings.Cut(segment, ";"); segment == "." || segment == ".." {
				return true
			}
		}
		decoded, err := url.PathUnescape(path)
		if err != nil || decoded == path {
			return err != nil && strings.Contains(strings.ToLower(path), "%2e")
		}
		path = decoded // a second round for what a proxy decodes before the server
	}
}
