package windsurf

import (
	"github.com/grapnel-dev/grapnel/internal/edge/hookwire"
	"github.com/grapnel-dev/grapnel/internal/edge/protocol"
)

func say(r *protocol.Reply) hookwire.Response {
	if !r.Blocked() {
		return hookwire.Response{}
	}
	return hookwire.Response{Exit: 2, Stderr: []byte(r.Reason + "\n")}
}
