package ollm

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"time"

	"github.com/grapnel-dev/grapnel/internal/strictjson"
	"github.com/grapnel-dev/grapnel/runner/trust"
	"github.com/grapnel-dev/grapnel/subscribers/command/dialect"
)

// maxPriority bounds a hook's priority, both ways.
const maxPriority = 1_000_000

// settings are what a file says about all of its hooks.
type settings struct {
	disabled bool
	timeout  time.Duration
	// had are the definitions that there were so far, by id.
	had map[string]definition
}

type definition struct {
	text   json.RawMessage
	events []string
}

func read(text []byte, from dialect.Origin) ([]dialect.Hook, []dialect.Problem) {
	r, file := dialect.NewReading(text, from)
	if file == nil {
		return nil, r.Problems
	}
	for _, key := range file.Keys() {
		if !slices.Contains([]string{"hooks", "enabled", "timeout", "trustWorkspace"}, key) {
			r.Problem(key, "the key is not known and does nothing")
		}
	}
	s := settings{timeout: file.Number("timeout", time.Millisecond), had: make(map[string]definition)}
	if enabled, there := file.Bool("enabled"); there {
		s.disabled = !enabled
	}
	if _, there := file.Bool("trustWorkspace"); there && !from.Source.Loosens() {
		r.Problem("trustWorkspace", "only the person's own file can say that, and it counts for nothing here")
	}
	events := file.Object("hooks")
	if _, there := file.Raw("hooks"); !there {
		r.Problem("hooks", "there are none")
	}
	for _, event := range events.Keys() {
		if known := vocabulary().Names(); !slices.Contains(known, event) {
			r.Problem(events.Path(event), "there is no such event, so these hooks do not load; there are %s", strings.Join(known, ", "))
			continue
		}
		for _, o := range events.Objects(event) {
			readHook(r, o, event, s)
		}
	}
	return r.Hooks, r.Problems
}

func readHook(r *dialect.Reading, o *dialect.Object, event string, s settings) {
	h := dialect.Hook{Events: []string{event}, Disabled: s.disabled, Timeout: o.Number("timeout", time.Millisecond), Priority: o.Int("priority")}
	if h.Timeout == 0 {
		h.Timeout = s.timeout
	}
	o.Extras(&h)
	h.Parallel, _ = o.Bool("parallel")
	h.Name, h.Description = o.String("id"), o.String("name")
	if h.Name == "" {
		r.Problem(o.Path("id"), "it is missing; without one, no hook can name this one in after")
	}
	if h.Priority < -maxPriority || h.Priority > maxPriority {
		o.Bad("priority", "%d is not between -%d and %d", h.Priority, maxPriority, maxPriority)
	}
	program, args := o.String("command"), o.Strings("args")
	if !o.Failed() {
		if where, err := check(program, args); err != nil {
			o.Bad(where, "%v", err)
		}
	}
	h.Command = append([]string{program}, args...)
	if h.Matcher = o.String("matcher"); h.Matcher != "" && h.Matcher != "*" {
		names, ok := dialect.Alternatives(h.Matcher, "|")
		if !ok || event != beforeTool && event != afterTool {
			o.Bad("matcher", "%.80q is no list of tools, such as shell|write_file, of before_tool or after_tool", h.Matcher)
		}
		h.Tools, h.Matches = names, dialect.MatchNames(func(name string) bool { return slices.Contains(names, name) })
	}
	if path := o.String("sourcePath"); path != "" && !slices.Contains(h.Command, path) && !slices.Contains(h.Files, path) {
		h.Files = append(h.Files, path)
	}
	o.String("extensionName") // for people
	source := r.From.Source
	if text := o.String("source"); text != "" {
		switch said := trust.Source(text); {
		case !said.Known():
			o.Bad("source", "%.40q is none of builtin, user, workspace, downloaded, extension", text)
		case said.Order() > source.Order():
			source = said
		case said != source:
			r.Problem(o.Path("source"), "hooks of this file are %s hooks; one cannot be more than that", source)
		}
	}
	n := len(r.Hooks)
	r.Add(o, h)
	if len(r.Hooks) == n {
		return
	}
	loaded := &r.Hooks[n]
	loaded.Origin.Source = source
	if h.Name == "" {
		return
	}
	d, there := s.had[h.Name]
	if there && (slices.Contains(d.events, event) || !bytes.Equal(d.text, loaded.Definition)) {
		r.Problem(o.Path("id"), "%.80q is the id of another hook of this file; this one does not load", h.Name)
		r.Hooks = r.Hooks[:n]
		return
	}
	s.had[h.Name] = definition{loaded.Definition, append(d.events, event)}
}

// TrustsWorkspaces reports whether a configuration file of the person's own
// says that the hooks of workspaces need no approval (trustWorkspace). What
// cannot be read says no. It must never be asked about a file of a workspace or
// of an extension.
func TrustsWorkspaces(text []byte) bool {
	var file struct {
		Trust bool `json:"trustWorkspace"`
	}
	text = bytes.TrimPrefix(text, []byte("\ufeff"))
	return strictjson.UnmarshalOpen(text, &file, dialect.MaxFile) == nil && file.Trust
}
