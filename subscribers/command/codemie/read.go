package codemie

import (
	"slices"
	"strings"
	"time"

	"github.com/grapnel-dev/grapnel/subscribers/command/dialect"
)

// profile is what the hooks of a profile share.
type profile struct {
	name    string
	where   string // what the places of its hooks begin with
	model   dialect.Model
	retries *int
}

func read(text []byte, from dialect.Origin) ([]dialect.Hook, []dialect.Problem) {
	r, file := dialect.NewReading(text, from)
	if file == nil {
		return nil, r.Problems
	}
	version := file.Int("version")
	if _, there := file.Raw("version"); !there {
		r.Problem("version", "it is missing; the hooks are read as those of version 2")
	} else if version != 2 {
		r.Problem("version", "only version 2 is known; the hooks are read as if it were that")
	}
	common := checkRetries(r, file)
	profiles := file.Object("profiles")
	name := file.String("activeProfile")
	switch keys := profiles.Keys(); {
	case len(keys) == 0:
		r.Problem("profiles", "there is none, so there are no hooks")
		return nil, r.Problems
	case name == "" && len(keys) == 1:
		name = keys[0]
		r.Problem("activeProfile", "it is missing; the only profile %.80q is taken for it", name)
	case name == "":
		r.Problem("activeProfile", "it is missing, so no hooks load; name one of the profiles")
		return nil, r.Problems
	case !slices.Contains(keys, name):
		r.Problem("activeProfile", "there is no profile %.80q, so no hooks load", name)
		return nil, r.Problems
	}
	active := profiles.Object(name)
	if active == nil {
		return nil, r.Problems
	}
	p := profile{name: name, retries: checkRetries(r, active), model: dialect.Model{
		Provider: active.String("provider"), BaseURL: active.String("baseUrl"), Name: active.String("model"), Key: active.String("apiKey"),
	}}
	if p.retries == nil {
		p.retries = common
	}
	hooks := active.Object("hooks")
	p.where = hooks.Path("")
	for _, event := range hooks.Keys() {
		readEvent(r, hooks, event, p)
	}
	return r.Hooks, r.Problems
}

// checkRetries reads maxHookRetries where it stands.
func checkRetries(r *dialect.Reading, o *dialect.Object) *int {
	if _, there := o.Raw("maxHookRetries"); !there {
		return nil
	}
	n := o.Int("maxHookRetries")
	switch {
	case o.Failed(): // said already
		return nil
	case n < 0:
		r.Problem(o.Path("maxHookRetries"), "%d is not a number of retries", n)
		return nil
	}
	return &n
}

// readEvent reads the matcher groups of one event.
func readEvent(r *dialect.Reading, hooks *dialect.Object, event string, p profile) {
	if known := vocabulary().Names(); !slices.Contains(known, event) {
		r.Problem(hooks.Path(event), "there is no such event, so these hooks do not load; there are %s", strings.Join(known, ", "))
		return
	}
	for _, group := range hooks.Objects(event) {
		for _, key := range group.Keys() {
			if key != "matcher" && key != "hooks" {
				r.Problem(group.Path(key), "the key is not known and does nothing")
			}
		}
		h := dialect.Hook{Events: []string{event}, Matcher: group.String("matcher")}
		readMatcher(r, group, &h)
		if group.Failed() {
			continue
		}
		for _, o := range group.Objects("hooks") {
			readHook(r, o, h, p)
		}
		if _, there := group.Raw("hooks"); !there {
			r.Problem(group.Where(), "it has no hooks")
		}
	}
}

// readMatcher makes a matcher of the group's pattern.
func readMatcher(r *dialect.Reading, group *dialect.Object, h *dialect.Hook) {
	all := h.Matcher == "" || h.Matcher == "*"
	if event := h.Events[0]; event != preToolUse && event != postToolUse {
		if !all {
			r.Problem(group.Path("matcher"), "%s has no tool, so these hooks run whatever the matcher says", event)
		}
		return
	}
	if all {
		return
	}
	re, err := dialect.WholeName(h.Matcher)
	if err != nil {
		group.Bad("matcher", "%v", err)
		return
	}
	h.Matches = dialect.MatchNames(re.MatchString)
	names := h.Matcher
	if inner, ok := strings.CutPrefix(names, "("); ok {
		if inner, ok = strings.CutSuffix(inner, ")"); ok {
			names = inner
		}
	}
	if list, ok := dialect.Alternatives(names, "|"); ok && strings.Join(list, "|") == names {
		h.Tools = list
	}
}

// readHook reads one hook; h has what its group says.
func readHook(r *dialect.Reading, o *dialect.Object, h dialect.Hook, p profile) {
	h.Tools = slices.Clone(h.Tools)
	switch kind, text, prompt := o.String("type"), o.String("command"), o.String("prompt"); {
	case kind == "command" || kind == "" && prompt == "":
		h.Type, h.Shell = dialect.TypeCommand, text
		if strings.TrimSpace(text) == "" {
			o.Bad("command", "a command hook needs one")
		}
	case kind == "prompt" || kind == "":
		h.Type, h.Prompt = dialect.TypePrompt, prompt
		model := p.model
		h.Model = &model
		if strings.TrimSpace(prompt) == "" {
			o.Bad("prompt", "a prompt hook needs one")
		}
	default:
		o.Bad("type", "%.40q is neither command nor prompt", kind)
	}
	// What says the default says nothing: the two are the same hook.
	if h.Timeout = o.Number("timeout", time.Millisecond); h.Timeout == timeout {
		h.Timeout = 0
	}
	h.Profile = p.name
	if h.Events[0] == sessionStart {
		h.Retries = p.retries
	}
	o.Extras(&h)
	n := len(r.Hooks)
	r.Add(o, h)
	if len(r.Hooks) > n {
		// Tables cut long names: what tells it from the others comes first.
		r.Hooks[n].Where = strings.TrimPrefix(o.Where(), p.where) + " (" + p.name + ")"
	}
}
