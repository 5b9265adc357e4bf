package dialect

import (
	"strings"

	"github.com/grapnel-dev/grapnel/bus/hook"
)

// Strictest merges answers as most dialects do: the strictest effect wins, with
// the reasons of those that had it; contexts and messages are joined by
// newlines in order; the last rewrite counts. It stands where a dialect's
// document says nothing else.
func Strictest(_ *Call, answers []Answer) Answer {
	var out Answer
	for _, a := range answers {
		if a.Effect > out.Effect {
			out.Effect, out.Reason = a.Effect, ""
		}
		if a.Effect == out.Effect && a.Effect != hook.Abstain {
			out.Reason = Lines(out.Reason, a.Reason)
		}
		out.Context = Lines(out.Context, a.Context)
		out.Message = Lines(out.Message, a.Message)
		out.Warning = Lines(out.Warning, a.Warning)
		out.Quiet = out.Quiet || a.Quiet
		out.Retry = out.Retry || a.Retry
		if a.Rewrite != nil {
			out.Rewrite, out.Patch = a.Rewrite, nil
		}
		if a.Patch != nil {
			out.Patch = a.Patch
		}
	}
	return out
}

// Lines joins texts that are not empty by newlines.
func Lines(texts ...string) string {
	kept := texts[:0:0]
	for _, t := range texts {
		if t != "" {
			kept = append(kept, t)
		}
	}
	return strings.Join(kept, "\n")
}
