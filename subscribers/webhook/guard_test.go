package webhook_test

import (
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/grapnel-dev/grapnel/subscribers/webhook"
)

// A URL that names such an address is refused before anything is connected.
func TestAddressesThatAreRefused(t *testing.T) {
	t.Parallel()
	for _, host := range []string{
		"127.0.0.1", "127.255.255.254", "0.0.0.0", "0.1.2.3", "10.0.0.1", "172.16.0.1", "172.31.255.255", "192.168.1.1",
		"169.254.169.254", "169.254.170.2", "100.64.0.1", "100.100.100.200", "168.63.129.16", "192.0.0.192", "192.0.2.1", "198.18.0.1",
		"198.51.100.1", "203.0.113.1", "224.0.0.1", "239.255.255.250", "240.0.0.1", "255.255.255.255",
		"[::1]", "[::]", "[::ffff:127.0.0.1]", "[::ffff:7f00:1]", "[::ffff:169.254.169.254]", "[::127.0.0.1]", "[0:0:0:0:0:0:0:1]",
		"[fe80::1]", "[fc00::1]", "[fd00:ec2::254]", "[fec0::1]", "[ff02::1]", "[64:ff9b::7f00:1]", "[64:ff9b::a9fe:a9fe]", "[64:ff9b:1::1]",
		"[2002:7f00:1::]", "[2002:a9fe:a9fe::1]", "[2001::1]", "[2001:db8::1]", "[100::1]", "[3fff::1]", "[5f00::1]",
	} {
		for _, scheme := range []string{"https", "http"} {
			_, err := webhook.New(webhook.Hook{Name: "x", On: []string{">"}, URL: scheme + "://" + host + "/"}, nil)
			failed(t, err, webhook.ErrConfig)
			assert.ErrorIs(t, err, webhook.ErrAddress, host)
		}
	}
	for _, host := range []string{"1.1.1.1", "[2606:4700:4700::1111]", "hooks.example.com", "[::ffff:1.1.1.1]"} {
		_, err := webhook.New(webhook.Hook{Name: "x", On: []string{">"}, URL: "https://" + host + "/"}, nil)
		require.NoError(t, err, host)
		_, err = webhook.New(webhook.Hook{Name: "x", On: []string{">"}, URL: "http://" + host + "/"}, nil)
		assert.ErrorIs(t, err, webhook.ErrAddress, "plain http to %s", host)
	}
}

// Some resolver takes each of these for an address or a place that another
// reader does not see.
func TestURLsThatAreRefused(t *testing.T) {
	t.Parallel()
	for _, u := range []string{
		"", "https://", "https:///x", "//h/x", "h/x", "ftp://h/", "file:///etc/passwd", "unix:/run/x", "gopher://h/", "javascript:x", "https:h", "https:/h",
		"https://2130706433/", "https://0177.0.0.1/", "https://0x7f.0.0.1/", "https://0x7f000001/", "https://127.1/", "https://127.0.1/", "https://0/",
		"https://1.2.3.4.5/", "https://127.0.0.01/", "https://256.0.0.1/", "https://127.0.0.1./", "https://0x/", "https://x.0x7f/", "https://a.1/",
		"https://[fe80::1%25lo]/", "https://[fe80::1%lo]/", "https://[127.0.0.1]/", "https://[::1/", "https://::1/", "https://[v1.x]/",
		"https://u@h/", "https://u:p@h/", "https://hooks.example.com@127.0.0.1/", "https://:@h/", "https://@h/",
		"https://h:0/", "https://h:65536/", "https://h:/", "https://h:0443/", "https://h:+443/", "https://h:a/", "https://h:22/", "https://1.1.1.1:22/", "https://1.1.1.1:25/", "https://1.1.1.1:6667/",
		"https://h/#f", "https://h/#", "https://h\\@127.0.0.1/", "https:\\\\h/", "https://h/ x", " https://h/", "https://h/\n", "https://h/\x00", "https://h\t/",
		"https://bücher.example/", "https://①②⑦.0.0.1/", "https://127。0。0。1/", "https://%6cocalhost/", "https://h%00/", "https://h..x/", "https://.h/", "https://h./", "https://-h/", "https://h_-.x/",
		"https://" + strings.Repeat("a", 64) + "/", "https://" + strings.Repeat("a.", 127) + "a/", "https://h/" + strings.Repeat("a", 3000),
	} {
		secret := webhook.Hook{Name: "x", On: []string{">"}, URL: u}
		w, err := webhook.New(secret, nil)
		if strings.HasPrefix(u, "https://h:22") { // a name can only be judged when it is dialled
			require.NoError(t, err)
			assert.NotNil(t, w)
			continue
		}
		assert.ErrorIs(t, err, webhook.ErrConfig, "%q", u)
	}
}

