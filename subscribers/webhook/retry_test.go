package webhook_test

import (
	"errors"
	"net"
	"net/http"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/grapnel-dev/grapnel/bus/hook"
	"github.com/grapnel-dev/grapnel/subscribers/webhook"
)

// pipe is a webhook on a connection in memory, so that waits take no time.
func pipe(t *testing.T, h webhook.Hook, handler func(n int) (status int, retryAfter string)) (*webhook.Webhook, *[]time.Time) {
	t.Helper()
	var at []time.Time
	h.Name, h.On, h.URL = "tested", []string{">"}, "https://hooks.example.com/"
	w, err := webhook.New(h, nil)
	require.NoError(t, err)
	webhook.Replace(w, func(*http.Request) (int, http.Header) {
		at = append(at, time.Now())
		status, after := handler(len(at))
		header := http.Header{}
		if after != "" {
			header.Set("Retry-After", after)
		}
		return status, header
	})
	return w, &at
}

func TestDelaysGrowWithFullJitter(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const tries, rounds = 6, 300
		var sum, longest [tries - 1]time.Duration
		for range rounds {
			w, at := pipe(t, webhook.Hook{Tries: tries, RetryFor: duration(10 * time.Minute)}, func(int) (int, string) { return 503, "" })
			err := w.Handle(t.Context(), notification())
			failed(t, err, webhook.ErrStatus)
			assert.Contains(t, err.Error(), "after 6 tries")
			require.Len(t, *at, tries)
			for i := range sum {
				d := (*at)[i+1].Sub((*at)[i])
				sum[i] += d
				longest[i] = max(longest[i], d)
			}
		}
		for i, most := range []time.Duration{1, 2, 4, 8, 16} {
			most *= time.Second
			assert.LessOrEqual(t, longest[i], most+1)
			assert.Greater(t, longest[i], most*9/10, "it draws from the whole range")
			assert.InDelta(t, most.Seconds()/2, (sum[i] / rounds).Seconds(), most.Seconds()*0.12, "evenly")
		}
	})
}

func TestRetryAfterIsHonouredWithinBounds(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		for _, c := range []struct {
			after string
			wait  time.Duration // -1: no second try
		}{
			{"7", 7 * time.Second}, {"30", 30 * time.Second}, {"31", -1}, {"999999999", -1}, {"99999999999999999999", 0}, {"-5", 0}, {"soon", 0},
			{time.Now().Add(20 * time.Second).UTC().Format(http.TimeFormat), 20 * time.Second}, {time.Now().Add(-time.Hour).UTC().Format(http.TimeFormat), 0},
			{time.Now().Add(time.Hour).UTC().Format(http.TimeFormat), -1},
		} {
			start := time.Now()
			w, at := pipe(t, webhook.Hook{Tries: 2}, func(n int) (int, string) {
				if n == 1 {
					return 429, c.after
				}
				return 200, ""
			})
			// Dates are counted from the start of this test.
			err := w.Handle(t.Context(), notification())
			switch {
			case c.wait < 0:
				require.ErrorIs(t, err, webhook.ErrStatus)
				assert.Contains(t, err.Error(), "left alone")
				assert.Len(t, *at, 1)
				assert.Equal(t, start, time.Now())
			default:
				require.NoError(t, err)
				require.Len(t, *at, 2)
				if c.wait > 0 && len(c.after) < 3 {
					assert.Equal(t, c.wait, (*at)[1].Sub((*at)[0]))
				} else {
					assert.LessOrEqual(t, (*at)[1].Sub((*at)[0]), 20*time.Second)
				}
			}
		}
	})
}

func TestTheTimeOfAllTriesIsLimited(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		w, at := pipe(t, webhook.Hook{Tries: 20, RetryFor: duration(10 * time.Second)}, func(int) (int, string) { return 500, "4" })
		failed(t, w.Handle(t.Context(), notification()), webhook.ErrStatus)
		assert.Len(t, *at, 3, "a wait that would end too late is not begun")
		assert.Equal(t, 8*time.Second, time.Since(start))

		// A decider's tries lie within its time-out.
		start = time.Now()
		w, at = pipe(t, webhook.Hook{Tries: 20, Timeout: duration(2 * time.Second)}, func(int) (int, string) { return 503, "" })
		_, err := w.Decide(t.Context(), event())
		failed(t, err, webhook.ErrStatus)
		assert.Greater(t, len(*at), 1)
		assert.LessOrEqual(t, time.Since(start), 2*time.Second)
		start = time.Now()
		w, at = pipe(t, webhook.Hook{Tries: 20, Timeout: duration(2 * time.Second)}, func(int) (int, string) { return 503, "3" })
		_, err = w.Decide(t.Context(), event())
		failed(t, err, webhook.ErrStatus)
		assert.Len(t, *at, 1)
		assert.Equal(t, start, time.Now())
	})
}

