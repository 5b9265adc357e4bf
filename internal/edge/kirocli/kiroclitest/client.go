package kiroclitest

import (
	"slices"
	"strings"

	"github.com/grapnel-dev/grapnel/internal/edge/protocol/protocoltest"
)

// Run says what Kiro CLI does with a hook's answer. Events whose names begin
// with a small letter are those of version 2.
func Run(s protocoltest.Situation, p protocoltest.Process) protocoltest.Outcome {
	var out protocoltest.Outcome
	second := s.Event[0] >= 'a' && s.Event != "manual"
	blocks, tells := []string{"PreToolUse", "UserPromptSubmit", "PreTaskExec"}, true
	if second {
		blocks, tells = []string{"preToolUse"}, s.Event == "agentSpawn" || s.Event == "userPromptSubmit"
	}
	text, why := strings.TrimSpace(p.Stdout), strings.TrimSpace(p.Stderr)
	switch {
	case p.Ending != protocoltest.Exited:
	case p.Exit == 0:
		if tells && text != "" {
			out.ToModel = append(out.ToModel, text)
		}
	case p.Exit == 2 && slices.Contains(blocks, s.Event):
		out.Blocked = true
		out.ToModel = append(out.ToModel, why)
	default:
		out.ToUser = append(out.ToUser, why) // a warning
	}
	return out
}
