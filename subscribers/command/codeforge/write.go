package codeforge

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

// written is one hook in a file.
type written struct {
	Name        string             `json:"name,omitempty"`
	Event       string             `json:"event"`
	Command     string             `json:"command"`
	Timeout     float64            `json:"timeout,omitempty"` // seconds
	Dir         string             `json:"working_dir,omitempty"`
	Env         map[string]string  `json:"env,omitempty"`
	Enabled     *bool              `json:"enabled,omitempty"`
	Stop        *bool              `json:"stop_on_failure,omitempty"`
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

// Write writes hooks as a file of the dialect; what it has no word for is in
// lost.
func Write(hooks []dialect.Hook) (text []byte, lost []string, err error) {
	list := make([]written, 0, len(hooks))
	for _, h := range hooks {
		w, missing, ok := writtenOf(h)
		lost = append(lost, missing...)
		if ok {
			list = append(list, w)
		}
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	err = e.Encode(map[string]any{"hooks": list})
	return b.Bytes(), lost, err
}

func writtenOf(h dialect.Hook) (w written, lost []string, ok bool) {
	lose := func(format string, args ...any) {
		lost = append(lost, "hook "+h.Label()+": "+fmt.Sprintf(format, args...))
	}
	off := false
	w = written{
		Name: h.Name, Command: h.Shell, Timeout: float64(h.Timeout) / float64(time.Second), Dir: h.Dir, Env: h.Env,
		Description: h.Description, When: h.When, After: h.After, Async: h.Async, Files: h.Files, OnFailure: h.OnFailure, Version: h.Version,
	}
	if h.Cache > 0 {
		w.Cache = h.Cache.String()
	}
	if s := h.Sandbox; s.Mode != "" {
		w.Sandbox = &s
	}
	if h.Disabled {
		w.Enabled = &off
	}
	if h.KeepGoing {
		w.Stop = &off
	}
	if w.Event, ok = events(h); !ok {
		lose("it is left out: what it selects (%s) cannot be said as an event pattern", h.Matcher)
		return w, lost, false
	}
	switch {
	case h.Type != dialect.TypeCommand && h.Type != "":
		lose("it is left out: there are no %s hooks in this dialect", h.Type)
		return w, lost, false
	case len(h.Variables) > 0:
		lose("it is left out: its command refers to $%s, which hooks of this dialect do not get", h.Variables[0].Name)
		return w, lost, false
	case len(h.Command) > 0:
		w.Command = dialect.ShellWords(h.Command)
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

// events is the pattern for a hook's events and tools: its own where it is one
// of this dialect, else one that is made of them.
func events(h dialect.Hook) (string, bool) {
	if list, err := parsePatterns(h.Matcher); err == nil {
		if events, _, _ := selection(list); slices.Equal(events, h.Events) {
			return h.Matcher, true
		}
	}
	tools := h.Tools
	if len(tools) == 0 {
		if h.Matches != nil && h.Matcher != "" && h.Matcher != "*" {
			return "", false
		}
		return strings.Join(h.Events, ","), len(h.Events) > 0
	}
	var parts []string
	for _, event := range h.Events {
		for _, tool := range tools {
			parts = append(parts, event+":"+tool)
		}
	}
	return strings.Join(parts, ","), len(parts) > 0
}
