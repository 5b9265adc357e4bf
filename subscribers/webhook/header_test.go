package webhook_test

import (
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"unicode"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/grapnel-dev/grapnel/subscribers/webhook"
)

func TestExpand(t *testing.T) {
	t.Parallel()
	environ := []string{"A=1", "B=two", "A=one", "EMPTY=", "_X9=x", "HOME=/home/u", "REF=$HOME"}
	allowed := []string{"A", "B", "EMPTY", "_X9", "UNSET", "REF"}
	for value, want := range map[string]string{
		"": "", "plain": "plain", "$A": "one", "${A}": "one", "Bearer ${B}.$A": "Bearer two.one", "$AB": "", "${A}B": "oneB", "$A-$B": "one-two",
		"$_X9": "x", "$EMPTY|": "|", "$": "$", "$$": "$$", "$1": "$1", "a$": "a$", "$ A": "$ A", "$$A": "$one", "$HOME": "", "$UNSET!": "!", "$REF": "$HOME", "$(A)": "$(A)",
	} {
		got, missing, err := webhook.Expand(value, allowed, environ)
		require.NoError(t, err, value)
		assert.Equal(t, want, got, value)
		assert.Equal(t, strings.Contains("$HOME $UNSET! $AB", value) && len(value) > 2, len(missing) == 1, value)
	}
	for _, value := range []string{"${", "${}", "${A", "${A B}", "${1}", "${A:-x}", "a\nb", "a\r", "\x00", "\x7f", "ü", strings.Repeat("x", 9000)} {
		_, _, err := webhook.Expand(value, allowed, environ)
		assert.ErrorIs(t, err, webhook.ErrConfig, value)
	}
	for _, secret := range []string{"s3cret\r\nX-Evil: 1", "s3cret\n", "s3cret\x00", "s3cret\xff"} {
		_, _, err := webhook.Expand("Bearer $A", allowed, []string{"A=" + secret})
		require.Error(t, err)
		assert.NotContains(t, err.Error(), "s3cret")
	}
}

func TestHeadersThatAreRefused(t *testing.T) {
	t.Parallel()
	for _, name := range []string{
		"Host", "host", "HOST", "Connection", "Keep-Alive", "TE", "Trailer", "Transfer-Encoding", "Upgrade", "Proxy-Authorization", "Proxy-Connection",
		"Content-Length", "Content-Type", "content-encoding", "Accept-Encoding", "Expect", "ce-id", "CE-Specversion", "webhook-id", "Webhook-Signature",
		"", "a b", "a:b", "a\r\nb", "ü", "Host ", "Sec-Fetch-Mode",
	} {
		_, err := webhook.New(webhook.Hook{Name: "x", On: []string{">"}, URL: "https://h/", Headers: map[string]string{name: "v"}}, nil)
		assert.ErrorIs(t, err, webhook.ErrConfig, "%q", name)
	}
	for reason, h := range map[string]webhook.Hook{
		"twice":          {Headers: map[string]string{"X-A": "1", "x-a": "2"}},
		"line break":     {Headers: map[string]string{"X": "s3cret\r\nY: z"}},
		"allowed_env":    {Headers: map[string]string{"X": "$SECRET"}},
		"is not set":     {Headers: map[string]string{"X": "$SECRET"}, AllowedEnv: []string{"SECRET"}},
		"not set":        {Secrets: []string{"$SECRET"}, AllowedEnv: []string{"SECRET"}},
		"no name of an":  {AllowedEnv: []string{"A B"}},
		"url":            {URL: "https://s3cret:s3cret@h/"},
		"body":           {Body: "xml"},
		"tries":          {Tries: -1},
		"to 15m":         {RetryFor: duration(1e15)},
		"concurrency":    {Concurrency: 1 << 20},
		"max_response":   {MaxResponse: 1 << 30},
		"on":             {On: []string{" "}},
		"bad hook event": {On: []string{"a.b.c.d"}},
	} {
		h.Name = "x"
		if h.On == nil {
			h.On = []string{">"}
		}
		if h.URL == "" {
			h.URL = "https://h/"
		}
		_, err := webhook.New(h, &webhook.Options{Environ: []string{"OTHER=1"}})
		require.ErrorIs(t, err, webhook.ErrConfig, reason)
		assert.NotContains(t, err.Error(), "s3cret")
		if reason != "bad hook event" {
			assert.Contains(t, err.Error(), reason)
		}
	}
}

