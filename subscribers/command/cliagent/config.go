package cliagent

import (
	"encoding/json"
	"slices"
	"strings"
	"time"

	"github.com/grapnel-dev/grapnel/subscribers/command/dialect"
)

// Read reads one of the dialect's files. Keys of the file besides "hooks" are
// the agent's settings and none of our business.
func Read(text []byte, from dialect.Origin) ([]dialect.Hook, []dialect.Problem) {
	r, file := dialect.NewReading(text, from)
	events := file.Object("hooks")
	for _, event := range events.Keys() {
		if !slices.Contains([]string{PreToolUse, PostToolUse, Notification, Stop}, event) {
			r.Problem(events.Path(event), "there is no such event; there are PreToolUse, PostToolUse, Notification and Stop")
			continue
		}
		for _, group := range events.Objects(event) {
			readGroup(r, event, group)
		}
	}
	return r.Hooks, r.Problems
}

func readGroup(r *dialect.Reading, event string, group *dialect.Object) {
	pattern := group.String("matcher")
	matches, tools, err := matcher(pattern)
	if err != nil {
		group.Bad("matcher", "%v", err)
	}
	hooks := group.Objects("hooks")
	if _, there := group.Raw("hooks"); !there {
		group.Bad("hooks", "there are no hooks here; it is a list of {\"type\": \"command\", \"command\": …}")
	}
	for _, key := range group.Keys() {
		if key != "matcher" && key != "hooks" {
			r.Problem(group.Path(key), "the key %.80q is not known and does nothing", key)
		}
	}
	if group.Failed() {
		return // its hooks must not run for what they were not meant for
	}
	for _, o := range hooks {
		h := dialect.Hook{Events: []string{event}, Matcher: pattern, Tools: tools, Matches: matches}
		readHook(o, &h)
		r.Add(o, h)
		if n := len(r.Hooks); n > 0 && r.Hooks[n-1].Where == o.Where() {
			r.Hooks[n-1].Definition = definition(event, pattern, r.Hooks[n-1].Definition)
		}
	}
}

// definition is what an approval covers: the hook, and when it runs.
func definition(event, pattern string, hook json.RawMessage) json.RawMessage {
	b, err := json.Marshal(struct {
		Event   string          `json:"event"`
		Matcher string          `json:"matcher"`
		Hook    json.RawMessage `json:"hook"`
	}{event, pattern, hook})
	if err != nil {
		return hook
	}
	return b
}

func readHook(o *dialect.Object, h *dialect.Hook) {
	h.Timeout = o.Number("timeout", time.Second)
	h.Dir = o.String("working_directory")
	h.Env = o.StringMap("env")
	h.Description = o.String("description")
	o.Extras(h)
	if strings.ContainsRune(h.Dir, 0) {
		o.Bad("working_directory", "there is a NUL byte in it")
	}
	for name, value := range h.Env {
		if name == "" || strings.ContainsAny(name, "=\x00") || strings.ContainsRune(value, 0) {
			o.Bad("env", "%.60q cannot be an environment variable", name)
		}
	}
	switch kind := o.String("type"); kind {
	case "", string(dialect.TypeCommand):
		h.Type = dialect.TypeCommand
		readCommand(o, h)
	case string(dialect.TypeHTTP):
		h.Type = dialect.TypeHTTP
		h.URL, h.Headers, h.AllowedEnv = o.String("url"), o.StringMap("headers"), o.Strings("allowed_env")
		if h.URL == "" {
			o.Bad("url", "there is none; it is where the event is sent to")
		}
	default:
		for _, key := range []string{"command", "url", "headers", "allowed_env", "prompt", "model"} {
			o.Raw(key)
		}
		o.Bad("type", "%.40q is not known; it is \"command\" or \"http\"", kind)
	}
}

func readCommand(o *dialect.Object, h *dialect.Hook) {
	text := o.String("command")
	switch {
	case strings.TrimSpace(text) == "":
		o.Bad("command", "there is none; it is text for the shell")
		return
	case strings.ContainsRune(text, 0):
		o.Bad("command", "there is a NUL byte in it")
		return
	}
	b, err := bind(text)
	if err != nil {
		o.Bad("command", "%v", err)
		return
	}
	if h.Shell = b.text; b.text != text {
		h.Written = text
	}
	for _, v := range b.variables {
		h.Variables = append(h.Variables, v.variable())
	}
}