// The address that counts is the one that is dialled.
func TestNamesAreJudgedByWhatTheyResolveTo(t *testing.T) {
	t.Parallel()
	var hits atomic.Int32
	handler := func(w http.ResponseWriter, _ *http.Request) {
		hits.Add(1)
		w.WriteHeader(http.StatusNoContent)
	}
	plain, secure := serve(t, handler), serveTLS(t, false, handler)
	named := func(u string) string { return strings.Replace(u, "127.0.0.1", "LocalHost", 1) }
	nobody, err := webhook.NewClient(nil)
	require.NoError(t, err)
	t.Cleanup(nobody.Close)
	for _, u := range []string{named(plain.URL), named(secure.URL)} {
		w := ready(t, webhook.Hook{URL: u}, webhook.Options{Client: nobody})
		_, err := w.Decide(t.Context(), event())
		failed(t, err, webhook.ErrAddress)
		assert.NotContains(t, err.Error(), "tries")
		failed(t, w.Handle(t.Context(), notification()), webhook.ErrAddress)
	}
	assert.Zero(t, hits.Load())

	port := plain.URL[strings.LastIndexByte(plain.URL, ':'):]
	for allow, want := range map[string]bool{
		"localhost" + port: true, "127.0.0.1" + port: true, "127.0.0.0/8": true, "127.0.0.1/32": true,
		"localhost:1": false, "127.0.0.2" + port: false, "10.0.0.0/8": false, "[::1]" + port: false, "other" + port: false,
	} {
		c, err := webhook.NewClient(&webhook.ClientOptions{AllowPrivate: []string{allow}})
		require.NoError(t, err, allow)
		t.Cleanup(c.Close)
		w := ready(t, webhook.Hook{URL: named(plain.URL)}, webhook.Options{Client: c})
		_, err = w.Decide(t.Context(), event())
		if want {
			require.NoError(t, err, allow)
		} else {
			assert.ErrorIs(t, err, webhook.ErrAddress, allow)
		}
	}
}

// Whoever has a say about an allowed name must not lead it anywhere.
func TestWhereAllowedNamesMayLead(t *testing.T) {
	t.Parallel()
	allow := []string{"hooks.lan:8080"}
	for resolved, want := range map[string]bool{
		"127.0.0.1:8080": true, "10.1.2.3:8080": true, "192.168.0.9:8080": true, "100.64.0.1:8080": true, "[fd00::1]:8080": true, "[::1]:8080": true, "[::ffff:10.0.0.1]:8080": true, "1.1.1.1:8080": true,
		"169.254.169.254:8080": false, "[fe80::1%lo]:8080": false, "100.100.100.200:8080": false, "[fd00:ec2::254]:8080": false, "168.63.129.16:8080": false,
		"0.0.0.0:8080": false, "224.0.0.1:8080": false, "[64:ff9b::a00:1]:8080": false, "[2002:a00:1::]:8080": false, "[::]:8080": false, "10.1.2.3:8081": false,
	} {
		err := webhook.Check(allow, "hooks.lan", resolved, false)
		assert.Equal(t, want, err == nil, "%s: %v", resolved, err)
		if err != nil {
			assert.ErrorIs(t, err, webhook.ErrAddress)
		}
		loopback := resolved == "127.0.0.1:8080" || resolved == "[::1]:8080"
		assert.Equal(t, loopback, webhook.Check(allow, "hooks.lan", resolved, true) == nil, "plain %s", resolved)
		assert.Equal(t, resolved == "1.1.1.1:8080", webhook.Check(allow, "other.lan", resolved, false) == nil, "other %s", resolved)
	}
	assert.NoError(t, webhook.Check([]string{"169.254.0.0/16"}, "x", "169.254.169.254:80", false), "a network is meant as it is written")
	assert.NoError(t, webhook.Check([]string{"fe80::/10"}, "x", "[fe80::1%lo]:80", false))
	assert.ErrorIs(t, webhook.Check([]string{"10.0.0.0/8"}, "x", "10.0.0.1:80", true), webhook.ErrAddress, "plain http leaves the machine nowhere")
}

func TestExceptionsThatMakeNoSense(t *testing.T) {
	t.Parallel()
	for _, entry := range []string{"", "localhost", "127.0.0.1", "*", "localhost:*", "http://localhost:80", "localhost:80/x", "u@localhost:80", "10.0.0.0/33", "::ffff:10.0.0.0/104", "localhost:0", "2130706433:80", "localhost:80?"} {
		_, err := webhook.NewClient(&webhook.ClientOptions{AllowPrivate: []string{entry}})
		assert.ErrorIs(t, err, webhook.ErrConfig, "%q", entry)
	}
}

