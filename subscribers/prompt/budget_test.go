package prompt

import (
	"context"
	"errors"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// scripted is a vendor in virtual time.
type scripted func(ctx context.Context, attempt int) (reply, error)

type scriptedVendor struct {
	f scripted
	n atomic.Int64
}

func (v *scriptedVendor) complete(ctx context.Context, _ document) (reply, error) {
	return v.f(ctx, int(v.n.Add(1)))
}

func judgeOf(t *testing.T, o *Options, prices Prices, f scripted) (*Judge, *scriptedVendor) {
	t.Helper()
	h := Hook{Name: "safety", Prompt: "Judge $PROMPT", MaxTokens: 100}
	j, err := New(h, Model{Provider: "x", BaseURL: "http://localhost/v1", Name: "m", Prices: prices}, o)
	require.NoError(t, err)
	v := &scriptedVendor{f: f}
	j.vendor = v
	return j, v
}

func deny(u Usage) (reply, error) { return reply{text: `{"decision":"deny"}`, usage: u}, nil }

func status(code int, retryAfter time.Duration) error {
	return &callError{status: code, retryAfter: retryAfter, cause: errors.New("x")}
}

func budget(t *testing.T, l Limits) *Budget {
	t.Helper()
	b, err := NewBudget(l)
	require.NoError(t, err)
	return b
}

func TestRetriesInTime(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		f        scripted
		attempts int64
		least    time.Duration
		most     time.Duration
		is       error
	}{
		"backs off": {func(_ context.Context, n int) (reply, error) {
			if n < 3 {
				return reply{}, status(529, 0)
			}
			return deny(Usage{})
		}, 3, 750 * time.Millisecond, 2250 * time.Millisecond, nil},
		"does as it is told": {func(_ context.Context, n int) (reply, error) {
			if n == 1 {
				return reply{}, status(429, 7*time.Second)
			}
			return deny(Usage{})
		}, 2, 7 * time.Second, 7 * time.Second, nil},
		"gives up at once when the wait is too long": {func(context.Context, int) (reply, error) {
			return reply{}, status(429, 31*time.Second)
		}, 1, 0, 0, context.DeadlineExceeded},
		"gives up after three": {func(context.Context, int) (reply, error) { return reply{}, status(500, 0) }, 3, 750 * time.Millisecond, 2250 * time.Millisecond, ErrModel},
		"ends in time": {func(ctx context.Context, _ int) (reply, error) {
			<-ctx.Done()
			return reply{}, newCallError(ctx, nil, ctx.Err())
		}, 1, 30 * time.Second, 30 * time.Second, context.DeadlineExceeded},
		"ends in time, after retries": {func(ctx context.Context, n int) (reply, error) {
			if n == 1 {
				return reply{}, status(503, 20*time.Second)
			}
			<-ctx.Done()
			return reply{}, newCallError(ctx, nil, ctx.Err())
		}, 2, 30 * time.Second, 30 * time.Second, context.DeadlineExceeded},
		"does not adapt for ever": {func(context.Context, int) (reply, error) {
			return reply{}, &callError{status: http.StatusBadRequest, adapted: true, cause: errors.New("x")}
		}, 1 + maxAdapted, 0, 0, ErrModel},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				j, v := judgeOf(t, nil, Prices{}, c.f)
				began := time.Now()
				a, err := j.Ask(t.Context(), Question{Prompt: "ls"})
				took := time.Since(began)
				if c.is == nil {
					require.NoError(t, err)
				} else {
					require.ErrorIs(t, err, c.is)
					require.ErrorIs(t, err, ErrModel)
				}
				assert.Equal(t, c.attempts, v.n.Load())
				assert.EqualValues(t, c.attempts, a.Attempts)
				assert.GreaterOrEqual(t, took, c.least)
				assert.LessOrEqual(t, took, c.most)
			})
		})
	}
}

func TestCallerMayLeave(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		j, _ := judgeOf(t, nil, Prices{}, func(context.Context, int) (reply, error) { return reply{}, status(429, 20*time.Second) })
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(time.Second, cancel)
		began := time.Now()
		_, err := j.Ask(ctx, Question{Prompt: "ls"})
		require.ErrorIs(t, err, context.Canceled)
		assert.Equal(t, time.Second, time.Since(began))
	})
}

func TestBudgetSlides(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := budget(t, Limits{Requests: 2})
		j, v := judgeOf(t, &Options{Budget: b}, Prices{}, func(context.Context, int) (reply, error) { return deny(Usage{10, 5}) })
		ask := func() error {
			_, err := j.Ask(t.Context(), Question{Prompt: "ls"})
			return err
		}
		wait := func(d time.Duration) { <-time.After(d) }
		require.NoError(t, ask())
		wait(30 * time.Minute)
		require.NoError(t, ask())
		require.ErrorIs(t, ask(), ErrBudget)
		require.ErrorContains(t, ask(), "in 30m0s")
		assert.Equal(t, Spent{Requests: 2, Tokens: 30}, b.Spent())
		wait(30*time.Minute - 1)
		require.ErrorIs(t, ask(), ErrBudget)
		wait(1)
		require.NoError(t, ask())
		require.ErrorIs(t, ask(), ErrBudget)
		wait(time.Hour)
		assert.Equal(t, Spent{}, b.Spent())
		assert.EqualValues(t, 3, v.n.Load(), "what is not paid for is not sent")
	})
}

