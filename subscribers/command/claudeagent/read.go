package claudeagent

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/grapnel-dev/grapnel/internal/strictjson"
	"github.com/grapnel-dev/grapnel/subscribers/command/claudecode"
	"github.com/grapnel-dev/grapnel/subscribers/command/claudecode/settings"
	"github.com/grapnel-dev/grapnel/subscribers/command/dialect"
)

// read reads one file of any kind.
func read(text []byte, from dialect.Origin) ([]dialect.Hook, []dialect.Problem) {
	f, err := settings.Open(text, from)
	if err != nil {
		return nil, []dialect.Problem{{File: from.File, Text: err.Error()}}
	}
	reading, top := dialect.NewReading(f.JSON, f.From)
	r := &reader{reading, f, map[string]bool{}}
	if top == nil {
		return nil, r.Problems
	}
	disabled, _ := top.Bool("disableAllHooks")
	hooks := top.Object("hooks")
	theirs := claudecode.New().Vocabulary.Names()
	for _, key := range hooks.Keys() {
		event, pascal, ok := rowOf(key)
		if !ok {
			if !slices.Contains(theirs, key) {
				r.Problem("hooks."+key, "there is no event of this name")
			}
			continue
		}
		if event.event == "Stop" && f.Kind == settings.Subagent {
			event, _, _ = rowOf("SubagentStop") // the end of the agent whose file it is
		}
		r.event(event, pascal, key, hooks)
	}
	for i := range r.Hooks {
		r.Hooks[i].Disabled = disabled
	}
	return r.Hooks, r.Problems
}

// reader reads the hooks of one file.
type reader struct {
	*dialect.Reading
	file  settings.File
	names map[string]bool
}

// event reads what stands under an event's key: the form tells which it is.
func (r *reader) event(event row, pascal bool, key string, hooks *dialect.Object) {
	raw, there := hooks.Raw(key)
	if !there {
		return
	}
	switch raw[0] {
	case '{':
		r.own(false)
		r.named(event, hooks.Object(key))
	case '[':
		list := hooks.Array(key)
		texts := 0
		for _, element := range list {
			if element[0] == '"' {
				texts++
			}
		}
		switch texts {
		case 0:
			r.own(pascal)
			for _, group := range hooks.Objects(key) {
				r.rule(event, group)
			}
		case len(list):
			r.own(false)
			for i, element := range list {
				r.text(event, "", fmt.Sprintf("%s[%d]", hooks.Path(key), i), element)
			}
		default:
			r.Problem(hooks.Path(key), "the list mixes commands and groups; write it as a list of one or the other")
		}
	default:
		r.Problem(hooks.Path(key), "it is no object of named hooks, and no list of commands or groups")
	}
}

// own says whether Claude Code runs the hooks that follow itself: those in its
// own form under its own spelling. All others it passes over.
func (r *reader) own(theirs bool) { r.From.Own = r.file.From.Own && theirs }

// named reads {"name": {"command", …} or "command", …}.
func (r *reader) named(event row, hooks *dialect.Object) {
	for _, name := range hooks.Keys() {
		raw, there := hooks.Raw(name)
		switch {
		case !there:
		case raw[0] == '"':
			r.text(event, name, hooks.Path(name), raw)
		case raw[0] != '{':
			r.Problem(hooks.Path(name), "it is no command and no object with one")
		default:
			o := hooks.Object(name)
			if o == nil {
				continue
			}
			h := dialect.Hook{Name: name, Events: []string{event.event}, Priority: o.Int("priority"), Env: o.StringMap("env")}
			o.Extras(&h)
			h.Timeout = o.Number("timeout_secs", time.Second)
			r.command(o, &h)
			r.match(event, o, o.String("matcher"), &h)
			r.add(o, h)
		}
	}
}

