package clinetest

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/grapnel-dev/grapnel/internal/edge/protocol/protocoltest"
)

// answer is the whole of it; cancel is required.
type answer struct {
	Cancel  *bool  `json:"cancel"`
	Context string `json:"contextModification"`
	Error   string `json:"errorMessage"`
}

// mostContext is where a context is cut, in bytes.
const mostContext = 50 << 10

// Run says what Cline does with a hook's answer.
func Run(s protocoltest.Situation, p protocoltest.Process) protocoltest.Outcome {
	var out protocoltest.Outcome
	// What is over cannot be blocked.
	over := slices.Contains([]string{"PostToolUse", "Notification", "TaskCancel", "TaskError", "TaskComplete", "SessionShutdown"}, s.Event)
	a, given, readable := read(p.Stdout, &out)
	switch {
	case p.Ending != protocoltest.Exited, given && !readable, !given && p.Exit != 0:
		out.Dropped = given
		out.Blocked = !over
		out.ToUser = append(out.ToUser, "hook failed: "+strings.TrimSpace(p.Stderr))
	case !given:
	case *a.Cancel:
		out.Blocked = !over
		out.ToUser = append(out.ToUser, a.Error)
	case a.Context != "":
		out.ToModel = append(out.ToModel, a.Context[:min(len(a.Context), mostContext)])
	}
	return out
}

// read finds the last JSON object on stdout: what a hook logs may stand before
// it.
func read(stdout string, out *protocoltest.Outcome) (a answer, given, readable bool) {
	text := strings.TrimSpace(stdout)
	if text == "" {
		return a, false, false
	}
	for at := strings.IndexByte(text, '{'); at >= 0; {
		var keys map[string]json.RawMessage
		if json.Unmarshal([]byte(text[at:]), &keys) == nil {
			for key := range keys {
				if !slices.Contains([]string{"cancel", "contextModification", "errorMessage"}, key) {
					out.Unknown = append(out.Unknown, key)
				}
			}
			return a, true, json.Unmarshal([]byte(text[at:]), &a) == nil && a.Cancel != nil
		}
		next := strings.IndexByte(text[at+1:], '{')
		if next < 0 {
			break
		}
		at += 1 + next
	}
	return a, true, false
}
