package codemie

import (
	"encoding/json"

	"github.com/grapnel-dev/grapnel/bus/hook"
	"github.com/grapnel-dev/grapnel/internal/strictjson"
	"github.com/grapnel-dev/grapnel/subscribers/command/dialect"
)

// heading stands above what SessionStart hooks add to the context.
const heading = "[SessionStart Hook Output]:"

// merge makes one answer of several: block over deny over approve over allow.
// An ask, which only a failure policy can say, stands between deny and approve.
func merge(c *dialect.Call, answers []dialect.Answer) dialect.Answer {
	var out dialect.Answer
	highest := 0
	for _, a := range answers {
		switch p := priority(a); {
		case p > highest:
			highest = p
			out.Effect, out.Reason, out.Metadata = a.Effect, a.Reason, a.Metadata
		case p == highest && p > 0:
			out.Effect = max(out.Effect, a.Effect)
			out.Reason = dialect.Lines(out.Reason, a.Reason)
		}
		out.Retry = out.Retry || a.Retry
		out.Context = dialect.Lines(out.Context, a.Context)
		out.Message = dialect.Lines(out.Message, a.Message)
		out.Warning = dialect.Lines(out.Warning, a.Warning)
		out.Patch = joined(out.Patch, a.Patch)
	}
	out.Retry = out.Retry && out.Effect >= hook.Deny
	if c.Name == sessionStart && out.Context != "" {
		out.Context = heading + "\n" + out.Context
	}
	return out
}

func priority(a dialect.Answer) int {
	if a.Effect == hook.Ask {
		return 3
	}
	switch decisionOf(a) {
	case block:
		return 5
	case deny:
		return 4
	case approve:
		return 2
	case allow:
		return 1
	}
	return 0
}

// joined merges two patches; the later members win. Both were checked when they
// were read.
func joined(before, after json.RawMessage) json.RawMessage {
	if before == nil || after == nil {
		return append(before, after...)
	}
	var members, changes map[string]json.RawMessage
	if strictjson.UnmarshalOpen(before, &members, 0) != nil || strictjson.UnmarshalOpen(after, &changes, 0) != nil {
		return after
	}
	for name, value := range changes {
		members[name] = value
	}
	text, err := marshal(members)
	if err != nil {
		return after
	}
	return text
}
