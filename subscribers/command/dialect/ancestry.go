package dialect

import (
	"fmt"
	"strconv"

	"github.com/grapnel-dev/grapnel/bus/hook"
	"github.com/grapnel-dev/grapnel/subscribers/command"
)

// circular reports why a hook must not run for an event that hooks led to.
func circular(h Hook, e hook.Event) error {
	switch {
	case e.Hops > hook.MaxHops:
		return fmt.Errorf("%w: %d hooks led to this event, and hooks run after %d at most", command.ErrCircular, e.Hops, hook.MaxHops)
	case e.Descended(h.ID()):
		return fmt.Errorf("%w: hook %s led to this event itself", command.ErrCircular, h.Label())
	}
	return nil
}

// marks are the variables by which what a hook causes is known as caused by
// it.
func marks(h Hook, e hook.Event) []string {
	list := []string{
		"GRAPNEL_EVENT_ID=" + e.ID,
		"GRAPNEL_CAUSATION_ID=" + e.ID,
		// Whoever reads it counts this hook as one more.
		"GRAPNEL_HOPS=" + strconv.Itoa(e.Hops),
		"GRAPNEL_ANCESTRY=" + e.Ancestry(h.ID()),
	}
	if e.CorrelationID != "" {
		list = append(list, "GRAPNEL_CORRELATION_ID="+e.CorrelationID)
	}
	if e.TraceParent != "" {
		list = append(list, "GRAPNEL_TRACEPARENT="+e.TraceParent)
	}
	return list
}
