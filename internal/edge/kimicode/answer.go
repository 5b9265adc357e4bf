package kimicode

import (
	"strings"

	"github.com/grapnel-dev/grapnel/internal/edge/hookwire"
	"github.com/grapnel-dev/grapnel/internal/edge/protocol"
)

// output is what Kimi Code reads.
type output struct {
	Message  string    `json:"message,omitempty"`
	Specific *specific `json:"hookSpecificOutput,omitempty"`
}

type specific struct {
	Permission string `json:"permissionDecision"`
	Reason     string `json:"permissionDecisionReason"`
}

func say(r *protocol.Reply) hookwire.Response {
	switch {
	case r.Blocked():
		return protocol.JSON(2, output{Specific: &specific{"deny", r.Reason}}, r.Reason)
	case r.Context == "":
		return hookwire.Response{}
	case strings.HasPrefix(strings.TrimSpace(r.Context), "{"):
		return protocol.JSON(0, output{Message: r.Context}, "") // so that it is not read as an answer
	}
	return hookwire.Response{Stdout: []byte(r.Context + "\n")}
}
