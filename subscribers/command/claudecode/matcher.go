package claudecode

import (
	"encoding/json"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/grapnel-dev/grapnel/bus/hook"
	"github.com/grapnel-dev/grapnel/internal/strictjson"
	"github.com/grapnel-dev/grapnel/subscribers/command/dialect"
)

// Matchers that are lists of names, and those of StopFailure.
var (
	nameList  = regexp.MustCompile(`^[A-Za-z0-9_\- ,|]+$`)
	exactList = regexp.MustCompile(`^[A-Za-z0-9_|]+$`)
)

// compile makes a matcher of the text in a group. No function means that all
// calls are matched; names are the tools' where it is a list of such.
func (r row) compile(matcher string) (names []string, match func(*dialect.Call) bool, err error) {
	switch {
	case r.subject == nothing, matcher == "", matcher == "*":
		return nil, nil, nil
	case r.subject == fileName:
		names = split(matcher, "|")
	case r.subject == failure && exactList.MatchString(matcher):
		names = split(matcher, "|")
	case r.subject != failure && nameList.MatchString(matcher):
		names = split(matcher, "|,")
	default:
		re, err := dialect.Somewhere(matcher)
		if err != nil {
			return nil, nil, err
		}
		return nil, r.tested(re.MatchString), nil
	}
	listed := names // names itself is cleared below
	match = r.tested(func(s string) bool { return slices.Contains(listed, s) })
	if !r.tool() {
		return nil, match, nil
	}
	return names, match, nil
}

// split makes a list of the names between separators.
func split(text, separators string) []string {
	names := []string{}
	for part := range strings.FieldsFuncSeq(text, func(r rune) bool { return strings.ContainsRune(separators, r) }) {
		if part = strings.TrimSpace(part); part != "" {
			names = append(names, part)
		}
	}
	return names
}

func (r row) tested(test func(string) bool) func(*dialect.Call) bool {
	return func(c *dialect.Call) bool { return slices.ContainsFunc(r.values(c), test) }
}

// values are what a matcher is tested against: the input field of Claude Code,
// or what comes nearest to it in the event of another agent.
func (r row) values(c *dialect.Call) []string {
	d := c.Event.Data
	switch r.subject {
	case toolName:
		return c.Names()
	case source:
		return []string{sessionSource(c)}
	case reason:
		return []string{reasonOf(c)}
	case commandName:
		return []string{native(c, "command_name", c.Event.Subject)}
	case server:
		return []string{native(c, "mcp_server_name", c.Event.Subject)}
	case notice:
		return []string{native(c, "notification_type", d.Reason)}
	case agentType:
		if d.Subagent != nil {
			return []string{d.Subagent.Type}
		}
	case failure:
		return []string{d.Error}
	case model:
		return []string{d.Model}
	case fileName:
		return []string{path.Base(strings.ReplaceAll(d.Path, `\`, "/"))}
	}
	return nil
}

// native is a text of Claude Code's own payload, or else the other value.
func native(c *dialect.Call, key, otherwise string) string {
	n := c.Event.Data.Native
	if n.Agent != Agent || len(n.Payload) == 0 {
		return otherwise
	}
	var members map[string]json.RawMessage
	if strictjson.UnmarshalOpen(n.Payload, &members, 0) != nil {
		return otherwise
	}
	var s string
	if strictjson.Unmarshal(members[key], &s, 0) != nil {
		return otherwise
	}
	return s
}

// sessionSource is Claude Code's word for how a session began.
func sessionSource(c *dialect.Call) string {
	switch s := c.Event.Data.Reason; {
	case slices.Contains([]string{"startup", "resume", "clear", "compact", "fork"}, s):
		return s
	case c.Event.Name == hook.SessionResume:
		return "resume"
	}
	return "startup"
}

// reasonOf is the event's reason in Claude Code's words, where these are a
// closed list and another agent has others.
func reasonOf(c *dialect.Call) string {
	s := c.Event.Data.Reason
	known, otherwise := []string(nil), ""
	switch c.Name {
	case "PreCompact", "PostCompact":
		known, otherwise = []string{"manual", "auto"}, "auto"
	case "SessionEnd":
		known, otherwise = []string{"clear", "resume", "logout", "prompt_input_exit", "other"}, "other"
	case "Setup":
		known, otherwise = []string{"init", "maintenance"}, "init"
	default:
		return s
	}
	if c.Event.Data.Native.Agent == Agent || slices.Contains(known, s) {
		return s
	}
	return otherwise
}