func TestHeadersArriveExpanded(t *testing.T) {
	t.Parallel()
	requests := make(chan received, 1)
	s := serve(t, record(requests))
	w := ready(t, webhook.Hook{
		URL: s.URL, Headers: map[string]string{"authorization": "Bearer ${TOKEN}", "User-Agent": "me"}, AllowedEnv: []string{"TOKEN"},
	}, webhook.Options{Client: client(t, s), Environ: []string{"TOKEN=abc", "OTHER=x"}})
	_, err := w.Decide(t.Context(), event())
	require.NoError(t, err)
	r := wait(t, requests)
	assert.Equal(t, "Bearer abc", r.header.Get("Authorization"))
	assert.Equal(t, "me", r.header.Get("User-Agent"))
	assert.NotContains(t, r.header, "Webhook-Signature")
	assert.NotContains(t, r.header, "Idempotency-Key")
	assert.Equal(t, "Bearer ${TOKEN}", w.Hook().Headers["authorization"])
}

// An endpoint that echoes its request must not bring our secrets into our logs,
// whatever it makes of them.
func TestEchoesStayOutOfErrorsAndLogs(t *testing.T) {
	t.Parallel()
	echo := func(r *http.Request) string {
		return r.Method + " " + r.URL.String() + " " + r.Header.Get("Authorization") + r.Header.Get("Webhook-Signature")
	}
	for name, handler := range map[string]http.HandlerFunc{
		"body": func(w http.ResponseWriter, r *http.Request) { answer(500, "text/plain", echo(r))(w, r) },
		"text": func(w http.ResponseWriter, r *http.Request) { answer(200, "text/plain", echo(r))(w, r) },
		"json": func(w http.ResponseWriter, r *http.Request) {
			answer(200, "application/json", `{"got":"`+echo(r)+`"}`)(w, r)
		},
		"not json": func(w http.ResponseWriter, r *http.Request) { answer(200, "application/json", echo(r))(w, r) },
		"type":     func(w http.ResponseWriter, r *http.Request) { answer(200, echo(r), `{}`)(w, r) },
		"location": func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Location", echo(r))
			w.WriteHeader(307)
		},
		"retry": func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Retry-After", echo(r))
			w.WriteHeader(503)
		},
		"status line": func(w http.ResponseWriter, r *http.Request) { hijack(w, "HTTP/1.1 400 "+echo(r)+"\r\n\r\n") },
		"raw":         func(w http.ResponseWriter, r *http.Request) { hijack(w, echo(r)+"\r\n\r\n") },
		"header":      func(w http.ResponseWriter, r *http.Request) { hijack(w, "HTTP/1.1 200 OK\r\n"+echo(r)+"\r\n\r\n") },
		"length": func(w http.ResponseWriter, r *http.Request) {
			hijack(w, "HTTP/1.1 200 OK\r\nContent-Length: "+echo(r)+"\r\n\r\n")
		},
		"chunk": func(w http.ResponseWriter, r *http.Request) {
			hijack(w, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"+echo(r)+"\r\n")
		},
		"reset": reset,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := serve(t, handler)
			var log logs
			var traced webhook.Execution
			w := ready(t, webhook.Hook{
				URL: s.URL + "/services/T0KEN?key=T0KEN", Headers: map[string]string{"Authorization": "T0KEN"}, Secrets: []string{secretA}, Tries: 2,
			}, webhook.Options{Client: client(t, s), Log: slog.New(slog.NewJSONHandler(&log, nil)), Trace: func(x webhook.Execution) { traced = x }})
			_, err := w.Decide(t.Context(), event())
			require.Error(t, err)
			all := err.Error() + log.String() + traced.Error + traced.Host
			assert.NotContains(t, all, "T0KEN")
			assert.NotContains(t, all, "v1,")
			assert.Contains(t, log.String(), `"event_id":"event-1"`)
			assert.NotEmpty(t, traced.Outcome)
		})
	}
}

func hijack(w http.ResponseWriter, text string) {
	conn, _, err := w.(http.Hijacker).Hijack()
	if err != nil {
		panic(err)
	}
	_, _ = conn.Write([]byte(text))
	_ = conn.Close()
}

func FuzzExpand(f *testing.F) {
	for _, seed := range []string{"", "$A", "${A}", "Bearer $A.${B}", "$$A", "${", "${A", "$HOME", "a\r\nb", "$A$A$A", "${${A}}", "$\x00"} {
		f.Add(seed, "value")
	}
	f.Add("x $A", "a\r\nX: y")
	f.Fuzz(func(t *testing.T, value, secret string) {
		environ := []string{"A=" + secret, "HIDDEN=hidden-value-0123456789"}
		got, _, err := webhook.Expand(value, []string{"A"}, environ)
		if err != nil {
			if got != "" {
				t.Fatal("an error came with a value")
			}
			return
		}
		if strings.ContainsFunc(got, func(r rune) bool { return r != '\t' && (r > unicode.MaxASCII || unicode.IsControl(r)) }) {
			t.Fatalf("%q is no header's value", got)
		}
		if !strings.Contains(value, "$") && got != value {
			t.Fatalf("%q became %q", value, got)
		}
		if strings.Contains(got, "hidden-value-0123456789") && !strings.Contains(value+secret, "hidden") {
			t.Fatal("a variable that is not allowed was put in")
		}
	})
}
