package opencode

import (
	"encoding/json"

	"github.com/grapnel-dev/grapnel/internal/edge/hookwire"
	"github.com/grapnel-dev/grapnel/internal/edge/protocol"
)

// answer is what the plugin reads.
type answer struct {
	Decision string  `json:"decision,omitempty"`
	Reason   string  `json:"reason,omitempty"`
	Output   *output `json:"output,omitempty"`
}

type output struct {
	Args json.RawMessage `json:"args"`
}

func say(r *protocol.Reply) hookwire.Response {
	switch {
	case r.Blocked():
		return protocol.JSON(2, answer{Decision: "block", Reason: r.Reason}, r.Reason)
	case r.Input != nil:
		return protocol.JSON(0, answer{Output: &output{Args: r.Input}}, "")
	}
	return protocol.JSON(0, answer{}, "")
}
