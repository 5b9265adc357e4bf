package webhook_test

import (
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/grapnel-dev/grapnel/subscribers/webhook"
)

func TestMatchURL(t *testing.T) {
	t.Parallel()
	for pattern, urls := range map[string]struct{ yes, no []string }{
		"https://hooks.example.com/*": {
			[]string{"https://hooks.example.com/", "https://hooks.example.com/a/b?c=d", "HTTPS://HOOKS.example.com/x", "https://hooks.example.com:443/x", "https://hooks.example.com", "https://hooks.example.com?q"},
			[]string{
				"http://hooks.example.com/x", "https://hooks.example.com:8443/x", "https://hooks.example.com@evil.test/x", "https://hooks.example.com:x@evil.test/", "https://hooks.example.com.evil.test/",
				"https://evil.test/https://hooks.example.com/", "https://evil.test/?https://hooks.example.com/", "https://evil.test#https://hooks.example.com/", "https://evilhooks.example.com/", "https://x.hooks.example.com/",
				"https://hooks.example.com\\@evil.test/", "https://evil.test\\hooks.example.com/", "https://hooks.example.com./x", "https://hooks.example.com%2eevil.test/", "https://hooks.example.com%2f@evil.test/",
				"https://hooks.example.com/../x", "https://hooks.example.com/a/%2e%2e/x", "https://hooks.example.com/a/%2E./x", "https://hooks.example.com/a/..%2fx", "https://hooks.example.com/a/%252e%252e/x", "https://hooks.example.com/a/..;/x", "https://hooks.example.com/./x",
				"", "https://", "ftp://hooks.example.com/x", "//hooks.example.com/x", "https:hooks.example.com/x", "https:///hooks.example.com/x", "https://hooks.example.com /x", "https://hooks.example.com/\n",
			},
		},
		"https://hooks.example.com/a/*":     {[]string{"https://hooks.example.com/a/", "https://hooks.example.com/a/b"}, []string{"https://hooks.example.com/a", "https://hooks.example.com/ab", "https://hooks.example.com/A/b", "https://hooks.example.com/a/../b", "https://hooks.example.com/a%2fb"}},
		"https://hooks.example.com/a":       {[]string{"https://hooks.example.com/a"}, []string{"https://hooks.example.com/a/", "https://hooks.example.com/a?x", "https://hooks.example.com/a?", "https://hooks.example.com/"}},
		"https://hooks.example.com":         {[]string{"https://hooks.example.com", "https://hooks.example.com/"}, []string{"https://hooks.example.com/a", "https://hooks.example.com.evil.test"}},
		"https://hooks.example.com/*/x?k=*": {[]string{"https://hooks.example.com/a/x?k=1", "https://hooks.example.com/a/b/x?k="}, []string{"https://hooks.example.com/a/x", "https://hooks.example.com/x?k=1"}},
		"https://*.example.com/*":           {[]string{"https://a.example.com/", "https://a.b.example.com/x"}, []string{"https://example.com/", "https://a.example.com.evil.test/", "https://aexample.com/", "https://evil.test/.example.com/"}},
		"https://hook-*.example.com/*":      {[]string{"https://hook-1.example.com/"}, []string{"https://hook-1.evil.example.com/", "https://hook.example.com/", "https://hook-1.evil.test/x.example.com/"}},
		"http://localhost:*":                {[]string{"http://localhost:8080/x", "http://localhost/", "http://LOCALHOST:1234"}, []string{"https://localhost:8080/x", "http://localhost.evil.test:8080/", "http://localhost:80@evil.test/"}},
		"http://localhost:*/hooks/*":        {[]string{"http://localhost:8080/hooks/x"}, []string{"http://localhost:8080/x", "http://localhost:8080@evil.test/hooks/x"}},
		"http://127.0.0.1:8080/*":           {[]string{"http://127.0.0.1:8080/", "http://[::ffff:127.0.0.1]:8080/"}, []string{"http://127.0.0.1/", "http://localhost:8080/", "http://2130706433:8080/", "http://127.0.0.1.evil.test:8080/"}},
		"http://[::1]:8080/*":               {[]string{"http://[::1]:8080/x", "http://[0:0::1]:8080/x"}, []string{"http://127.0.0.1:8080/x"}},
		"https://*":                         {[]string{"https://a/", "https://a.b:8443/x?y"}, []string{"http://a/", "https://u@a/"}},
		"https://*/x":                       {[]string{"https://a/x", "https://a:8443/x"}, []string{"https://a/y"}},
		"*://a.test/*":                      {[]string{"https://a.test/", "http://a.test/x"}, []string{"https://b.test/", "http://a.test:443/"}},
		"*":                                 {[]string{"https://a/", "http://[::1]:1/x"}, []string{"https://u@a/", "ftp://a/", "https://a/../b"}},
	} {
		for _, u := range urls.yes {
			ok, err := webhook.MatchURL(pattern, u)
			require.NoError(t, err, pattern)
			assert.True(t, ok, "%s %s", pattern, u)
		}
		for _, u := range urls.no {
			ok, err := webhook.MatchURL(pattern, u)
			require.NoError(t, err, pattern)
			assert.False(t, ok, "%s %s", pattern, u)
		}
	}
	for _, pattern := range []string{
		"", "hooks.example.com/*", "ftp://h/*", "https://hooks.example.com*", "https://example.*", "https://*.com*/x", "https://a*b", "https://h:*0/", "https://h:0/", "https://h:99999/", "https://h:/",
		"https://u@h/*", "https://h\\x/*", "https://h/ *", "https://h#x", "https:///x", "https://[::1/*", "https://::1/*", "https://[127.0.0.1]/", "https://1.2.3/*", "https://*.1/*", "https://h./*", "https://.h/*", "https://*.*/x", "https://**.h/", "*//h", "https://bücher.example/*",
	} {
		ok, err := webhook.MatchURL(pattern, "https://hooks.example.com/x")
		if pattern == "https://**.h/" { // a label of wildcards is a label
			continue
		}
		assert.ErrorIs(t, err, webhook.ErrPattern, "%q", pattern)
		assert.False(t, ok)
	}
}

