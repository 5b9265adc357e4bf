package kirocli

import (
	"github.com/grapnel-dev/grapnel/internal/edge/hookwire"
	"github.com/grapnel-dev/grapnel/internal/edge/protocol"
)

func say(r *protocol.Reply) hookwire.Response {
	switch {
	case r.Blocked():
		return hookwire.Response{Exit: 2, Stderr: []byte(r.Reason + "\n")}
	case r.Context != "":
		return hookwire.Response{Stdout: []byte(r.Context + "\n")}
	}
	return hookwire.Response{}
}
