package claudeagent

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/grapnel-dev/grapnel/bus/hook"
	"github.com/grapnel-dev/grapnel/subscribers/command/dialect"
)

// written is a named hook as it stands in a settings file, the keys of all
// dialects included.
type written struct {
	Command  string            `json:"command"`
	Args     *[]string         `json:"args,omitempty"`
	Timeout  float64           `json:"timeout_secs,omitempty"`
	Matcher  string            `json:"matcher,omitempty"`
	Priority int               `json:"priority,omitempty"`
	Env      map[string]string `json:"env,omitempty"`

	When    string             `json:"when,omitempty"`
	After   []string           `json:"after,omitempty"`
	Async   bool               `json:"async,omitempty"`
	Cache   string             `json:"cache,omitempty"`
	Files   []string           `json:"files,omitempty"`
	Sandbox any                `json:"sandbox,omitempty"`
	Failure hook.FailurePolicy `json:"on_failure,omitempty"`
	Version string             `json:"version,omitempty"`
}

// write writes a settings file of named hooks and nothing else. Hooks without a
// name are named after their event.
func write(hooks []dialect.Hook) (text []byte, lost []string, err error) {
	events := make(map[string]*bytes.Buffer)
	var order []string
	names := make(map[string]bool)
	for _, h := range hooks {
		lose := func(what string) { lost = append(lost, h.Label()+": "+what) }
		if h.Disabled {
			lose("it is disabled, and left out")
			continue
		}
		if h.Type != dialect.TypeCommand && h.Type != "" {
			lose("claude-agent runs no " + string(h.Type) + " hooks")
			continue
		}
		for _, event := range h.Events {
			r, _, ok := rowOf(event)
			if !ok {
				lose("claude-agent has no event " + event)
				continue
			}
			w, ok := writtenHook(h)
			if !ok {
				lose("it has no command")
				continue
			}
			b := events[event]
			if b == nil {
				b = new(bytes.Buffer)
				events[event] = b
				order = append(order, event)
			} else {
				b.WriteByte(',')
			}
			if err := member(b, nameFor(h, r, names), w); err != nil {
				return nil, nil, err
			}
			losses(h, lose)
		}
	}
	var all bytes.Buffer
	all.WriteString(`{"hooks":{`)
	for i, event := range order {
		if i > 0 {
			all.WriteByte(',')
		}
		fmt.Fprintf(&all, `"%s":{%s}`, camel(event), events[event])
	}
	all.WriteString(`}}`)
	var out bytes.Buffer
	if err := json.Indent(&out, all.Bytes(), "", "  "); err != nil {
		return nil, nil, err
	}
	out.WriteByte('\n')
	return out.Bytes(), lost, nil
}

// nameFor is the hook's name, or one made of the event and a number. A name is
// a key under its event, so it comes once.
func nameFor(h dialect.Hook, r row, names map[string]bool) string {
	base := h.Name
	if base == "" {
		base = strings.ReplaceAll(r.input, "_", "-")
	}
	name := base
	for n := 2; names[r.event+"\x00"+name]; n++ {
		name = fmt.Sprintf("%s-%d", base, n)
	}
	names[r.event+"\x00"+name] = true
	return name
}

func member(b *bytes.Buffer, name string, v any) error {
	e := json.NewEncoder(b)
	e.SetEscapeHTML(false)
	if err := e.Encode(name); err != nil {
		return err
	}
	b.WriteByte(':')
	return e.Encode(v)
}

func writtenHook(h dialect.Hook) (written, bool) {
	w := written{
		Command: h.Shell, Timeout: float64(h.Timeout) / float64(time.Second), Matcher: matcherOf(h), Priority: h.Priority, Env: h.Env,
		When: h.When, After: h.After, Async: h.Async, Files: h.Files, Failure: h.OnFailure, Version: h.Version,
	}
	if h.Shell == "" && len(h.Command) > 0 {
		args := slices.Clone(h.Command[1:])
		if args == nil {
			args = []string{}
		}
		w.Command, w.Args = h.Command[0], &args
	}
	if h.Cache > 0 {
		w.Cache = h.Cache.String()
	}
	if s, err := json.Marshal(h.Sandbox); err == nil && string(s) != "{}" {
		w.Sandbox = json.RawMessage(s)
	}
	return w, strings.TrimSpace(w.Command) != ""
}

// losses names what a settings file has no key for.
func losses(h dialect.Hook, lose func(string)) {
	for _, l := range []struct {
		there bool
		what  string
	}{
		{h.Dir != "", "its working directory"},
		{len(h.Variables) > 0, "the variables that hold parts of the event"},
		{h.Description != "", "its description"},
		{h.KeepGoing, "that others run after it has failed"},
		{h.If != "", "its permission rule " + h.If},
		{h.Once, "that it runs once in a session"},
	} {
		if l.there {
			lose(l.what)
		}
	}
}

// matcherOf is the matcher to write: the hook's own, or the list of the tools
// that it stands for where the hook comes from another dialect.
func matcherOf(h dialect.Hook) string {
	if names, ok := dialect.Alternatives(h.Matcher, "|"); h.Tools == nil || ok && slices.Equal(names, h.Tools) {
		return h.Matcher
	}
	quoted := make([]string, len(h.Tools))
	for i, name := range h.Tools {
		quoted[i] = regexp.QuoteMeta(name)
	}
	return strings.Join(quoted, "|")
}