// What is tried again, as a handler and as a decider.
func TestWhichStatusesAreTriedAgain(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		asDecider := map[int]bool{408: true, 425: true, 429: true, 502: true, 503: true, 504: true}
		for status := 300; status <= 620; status++ {
			h := webhook.Hook{Tries: 3}
			w, at := pipe(t, h, func(int) (int, string) { return status, "" })
			err := w.Handle(t.Context(), notification())
			require.ErrorIs(t, err, webhook.ErrStatus)
			assert.Len(t, *at, map[bool]int{true: 3, false: 1}[asDecider[status] || status >= 500 && status <= 599], "handler, %d", status)
			assert.Equal(t, status == 410, isGone(err))
			w, at = pipe(t, h, func(int) (int, string) { return status, "" })
			_, err = w.Decide(t.Context(), event())
			require.ErrorIs(t, err, webhook.ErrStatus)
			assert.Len(t, *at, map[bool]int{true: 3, false: 1}[asDecider[status]], "decider, %d", status)
		}
	})
}

// The rest is with real connections.
func TestTriesHaveOneIDAndTheirOwnTime(t *testing.T) {
	t.Parallel()
	for name, fail := range map[string]http.HandlerFunc{
		"503":   answer(503, "", ""),
		"reset": reset,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var mu sync.Mutex
			var requests []http.Header
			s := serve(t, func(w http.ResponseWriter, r *http.Request) {
				mu.Lock()
				requests = append(requests, r.Header.Clone())
				n := len(requests)
				mu.Unlock()
				if n%3 != 0 {
					fail(w, r)
					return
				}
				answer(200, "application/json", `{"effect":"deny","reason":"third time lucky"}`)(w, r)
			})
			var traced webhook.Execution
			w := ready(t, webhook.Hook{URL: s.URL, Tries: 3, Secrets: []string{secretA}, Timeout: duration(patience)},
				webhook.Options{Client: client(t, s), Trace: func(x webhook.Execution) { traced = x }})
			d, err := w.Decide(t.Context(), event())
			require.NoError(t, err)
			assert.Equal(t, hook.Deny, d.Effect)
			assert.Equal(t, 3, traced.Tries)
			assert.Equal(t, webhook.Decided, traced.Outcome)
			require.NoError(t, w.Handle(t.Context(), notification()))
			assert.Equal(t, webhook.Handled, traced.Outcome)
			mu.Lock()
			defer mu.Unlock()
			require.Len(t, requests, 6)
			for i, h := range requests {
				assert.Equal(t, requests[i/3*3].Get("Webhook-Id"), h.Get("Webhook-Id"))
				seconds, err := strconv.ParseInt(h.Get("Webhook-Timestamp"), 10, 64)
				require.NoError(t, err)
				assert.InDelta(t, time.Now().Unix(), seconds, 120)
			}
			assert.NotEqual(t, requests[0].Get("Webhook-Id"), requests[3].Get("Webhook-Id"))

		})
	}
}

func TestEndpointsThatAreNotThere(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	address := l.Addr().String()
	require.NoError(t, l.Close())
	c, err := webhook.NewClient(&webhook.ClientOptions{AllowPrivate: []string{address}})
	require.NoError(t, err)
	t.Cleanup(c.Close)
	w := ready(t, webhook.Hook{URL: "http://" + address, Tries: 2}, webhook.Options{Client: c})
	_, err = w.Decide(t.Context(), event())
	failed(t, err, webhook.ErrConnect)
	assert.Contains(t, err.Error(), "after 2 tries")
	failed(t, w.Handle(t.Context(), notification()), webhook.ErrConnect)
}

func TestAHandlersTryThatHangsIsTriedAgain(t *testing.T) {
	t.Parallel()
	var hits atomic.Int32
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if hits.Add(1) == 1 {
			hang(r)
		}
		w.WriteHeader(http.StatusAccepted)
	})
	w := to(t, s, webhook.Hook{Timeout: duration(2 * time.Second), RetryFor: duration(5 * time.Minute)})
	require.NoError(t, w.Handle(t.Context(), notification()))
	assert.GreaterOrEqual(t, hits.Load(), int32(2))
}

func isGone(err error) bool { return errors.Is(err, webhook.ErrGone) }
