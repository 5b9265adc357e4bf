package webhook_test

import (
	"bytes"
	"crypto/x509"
	"encoding/json"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/grapnel-dev/grapnel/bus/hook"
	"github.com/grapnel-dev/grapnel/subscribers/webhook"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// patience is how long a test waits for what must happen.
const patience = 30 * time.Second

func event() hook.Event {
	return hook.Event{
		ID: "event-1", Source: "/host/claude-code", Name: hook.PreToolUse, Subject: "Bash \"ü\" 100%",
		Time: time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC), SessionID: "session-1", CorrelationID: "turn-1", Hops: 1,
		Extensions: map[string]string{"tenant": "a b"},
		Data: hook.Data{
			CWD: "/project",
			Tool: &hook.Tool{
				Name: "Bash", Kind: hook.KindShell, CallID: "call-1", Input: json.RawMessage(`{"command":"ls -l",  "n":1.50}`),
			},
			Native: hook.Native{Agent: "claude-code", Event: "PreToolUse", Payload: json.RawMessage(`{ "tool_name":"Bash" }`)},
		},
	}
}

func notification() hook.Event {
	e := event()
	e.Name = hook.PostToolUse
	return e
}

// logs is what a webhook logged.
type logs struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *logs) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *logs) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

// serve starts an endpoint; it is TLS where the name says so.
func serve(t testing.TB, h http.HandlerFunc) *httptest.Server {
	t.Helper()
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	return s
}

func serveTLS(t testing.TB, http2 bool, h http.HandlerFunc) *httptest.Server {
	t.Helper()
	s := httptest.NewUnstartedServer(h)
	s.EnableHTTP2 = http2
	s.Config.ErrorLog = slog.NewLogLogger(slog.DiscardHandler, slog.LevelError)
	s.StartTLS()
	t.Cleanup(s.Close)
	return s
}

func hostPort(s *httptest.Server) string {
	_, rest, _ := strings.Cut(s.URL, "://")
	return rest
}

// client reaches the servers.
func client(t testing.TB, servers ...*httptest.Server) *webhook.Client {
	t.Helper()
	o := webhook.ClientOptions{RootCAs: x509.NewCertPool()}
	for _, s := range servers {
		o.AllowPrivate = append(o.AllowPrivate, hostPort(s))
		if s.TLS != nil {
			o.RootCAs.AddCert(s.Certificate())
		}
	}
	c, err := webhook.NewClient(&o)
	require.NoError(t, err)
	t.Cleanup(c.Close)
	return c
}

func ready(t testing.TB, h webhook.Hook, o webhook.Options) *webhook.Webhook {
	t.Helper()
	if h.Name == "" {
		h.Name = "tested"
	}
	if len(h.On) == 0 {
		h.On = []string{">"}
	}
	w, err := webhook.New(h, &o)
	require.NoError(t, err)
	t.Cleanup(w.Close)
	return w
}

// to makes a webhook for a server with a client of its own.
func to(t testing.TB, s *httptest.Server, h webhook.Hook) *webhook.Webhook {
	t.Helper()
	if h.URL == "" {
		h.URL = s.URL + "/hook"
	}
	return ready(t, h, webhook.Options{Client: client(t, s)})
}

func duration(d time.Duration) hook.Duration { return hook.Duration(d) }

func answer(status int, contentType, body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		if contentType != "" {
			w.Header().Set("Content-Type", contentType)
		}
		w.WriteHeader(status)
		_, _ = w.Write([]byte(body))
	}
}

// wait receives or fails the test.
func wait[T any](t testing.TB, c <-chan T) T {
	t.Helper()
	select {
	case v := <-c:
		return v
	case <-time.After(patience):
		require.Fail(t, "nothing came")
		panic("unreachable")
	}
}

func failed(t testing.TB, err error, is error) {
	t.Helper()
	require.Error(t, err)
	assert.ErrorIs(t, err, is)
}
