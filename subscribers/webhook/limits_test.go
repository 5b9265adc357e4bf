package webhook_test

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/grapnel-dev/grapnel/bus/hook"
	"github.com/grapnel-dev/grapnel/subscribers/webhook"
)

// hang reads the request and then waits for the client to go away.
func hang(r *http.Request) {
	_, _ = io.Copy(io.Discard, r.Body)
	<-r.Context().Done()
}

func TestSlowEndpointsTimeOut(t *testing.T) {
	t.Parallel()
	for name, handler := range map[string]http.HandlerFunc{
		"slow header": func(_ http.ResponseWriter, r *http.Request) { hang(r) },
		"slow body": func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			_, _ = io.WriteString(w, `{"effect":"allow"`)
			w.(http.Flusher).Flush()
			hang(r)
		},
		"slow end": func(w http.ResponseWriter, r *http.Request) { // the document is whole, the body is not
			w.Header().Set("Content-Type", "application/json")
			_, _ = io.WriteString(w, `{"effect":"allow"}`)
			w.(http.Flusher).Flush()
			hang(r)
		},
		"only 1xx": func(w http.ResponseWriter, r *http.Request) {
			w.WriteHeader(http.StatusEarlyHints)
			hang(r)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var hits atomic.Int32
			w := to(t, serve(t, func(w http.ResponseWriter, r *http.Request) {
				hits.Add(1)
				handler(w, r)
			}), webhook.Hook{Timeout: duration(300 * time.Millisecond), Tries: 5})
			began := time.Now()
			d, err := w.Decide(t.Context(), event())
			failed(t, err, webhook.ErrTimedOut)
			assert.Equal(t, hook.Decision{}, d)
			assert.Less(t, time.Since(began), 10*time.Second)
			assert.LessOrEqual(t, hits.Load(), int32(1), "the time was up, and it may have been working on it")
		})
	}
}

func TestTheCallersDeadlineHolds(t *testing.T) {
	t.Parallel()
	w := to(t, serve(t, func(_ http.ResponseWriter, r *http.Request) { hang(r) }), webhook.Hook{Timeout: duration(time.Hour), RetryFor: duration(10 * time.Minute)})
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	_, err := w.Decide(ctx, event())
	failed(t, err, webhook.ErrTimedOut)
	failed(t, w.Handle(ctx, notification()), webhook.ErrTimedOut)

	gone := errors.New("the session ended")
	began := make(chan struct{}, 1)
	w = to(t, serve(t, func(_ http.ResponseWriter, r *http.Request) {
		began <- struct{}{}
		hang(r)
	}), webhook.Hook{})
	cancelled, end := context.WithCancelCause(t.Context())
	go func() {
		<-began
		end(gone)
	}()
	failed(t, w.Handle(cancelled, notification()), gone)
}

func TestLargeResponses(t *testing.T) {
	t.Parallel()
	endless := func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		for {
			if _, err := io.WriteString(w, strings.Repeat(" ", 4096)); err != nil {
				return
			}
		}
	}
	for name, c := range map[string]struct {
		handler http.HandlerFunc
		is      error
	}{
		"endless body":   {endless, webhook.ErrAnswer},
		"by its length":  {func(w http.ResponseWriter, _ *http.Request) { w.Header().Set("Content-Length", "1000000000000") }, webhook.ErrAnswer},
		"huge header":    {func(w http.ResponseWriter, _ *http.Request) { w.Header().Set("X", strings.Repeat("x", 200<<10)) }, webhook.ErrConnect},
		"endless 1xx":    {func(w http.ResponseWriter, _ *http.Request) { early(w) }, webhook.ErrConnect},
		"endless header": {func(w http.ResponseWriter, _ *http.Request) { endlessHeader(w) }, webhook.ErrConnect},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := to(t, serve(t, c.handler), webhook.Hook{Tries: 1, Timeout: duration(time.Minute)})
			_, err := w.Decide(t.Context(), event())
			failed(t, err, c.is)
		})
	}
	t.Run("exactly the limit", func(t *testing.T) {
		t.Parallel()
		body := `{"effect":"allow"}`
		s := serve(t, answer(200, "application/json", body))
		_, err := to(t, s, webhook.Hook{MaxResponse: len(body)}).Decide(t.Context(), event())
		require.NoError(t, err)
		_, err = to(t, s, webhook.Hook{MaxResponse: len(body) - 1}).Decide(t.Context(), event())
		failed(t, err, webhook.ErrAnswer)
	})
	t.Run("nobody reads what a handler gets", func(t *testing.T) {
		t.Parallel()
		require.NoError(t, to(t, serve(t, endless), webhook.Hook{Tries: 1}).Handle(t.Context(), notification()))
	})
}

