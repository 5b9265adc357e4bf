package antigravity

import (
	"github.com/grapnel-dev/grapnel/bus/hook"
	"github.com/grapnel-dev/grapnel/internal/edge/hookwire"
	"github.com/grapnel-dev/grapnel/internal/edge/protocol"
)

// output is what Antigravity reads; a key that it does not know is an answer
// that it cannot read.
type output struct {
	Decision string   `json:"decision,omitempty"`
	Reason   string   `json:"reason,omitempty"`
	Steps    []inject `json:"injectSteps,omitempty"`
}

// inject is a step for the model alone, which is gone after the request.
type inject struct {
	Message string `json:"ephemeralMessage"`
}

func say(r *protocol.Reply) hookwire.Response {
	o := output{Reason: r.Reason}
	switch {
	case r.Event.Continue && r.Blocked():
		o.Decision = "continue"
	case r.Blocked():
		o.Decision = "deny"
	case r.Effect == hook.Ask:
		o.Decision = "force_ask"
	case r.Effect == hook.Allow:
		o.Decision = "allow"
	case r.Context != "":
		o = output{Steps: []inject{{r.Context}}}
	default:
		return hookwire.Response{} // {} would deny
	}
	return protocol.JSON(0, o, "")
}
