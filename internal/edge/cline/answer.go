package cline

import (
	"github.com/grapnel-dev/grapnel/internal/edge/hookwire"
	"github.com/grapnel-dev/grapnel/internal/edge/protocol"
)

// output is what Cline reads; cancel has to be there.
type output struct {
	Cancel  bool   `json:"cancel"`
	Context string `json:"contextModification,omitempty"`
	Error   string `json:"errorMessage,omitempty"`
}

func say(r *protocol.Reply) hookwire.Response {
	if r.Blocked() {
		return protocol.JSON(2, output{Cancel: true, Error: r.Reason}, r.Reason)
	}
	return protocol.JSON(0, output{Context: r.Context}, "")
}
