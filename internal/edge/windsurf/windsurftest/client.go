package windsurftest

import (
	"strings"

	"github.com/grapnel-dev/grapnel/internal/edge/protocol/protocoltest"
)

// Run says what Windsurf does with a hook's answer: exit code 2 blocks what has
// not happened yet, and nothing else has an effect. What stands on stdout is at
// most shown.
func Run(s protocoltest.Situation, p protocoltest.Process) protocoltest.Outcome {
	var out protocoltest.Outcome
	if p.Ending != protocoltest.Exited {
		return out
	}
	if text := strings.TrimSpace(p.Stdout); text != "" {
		out.ToUser = append(out.ToUser, text) // with show_output
	}
	if p.Exit == 2 && strings.HasPrefix(s.Event, "pre_") {
		out.Blocked = true
		if why := strings.TrimSpace(p.Stderr); why != "" {
			out.ToModel, out.ToUser = append(out.ToModel, why), append(out.ToUser, why)
		}
	}
	return out
}
