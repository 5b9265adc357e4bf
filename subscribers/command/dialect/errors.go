package dialect

import (
	"context"
	"errors"

	"github.com/grapnel-dev/grapnel/bus/hook"
	"github.com/grapnel-dev/grapnel/runner/process"
	"github.com/grapnel-dev/grapnel/subscribers/command"
)

// Errors of hooks. They are wrapped with the hook and what to do.
var (
	// ErrConfig: the configuration makes no sense.
	ErrConfig = errors.New("bad hook configuration")
	// ErrFailed: the hook did not do what its dialect asks of it: an exit code
	// that says neither yes nor no, an answer that is none. Dialects go on.
	ErrFailed = errors.New("hook failed")
	// ErrFeed: the hook cannot be given the event in full.
	ErrFeed = errors.New("hook cannot be given the event")
	// ErrChanged: its bytes are not those that were approved.
	ErrChanged = errors.New("hook changed since it was approved")
	// ErrUnavailable: there is nobody here to ask: no model, no endpoint.
	ErrUnavailable = errors.New("hook cannot be run here")
)

// goesOn reports whether the documents' "log it and go on" is about an error:
// the hook failed by itself. Everything else could be brought about by whoever
// wants to get past it.
func goesOn(err error) bool {
	// These may wrap one of the others: an approved script that was taken away
	// is not found.
	for _, target := range []error{ErrChanged, ErrFeed, command.ErrCircular, process.ErrSandbox, process.ErrSurvivors} {
		if errors.Is(err, target) {
			return false
		}
	}
	for _, target := range []error{
		ErrFailed, process.ErrNotFound, process.ErrNotExecutable, process.ErrInterpreter, process.ErrDir,
		process.ErrStart, process.ErrTimedOut, process.ErrSignal, context.DeadlineExceeded,
	} {
		if errors.Is(err, target) {
			return true
		}
	}
	return false
}

// onFailure is what a hook's failure counts as: its own word, the host's, or
// the empty policy, which is the dialect's.
func (s *Set) onFailure(h Hook) hook.FailurePolicy {
	if h.OnFailure != hook.FailDefault && (loosens(h.Origin.Source) || h.OnFailure != hook.FailAbstain) {
		return h.OnFailure
	}
	return s.o.OnFailure
}