func TestBudgetOfTokensAndMoney(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		prices := Prices{Input: 3, Output: 15}
		b := budget(t, Limits{Money: 1})
		j, _ := judgeOf(t, &Options{Budget: b, Retries: 1}, prices, func(_ context.Context, n int) (reply, error) {
			switch n {
			case 1:
				return reply{}, status(529, 0) // refused: costs nothing
			case 2:
				return deny(Usage{100_000, 10_000})
			case 3:
				return deny(Usage{}) // not told: costs what was reserved
			}
			return deny(Usage{1 << 60, 1 << 60}) // a liar
		})
		a, err := j.Ask(t.Context(), Question{Prompt: "ls"})
		require.NoError(t, err)
		assert.InDelta(t, 0.45, a.Cost, 1e-9)
		assert.Equal(t, Usage{100_000, 10_000}, a.Usage)
		assert.Equal(t, 2, b.Spent().Requests)
		assert.InDelta(t, 0.45, b.Spent().Money, 1e-9)

		a, err = j.Ask(t.Context(), Question{Prompt: "ls"})
		require.NoError(t, err)
		assert.Equal(t, int64(100), a.Usage.Output)
		assert.Greater(t, a.Usage.Input, int64(2000), "a token for each byte")

		_, err = j.Ask(t.Context(), Question{Prompt: "ls"})
		require.NoError(t, err)
		_, err = j.Ask(t.Context(), Question{Prompt: "ls"})
		require.ErrorIs(t, err, ErrBudget)

		j, v := judgeOf(t, &Options{Budget: budget(t, Limits{Tokens: 1000})}, prices, nil)
		_, err = j.Ask(t.Context(), Question{Prompt: "ls"})
		require.ErrorIs(t, err, ErrBudget)
		assert.ErrorContains(t, err, "one request may need more tokens")
		assert.Zero(t, v.n.Load())
	})
}

// However many ask at once, the caps hold at every moment.
func TestBudgetUnderConcurrency(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		limits := Limits{Requests: rapid.IntRange(0, 30).Draw(rt, "requests"), Tokens: rapid.Int64Range(0, 40_000).Draw(rt, "tokens")}
		callers := rapid.IntRange(1, 40).Draw(rt, "callers")
		synctest.Test(t, func(t *testing.T) {
			b := budget(t, limits)
			var sent, tokens atomic.Int64
			work := func(_ context.Context, n int) (reply, error) {
				<-time.After(time.Duration(n%7) * time.Second)
				s := b.Spent()
				if limits.Requests > 0 && s.Requests > limits.Requests || limits.Tokens > 0 && s.Tokens > limits.Tokens {
					t.Errorf("%+v is over %+v", s, limits)
				}
				sent.Add(1)
				u := Usage{Input: int64(200 * (n%3 + 1)), Output: int64(n % 90)}
				tokens.Add(u.Input + u.Output)
				return deny(u)
			}
			judges := make([]*Judge, 3)
			for i := range judges {
				judges[i], _ = judgeOf(t, &Options{Budget: b}, Prices{}, work)
			}
			var wg sync.WaitGroup
			var refused atomic.Int64
			for i := range callers {
				wg.Go(func() {
					<-time.After(time.Duration(i%5) * time.Second)
					if _, err := judges[i%3].Ask(t.Context(), Question{Prompt: "ls"}); err != nil {
						assert.ErrorIs(t, err, ErrBudget)
						refused.Add(1)
					}
				})
			}
			wg.Wait()
			assert.EqualValues(t, callers, sent.Load()+refused.Load())
			s := b.Spent()
			assert.EqualValues(t, sent.Load(), s.Requests)
			assert.Equal(t, tokens.Load(), s.Tokens)
			if limits.Requests > 0 {
				assert.LessOrEqual(t, s.Requests, limits.Requests)
			}
		})
	})
}

func TestRetryAfter(t *testing.T) {
	t.Parallel()
	for value, want := range map[string]time.Duration{
		"": 0, "3": 3 * time.Second, "0.5": 500 * time.Millisecond, "-1": 0, "NaN": 0, "soon": 0, "1e300": 24 * time.Hour, "Inf": 24 * time.Hour,
		"Thu, 01 Jan 1970 00:00:00 GMT": 0, "Thu, 01 Jan 2099 00:00:00 GMT": 24 * time.Hour,
	} {
		assert.Equal(t, want, retryAfter(http.Header{"Retry-After": {value}}), value)
	}
	assert.Equal(t, 40*time.Millisecond, retryAfter(http.Header{"Retry-After-Ms": {"40"}, "Retry-After": {"3"}}))
}
