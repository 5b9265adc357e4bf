package webhook

import (
	"context"
	"errors"
	"time"

	"github.com/grapnel-dev/grapnel/bus/hook"
)

// Execution is what became of one event, as it is traced. It holds no header,
// no body and no more of the URL than the host.
type Execution struct {
	Hook      string    `json:"hook"`
	Host      string    `json:"host"` // with its scheme
	EventID   string    `json:"event_id"`
	Event     string    `json:"event"` // its key, "pre_tool_use.bash"
	SessionID string    `json:"session_id,omitempty"`
	MessageID string    `json:"message_id,omitempty"` // the webhook-id
	Started   time.Time `json:"started"`
	// DurationMS is in milliseconds, over all tries and waits.
	DurationMS float64 `json:"duration_ms"`
	Tries      int     `json:"tries"`
	// Status is the last response's, 0 where there was none.
	Status  int     `json:"status,omitempty"`
	Outcome Outcome `json:"outcome"`
	// Effect is the decision's on a blocking event that was answered.
	Effect *hook.Effect `json:"effect,omitempty"`
	Reason string       `json:"reason,omitempty"`
	// Error says what went wrong.
	Error string `json:"error,omitempty"`
}

// Outcome says how it ended.
type Outcome string

// The outcomes.
const (
	Decided  Outcome = "decided"   // it answered a blocking event
	Handled  Outcome = "handled"   // it took a notification event
	NotSent  Outcome = "not_sent"  // the event or the address stood against it
	TimedOut Outcome = "timeout"   // its time was up
	Failed   Outcome = "failed"    // it refused or was not to be reached
	Garbled  Outcome = "malformed" // its answer is no decision
)

// execute makes the message of an event, sends it and tells about it.
func (w *Webhook) execute(ctx context.Context, e hook.Event, send func(Message, *Execution) error) error {
	x := Execution{
		Hook: w.hook.Name, Host: w.target.String(), EventID: e.ID, Event: e.Key(), SessionID: e.SessionID, Started: time.Now(),
	}
	m, err := w.message(e)
	if err == nil {
		x.MessageID = m.ID
		err = send(m, &x)
	}
	x.DurationMS = float64(time.Since(x.Started)) / float64(time.Millisecond)
	if err != nil {
		x.Outcome, x.Error = outcome(err), err.Error()
		w.log.WarnContext(ctx, "webhook: hook failed", "hook", x.Hook, "event", x.Event, "event_id", x.EventID,
			"message_id", x.MessageID, "outcome", string(x.Outcome), "tries", x.Tries, "status", x.Status, "error", err)
	}
	if w.trace != nil {
		w.trace(x)
	}
	return err
}

func outcome(err error) Outcome {
	switch {
	case errors.Is(err, ErrMessage), errors.Is(err, ErrAddress):
		return NotSent
	case errors.Is(err, ErrTimedOut):
		return TimedOut
	case errors.Is(err, ErrAnswer):
		return Garbled
	}
	return Failed
}