// One client's permission must not become another's through a connection that
// is open already.
func TestClientsShareNoConnections(t *testing.T) {
	t.Parallel()
	s := serve(t, answer(204, "", ""))
	u := strings.Replace(s.URL, "127.0.0.1", "localhost", 1)
	w := ready(t, webhook.Hook{URL: u}, webhook.Options{Client: client(t, s)})
	_, err := w.Decide(t.Context(), event())
	require.NoError(t, err)
	_, err = ready(t, webhook.Hook{URL: u}, webhook.Options{}).Decide(t.Context(), event())
	failed(t, err, webhook.ErrAddress)
}

func TestRedirectsAreNotFollowed(t *testing.T) {
	t.Parallel()
	var hits atomic.Int32
	other := serve(t, func(http.ResponseWriter, *http.Request) { t.Error("it followed") })
	for _, status := range []int{301, 302, 303, 307, 308} {
		for _, location := range []string{"http://169.254.169.254/latest/meta-data/", other.URL, "/elsewhere", "https://u:secret@example.com/?token=secret"} {
			hits.Store(0)
			s := serve(t, func(w http.ResponseWriter, _ *http.Request) {
				hits.Add(1)
				w.Header().Set("Location", location)
				w.WriteHeader(status)
			})
			w := to(t, s, webhook.Hook{})
			_, err := w.Decide(t.Context(), event())
			failed(t, err, webhook.ErrRedirect)
			assert.ErrorIs(t, err, webhook.ErrStatus)
			assert.NotContains(t, err.Error(), "secret")
			failed(t, w.Handle(t.Context(), notification()), webhook.ErrRedirect)
			assert.EqualValues(t, 2, hits.Load())
		}
	}
}

func TestNoProxyFromTheEnvironment(t *testing.T) {
	proxy := serve(t, func(http.ResponseWriter, *http.Request) { t.Error("the proxy was asked") })
	for _, name := range []string{"HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy"} {
		t.Setenv(name, proxy.URL)
	}
	for _, s := range []string{"", "s"} {
		server := serve(t, answer(204, "", ""))
		if s == "s" {
			server = serveTLS(t, false, answer(204, "", ""))
		}
		_, err := to(t, server, webhook.Hook{URL: strings.Replace(server.URL, "127.0.0.1", "localhost", 1)}).Decide(t.Context(), event())
		if s == "s" {
			assert.ErrorIs(t, err, webhook.ErrConnect) // the certificate has no such name; it was reached
			continue
		}
		require.NoError(t, err)
	}
}

func TestProxyIsUsedWhereConfigured(t *testing.T) {
	t.Parallel()
	asked := make(chan string, 4)
	proxy := serve(t, func(w http.ResponseWriter, r *http.Request) {
		asked <- r.Method + " " + r.Host
		w.WriteHeader(http.StatusForbidden)
	})
	near := serveTLS(t, false, answer(204, "", ""))
	address, err := url.Parse(proxy.URL)
	require.NoError(t, err)
	roots := near.Client().Transport.(*http.Transport).TLSClientConfig.RootCAs
	c, err := webhook.NewClient(&webhook.ClientOptions{Proxy: address, AllowPrivate: []string{hostPort(near)}, RootCAs: roots})
	require.NoError(t, err)
	t.Cleanup(c.Close)

	_, err = ready(t, webhook.Hook{URL: "https://hooks.example.com/x", Tries: 1}, webhook.Options{Client: c}).Decide(t.Context(), event())
	failed(t, err, webhook.ErrConnect)
	assert.Equal(t, "CONNECT hooks.example.com:443", wait(t, asked))

	_, err = ready(t, webhook.Hook{URL: near.URL}, webhook.Options{Client: c}).Decide(t.Context(), event())
	require.NoError(t, err)
	assert.Empty(t, asked)

	// What stands in the URL itself is judged all the same.
	_, err = webhook.New(webhook.Hook{Name: "x", On: []string{">"}, URL: "https://169.254.169.254/"}, &webhook.Options{Client: c})
	failed(t, err, webhook.ErrAddress)
}

// Whatever the address, what is accepted is neither local nor reserved.
func TestAcceptedAddressesArePublic(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		raw := rapid.OneOf(rapid.SliceOfN(rapid.Byte(), 4, 4), rapid.SliceOfN(rapid.Byte(), 16, 16)).Draw(t, "address")
		addr, ok := netip.AddrFromSlice(raw)
		require.True(t, ok)
		host := addr.String()
		if addr.Is6() {
			host = "[" + host + "]"
		}
		if _, err := webhook.New(webhook.Hook{Name: "x", On: []string{">"}, URL: "https://" + host}, nil); err != nil {
			return
		}
		addr = addr.Unmap()
		if !addr.IsGlobalUnicast() || addr.IsPrivate() || addr.IsLoopback() || addr.IsLinkLocalUnicast() || addr.IsMulticast() || addr.IsUnspecified() {
			t.Fatalf("%s was accepted", addr)
		}
	})
}
