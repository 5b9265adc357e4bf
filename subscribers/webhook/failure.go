package webhook

import (
	"errors"
	"time"

	"github.com/cenkalti/backoff/v5"
)

// Errors about a call. Each is wrapped with the hook's name and host.
var (
	// ErrConfig: the hook's or client's configuration makes no sense.
	ErrConfig = errors.New("bad webhook configuration")
	// ErrMessage: the event or message cannot be sent; nothing was.
	ErrMessage = errors.New("webhook cannot be given the event")
	// ErrAddress: the endpoint's address is one that must not be reached.
	ErrAddress = errors.New("address is not allowed")
	// ErrConnect: no connection, or it broke before the response was there.
	ErrConnect = errors.New("webhook cannot be reached")
	// ErrTimedOut: the time was up, for one try or for all.
	ErrTimedOut = errors.New("webhook timed out")
	// ErrStatus: the response is no 2xx. [ErrRedirect] and [ErrGone] wrap it.
	ErrStatus = errors.New("webhook refused")
	// ErrRedirect: the response is a 3xx.
	ErrRedirect = errors.New("webhook redirects, which is not followed")
	// ErrGone: the endpoint says that it will never be there again (410).
	ErrGone = errors.New("webhook is gone")
	// ErrAnswer: the response is 2xx and no answer.
	ErrAnswer = errors.New("webhook gave no usable answer")
)

// failure is a try that did not succeed.
type failure struct {
	err error
	// again says that another try may help, and unworked that the endpoint
	// has most likely not worked on this one.
	again, unworked bool
	// after is what the endpoint asked for by Retry-After; zero means nothing.
	after time.Duration
}

func (f *failure) Error() string { return f.err.Error() }

// Unwrap shows the backoff package how long to wait.
func (f *failure) Unwrap() []error {
	if f.after > 0 {
		return []error{f.err, &backoff.RetryAfterError{Duration: f.after}}
	}
	return []error{f.err}
}
