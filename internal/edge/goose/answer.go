package goose

import (
	"github.com/grapnel-dev/grapnel/internal/edge/hookwire"
	"github.com/grapnel-dev/grapnel/internal/edge/protocol"
)

// output is what Goose reads.
type output struct {
	Decision string `json:"decision"`
	Reason   string `json:"reason"`
}

func say(r *protocol.Reply) hookwire.Response {
	if !r.Blocked() {
		return hookwire.Response{} // {} would be no decision
	}
	exit := 0
	if r.Event.Block {
		exit = 2
	}
	return protocol.JSON(exit, output{"block", r.Reason}, r.Reason)
}