// text reads a hook that is a command and nothing else.
func (r *reader) text(event row, name, where string, raw json.RawMessage) {
	h := dialect.Hook{Name: name, Events: []string{event.event}}
	if err := strictjson.Unmarshal(raw, &h.Shell, 0); err != nil || strings.TrimSpace(h.Shell) == "" {
		r.Problem(where, "it is no command")
		return
	}
	if settings.IsRegistration(h.Shell, nil) {
		return
	}
	if r.file.Kind == settings.Subagent {
		h.Matches = r.file.Selects
	}
	h.Name = r.unique(h.Name, event)
	r.AddPlain(where, raw, false, h)
}

// rule reads a HookRule: {"matcher", "hooks": [HookAction, …]}.
func (r *reader) rule(event row, group *dialect.Object) {
	if _, there := group.Raw("hooks"); !there {
		r.Problem(group.Where(), "it has no \"hooks\"")
		return
	}
	matcher := group.String("matcher")
	for _, o := range group.Objects("hooks") {
		h := dialect.Hook{Events: []string{event.event}, Priority: o.Int("priority")}
		o.Extras(&h)
		if kind := o.String("type"); kind != "" && kind != "command" {
			r.Problem(o.Where(), "hooks of type %.40q are not known to claude-agent; it has command hooks alone", kind)
			continue
		}
		h.Timeout = o.Number("timeout", time.Second)
		r.command(o, &h)
		r.match(event, o, matcher, &h)
		if group.Failed() {
			continue
		}
		r.add(o, h)
	}
}

func (r *reader) command(o *dialect.Object, h *dialect.Hook) {
	text := o.String("command")
	if strings.TrimSpace(text) == "" {
		o.Bad("command", "there is none")
		return
	}
	if _, exec := o.Raw("args"); !exec {
		h.Shell = text
		return
	}
	h.Command = append([]string{text}, o.Strings("args")...)
	if r.file.Kind == settings.Plugin {
		for i := range h.Command {
			h.Command[i] = strings.ReplaceAll(h.Command[i], "${CLAUDE_PLUGIN_ROOT}", r.From.Base)
		}
	}
}

// match reads a matcher: a regular expression that may match anywhere in the
// tool's name. On events without a tool it selects nothing and is passed over.
func (r *reader) match(event row, o *dialect.Object, matcher string, h *dialect.Hook) {
	h.Matcher = matcher
	var tests []func(*dialect.Call) bool
	if r.file.Kind == settings.Subagent {
		tests = append(tests, r.file.Selects)
	}
	if matcher != "" && matcher != "*" {
		re, err := dialect.Somewhere(matcher)
		if err != nil {
			o.Bad("matcher", "%v", err)
			return
		}
		if names, ok := dialect.Alternatives(matcher, "|"); ok {
			h.Tools = names
		}
		if strings.Contains(event.event, "ToolUse") {
			tests = append(tests, dialect.MatchNames(re.MatchString))
		}
	}
	if len(tests) == 0 {
		return
	}
	h.Matches = func(c *dialect.Call) bool {
		return !slices.ContainsFunc(tests, func(test func(*dialect.Call) bool) bool { return !test(c) })
	}
}

// add adds a hook, unless it is how events come to the bus.
func (r *reader) add(o *dialect.Object, h dialect.Hook) {
	if settings.IsRegistration(h.Shell, h.Command) {
		return
	}
	if len(h.Events) > 0 && h.Name != "" && !o.Failed() {
		event, _, _ := rowOf(h.Events[0])
		h.Name = r.unique(h.Name, event)
	}
	r.Add(o, h)
}

// unique makes a name that stands under two events two names.
func (r *reader) unique(name string, event row) string {
	if name == "" {
		return ""
	}
	base := name
	for n := 1; r.names[name]; n++ {
		if name = base + " (" + camel(event.event) + ")"; n > 1 {
			name = fmt.Sprintf("%s (%s, %d)", base, camel(event.event), n)
		}
	}
	r.names[name] = true
	return name
}
