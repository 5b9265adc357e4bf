package cliagent

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/grapnel-dev/grapnel/bus/hook"
	"github.com/grapnel-dev/grapnel/runner/process"
	"github.com/grapnel-dev/grapnel/subscribers/command/dialect"
)

// group is one matcher with its hooks in a file.
type group struct {
	Matcher string    `json:"matcher"`
	Hooks   []written `json:"hooks"`
}

// written is one hook in a file.
type written struct {
	Name        string             `json:"name,omitempty"`
	Type        dialect.Type       `json:"type"`
	Command     string             `json:"command,omitempty"`
	URL         string             `json:"url,omitempty"`
	Headers     map[string]string  `json:"headers,omitempty"`
	AllowedEnv  []string           `json:"allowed_env,omitempty"`
	Timeout     float64            `json:"timeout,omitempty"` // seconds
	Dir         string             `json:"working_directory,omitempty"`
	Env         map[string]string  `json:"env,omitempty"`
	Description string             `json:"description,omitempty"`
	When        string             `json:"when,omitempty"`
	After       []string           `json:"after,omitempty"`
	Async       bool               `json:"async,omitempty"`
	Cache       string             `json:"cache,omitempty"`
	Files       []string           `json:"files,omitempty"`
	Sandbox     *process.Sandbox   `json:"sandbox,omitempty"`
	OnFailure   hook.FailurePolicy `json:"on_failure,omitempty"`
	Version     string             `json:"version,omitempty"`
}

// Write writes hooks as a file of the dialect. Hooks of several events stand
// there once for each; what the dialect has no word for is in lost.
func Write(hooks []dialect.Hook) (text []byte, lost []string, err error) {
	events := make(map[string][]group)
	for _, h := range hooks {
		w, missing, ok := writtenOf(h)
		lost = append(lost, missing...)
		if !ok {
			continue
		}
		for i, event := range h.Events {
			if i > 0 && w.Name != "" {
				w.Name = h.Name + "-" + event // names are unique
			}
			groups := events[event]
			pattern := h.Matcher
			if pattern == "" {
				pattern = "*"
			}
			if n := len(groups); n == 0 || groups[n-1].Matcher != pattern {
				groups = append(groups, group{Matcher: pattern})
			}
			last := &groups[len(groups)-1]
			last.Hooks = append(last.Hooks, w)
			events[event] = groups
		}
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	err = e.Encode(map[string]any{"hooks": events})
	return b.Bytes(), lost, err
}

func writtenOf(h dialect.Hook) (w written, lost []string, ok bool) {
	lose := func(format string, args ...any) {
		lost = append(lost, "hook "+h.Label()+": "+fmt.Sprintf(format, args...))
	}
	w = written{
		Name: h.Name, Type: h.Type, URL: h.URL, Headers: h.Headers, AllowedEnv: h.AllowedEnv,
		Timeout: float64(h.Timeout) / float64(time.Second), Dir: h.Dir, Env: h.Env, Description: h.Description,
		When: h.When, After: h.After, Async: h.Async, Files: h.Files, OnFailure: h.OnFailure, Version: h.Version,
	}
	if h.Cache > 0 {
		w.Cache = h.Cache.String()
	}
	if s := h.Sandbox; s.Mode != "" {
		w.Sandbox = &s
	}
	switch h.Type {
	case dialect.TypeHTTP:
	case dialect.TypeCommand, "":
		var err error
		if w.Command, err = original(h); err != nil {
			lose("it is left out: %v", err)
			return w, lost, false
		}
	default:
		lose("it is left out: there are no %s hooks in this dialect", h.Type)
		return w, lost, false
	}
	switch {
	case h.Disabled:
		lose("it is left out: it is disabled, for which the dialect has no word")
		return w, lost, false
	case h.Matches != nil && h.Matcher == "":
		lose("it is left out: what it selects cannot be said as a matcher")
		return w, lost, false
	}
	if h.If != "" {
		lose("its rule %q cannot be said; it runs for more than it did", h.If)
	}
	if h.Once {
		lose("it runs each time, not once in a session")
	}
	if h.Priority != 0 {
		lose("its priority %d is only in the order of the file", h.Priority)
	}
	return w, lost, true
}

// original is a hook's command as it stands in a file.
func original(h dialect.Hook) (string, error) {
	if len(h.Command) > 0 {
		h.Shell, h.Variables = dialect.ShellWords(h.Command), nil
	}
	if len(h.Variables) > 0 {
		if b, err := bind(h.Written); err == nil && b.text == h.Shell {
			return h.Written, nil
		}
		names := make([]string, len(h.Variables))
		for i, v := range h.Variables {
			names[i] = "$" + v.Name
		}
		return "", fmt.Errorf("its command refers to %s, which hooks of this dialect do not get", strings.Join(slices.Compact(names), ", "))
	}
	if list, err := find(h.Shell); err != nil || len(list) > 0 {
		return "", fmt.Errorf("its text has {{…}} in it, which would be a template here")
	}
	return h.Shell, nil
}