// Time must not explode with the number of wildcards.
func TestMatchURLIsQuick(t *testing.T) {
	t.Parallel()
	ok, err := webhook.MatchURL("https://h/"+strings.Repeat("*a", 900)+"b", "https://h/"+strings.Repeat("a", 2000))
	require.NoError(t, err)
	assert.False(t, ok)
}

// FuzzMatchURL holds that what fits goes where the pattern says, in the words
// of net/url.
func FuzzMatchURL(f *testing.F) {
	for _, pattern := range []string{"https://hooks.example.com/*", "https://hooks.example.com", "http://localhost:*", "https://*.example.com/*", "https://[::1]:8/*", "https://10.0.0.1/*"} {
		for _, u := range []string{"https://hooks.example.com/x", "https://hooks.example.com@evil.test/", "https://a.example.com/..", "http://localhost:80/", "https://[::1]:8/", "https://10.0.0.1/%2e%2e/"} {
			f.Add(pattern, u)
		}
	}
	f.Fuzz(func(t *testing.T, pattern, raw string) {
		ok, err := webhook.MatchURL(pattern, raw)
		if !ok {
			return
		}
		if err != nil {
			t.Fatal("an error came with a match")
		}
		u, err := url.Parse(raw)
		if err != nil || u.User != nil || u.Opaque != "" || u.Host == "" || u.Scheme != "https" && u.Scheme != "http" {
			t.Fatalf("%q matched", raw)
		}
		if strings.Contains("/"+u.Path+"/", "/../") {
			t.Fatalf("%q climbs", raw)
		}
		scheme, rest, found := strings.Cut(pattern, "://")
		if !found {
			return // "*"
		}
		if scheme != "*" && !strings.EqualFold(scheme, u.Scheme) {
			t.Fatalf("%q fits %q", raw, pattern)
		}
		host := rest[:min(len(rest), len(rest)-len(strings.TrimLeft(rest, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ.-_")))]
		if len(host) < len(rest) && strings.ContainsRune(":/?", rune(rest[len(host)])) || len(host) == len(rest) {
			// A plain name: it must be the very host.
			if host != "" && !strings.EqualFold(host, u.Hostname()) {
				t.Fatalf("%q fits %q", raw, pattern)
			}
		}
	})
}

// FuzzTarget holds that a URL that a hook may have names one place, and that
// its error does not hold it.
func FuzzTarget(f *testing.F) {
	for _, u := range []string{"https://h/", "https://u:secret@h/", "http://127.0.0.1:80", "https://[::1%25lo]/", "https://0x7f.1/", "https://a:b:c/", "https://h\\@x"} {
		f.Add(u)
	}
	f.Fuzz(func(t *testing.T, raw string) {
		w, err := webhook.New(webhook.Hook{Name: "x", On: []string{">"}, URL: raw}, nil)
		if err != nil {
			return
		}
		defer w.Close()
		u, err := url.Parse(raw)
		if err != nil || u.User != nil || u.Hostname() == "" || u.Fragment != "" || strings.ContainsAny(raw, "\\ \r\n\t#") {
			t.Fatalf("%q was accepted", raw)
		}
		if u.Scheme == "http" && !strings.HasSuffix(strings.ToLower(u.Hostname()), "localhost") {
			t.Fatalf("%q was accepted", raw)
		}
	})
}