func early(w http.ResponseWriter) {
	w.Header().Set("X", strings.Repeat("x", 1000))
	for range 10_000 {
		w.WriteHeader(http.StatusEarlyHints)
	}
}

func endlessHeader(w http.ResponseWriter) {
	conn, _, err := w.(http.Hijacker).Hijack()
	if err != nil {
		panic(err)
	}
	defer func() { _ = conn.Close() }()
	_, err = io.WriteString(conn, "HTTP/1.1 200 OK\r\nX: ")
	for err == nil {
		_, err = io.WriteString(conn, strings.Repeat("x", 4096))
	}
}

// reset closes the connection the hard way, after it read the request.
func reset(w http.ResponseWriter, r *http.Request) {
	_, _ = io.Copy(io.Discard, r.Body)
	conn, _, err := w.(http.Hijacker).Hijack()
	if err != nil {
		panic(err)
	}
	_ = conn.(*net.TCPConn).SetLinger(0)
	_ = conn.Close()
}

func TestConcurrencyIsLimited(t *testing.T) {
	t.Parallel()
	const limit, calls = 3, 24
	var now, most atomic.Int32
	full, release := make(chan struct{}), make(chan struct{})
	var once sync.Once
	s := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		n := now.Add(1)
		defer now.Add(-1)
		for m := most.Load(); n > m && !most.CompareAndSwap(m, n); m = most.Load() {
		}
		if n == limit {
			once.Do(func() { close(full) })
		}
		<-release
		w.WriteHeader(http.StatusNoContent)
	})
	w := to(t, s, webhook.Hook{Concurrency: limit, Timeout: duration(patience)})
	var wg sync.WaitGroup
	for i := range calls {
		wg.Go(func() {
			if i%2 == 0 {
				_, err := w.Decide(t.Context(), event())
				assert.NoError(t, err)
			} else {
				assert.NoError(t, w.Handle(t.Context(), notification()))
			}
		})
	}
	wait(t, full)
	close(release)
	wg.Wait()
	assert.LessOrEqual(t, most.Load(), int32(limit))

	// Whoever finds no place in time is told so.
	blocked := make(chan struct{})
	slow := serve(t, func(_ http.ResponseWriter, r *http.Request) {
		close(blocked)
		hang(r)
	})
	quick := to(t, slow, webhook.Hook{Concurrency: 1, Timeout: duration(patience)})
	ctx, cancel := context.WithCancel(t.Context())
	wg.Go(func() {
		_, err := quick.Decide(ctx, event())
		assert.Error(t, err)
	})
	wait(t, blocked)
	short, stop := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer stop()
	_, err := quick.Decide(short, event())
	failed(t, err, webhook.ErrTimedOut)
	assert.Contains(t, err.Error(), "all 1 places")
	cancel()
	wg.Wait()
}

func TestConnectionsAreUsedAgain(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	peers := map[string]bool{}
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		peers[r.RemoteAddr] = true
		mu.Unlock()
		answer(200, "application/json", `{"effect":"allow"}`)(w, r)
	})
	w := to(t, s, webhook.Hook{})
	for range 10 {
		_, err := w.Decide(t.Context(), event())
		require.NoError(t, err)
		require.NoError(t, w.Handle(t.Context(), notification()))
	}
	mu.Lock()
	assert.Len(t, peers, 1)
	mu.Unlock()

	// An idle connection that the endpoint closed costs no failure.
	s.CloseClientConnections()
	once := to(t, s, webhook.Hook{Tries: 1})
	_, err := once.Decide(t.Context(), event())
	require.NoError(t, err)
	s.CloseClientConnections()
	_, err = once.Decide(t.Context(), event())
	require.NoError(t, err)
}
