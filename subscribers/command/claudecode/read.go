package claudecode

import (
	"strings"

	"github.com/grapnel-dev/grapnel/subscribers/command/claudecode/settings"
	"github.com/grapnel-dev/grapnel/subscribers/command/dialect"
)

// read reads one file of any kind. What the file says about all hooks counts
// for its own; [Settle] is about those of other files.
func read(text []byte, from dialect.Origin) ([]dialect.Hook, []dialect.Problem) {
	f, err := settings.Open(text, from)
	if err != nil {
		return nil, []dialect.Problem{{File: from.File, Text: err.Error()}}
	}
	reading, top := dialect.NewReading(f.JSON, f.From)
	r := reader{reading, f, map[string]bool{}}
	if top == nil {
		return nil, r.Problems
	}
	hooks := top.Object("hooks")
	for _, event := range hooks.Keys() {
		row, ok := rowOf(event)
		if !ok {
			if !otherDialects(event) {
				r.Problem("hooks."+event, "Claude Code has no event of this name")
			}
			continue
		}
		for _, group := range hooks.Objects(event) {
			r.group(row, group)
		}
	}
	kept, problems := Settle([]dialect.Text{{From: f.From, Text: f.JSON}}, r.Hooks)
	return kept, append(r.Problems, problems...)
}

// otherDialects reports whether a key of "hooks" is the claude-agent dialect's,
// which Claude Code passes over.
func otherDialects(event string) bool {
	upper := strings.ToUpper(event[:min(1, len(event))]) + event[min(1, len(event)):]
	_, ok := rowOf(upper)
	return ok && upper != event
}

// reader reads the hooks of one file.
type reader struct {
	*dialect.Reading
	file  settings.File
	names map[string]bool
}

// group reads {"matcher", "hooks": […]}.
func (r reader) group(event row, group *dialect.Object) {
	matcher := group.String("matcher")
	names, match, err := event.compile(matcher)
	if err != nil {
		group.Bad("matcher", "%v", err)
	}
	handlers := group.Objects("hooks")
	if _, there := group.Raw("hooks"); !there {
		r.Problem(group.Where(), "it has no \"hooks\"")
	}
	if group.Failed() {
		return
	}
	for _, o := range handlers {
		h := dialect.Hook{Events: []string{event.event}, Matcher: matcher, Tools: names}
		if event.event == "Stop" && r.file.Kind == settings.Subagent {
			h.Events = []string{"SubagentStop"} // the end of the agent whose file it is
			event, _ = rowOf("SubagentStop")
		}
		if r.handler(event, o, &h) {
			r.match(event, o, &h, match)
			h.Name = r.unique(h.Name)
			r.Add(o, h)
		}
	}
}
