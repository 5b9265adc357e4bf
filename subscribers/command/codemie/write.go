package codemie

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

// profileName is the profile that is written.
const profileName = "default"

// The file that is written, in the order of the documentation.
type (
	writtenFile struct {
		Version  int                       `json:"version"`
		Active   string                    `json:"activeProfile"`
		Profiles map[string]writtenProfile `json:"profiles"`
	}
	writtenProfile struct {
		Provider string        `json:"provider,omitempty"`
		BaseURL  string        `json:"baseUrl,omitempty"`
		Model    string        `json:"model,omitempty"`
		Hooks    writtenEvents `json:"hooks"`
	}
	writtenEvents struct {
		PreToolUse       []writtenGroup `json:"PreToolUse,omitempty"`
		PostToolUse      []writtenGroup `json:"PostToolUse,omitempty"`
		UserPromptSubmit []writtenGroup `json:"UserPromptSubmit,omitempty"`
		SessionStart     []writtenGroup `json:"SessionStart,omitempty"`
		Stop             []writtenGroup `json:"Stop,omitempty"`
	}
	writtenGroup struct {
		Matcher string        `json:"matcher,omitempty"`
		Hooks   []writtenHook `json:"hooks"`
	}
	writtenHook struct {
		Type      dialect.Type       `json:"type"`
		Command   string             `json:"command,omitempty"`
		Prompt    string             `json:"prompt,omitempty"`
		Timeout   float64            `json:"timeout,omitempty"`
		Name      string             `json:"name,omitempty"`
		When      string             `json:"when,omitempty"`
		After     []string           `json:"after,omitempty"`
		Async     bool               `json:"async,omitempty"`
		Cache     hook.Duration      `json:"cache,omitzero"`
		Files     []string           `json:"files,omitempty"`
		Sandbox   process.Sandbox    `json:"sandbox,omitzero"`
		OnFailure hook.FailurePolicy `json:"on_failure,omitempty"`
		Version   string             `json:"version,omitempty"`
	}
)

func (e *writtenEvents) groups(event string) *[]writtenGroup {
	switch event {
	case preToolUse:
		return &e.PreToolUse
	case postToolUse:
		return &e.PostToolUse
	case userPromptSubmit:
		return &e.UserPromptSubmit
	case sessionStart:
		return &e.SessionStart
	case stop:
		return &e.Stop
	}
	return nil
}

// write makes a configuration file of one profile.
func write(hooks []dialect.Hook) (text []byte, lost []string, err error) {
	var p writtenProfile
	var model *dialect.Model
	for _, h := range hooks {
		note := func(format string, args ...any) {
			lost = append(lost, "hook "+h.Label()+": "+fmt.Sprintf(format, args...))
		}
		w, ok := writeHook(h, note)
		if !ok {
			continue
		}
		if h.Model != nil && h.Type == dialect.TypePrompt {
			switch {
			case model == nil:
				model = h.Model
				p.Provider, p.BaseURL, p.Model = model.Provider, model.BaseURL, model.Name
			case model.Provider != h.Model.Provider || model.BaseURL != h.Model.BaseURL || model.Name != h.Model.Name:
				note("it asks the model of the first prompt hook: a profile has one model")
			}
			if h.Model.Key != "" {
				note("the model's key is not written; put apiKey into the profile")
			}
		}
		for _, event := range h.Events {
			groups := p.Hooks.groups(event)
			if groups == nil {
				note("there is no event %.40q", event)
				continue
			}
			put(groups, matcherFor(h, event, note), w)
		}
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	err = e.Encode(writtenFile{Version: 2, Active: profileName, Profiles: map[string]writtenProfile{profileName: p}})
	return b.Bytes(), lost, err
}

// put adds a hook to the last group where that has the same matcher: the order
// stays.
func put(groups *[]writtenGroup, matcher string, w writtenHook) {
	if n := len(*groups); n > 0 && (*groups)[n-1].Matcher == matcher {
		(*groups)[n-1].Hooks = append((*groups)[n-1].Hooks, w)
		return
	}
	*groups = append(*groups, writtenGroup{Matcher: matcher, Hooks: []writtenHook{w}})
}

func matcherFor(h dialect.Hook, event string, note func(string, ...any)) string {
	matcher := h.Matcher
	if len(h.Tools) > 0 { // what was converted has its names here
		matcher = strings.Join(h.Tools, "|")
	}
	if event != preToolUse && event != postToolUse && matcher != "" && matcher != "*" {
		note("%s has no tool: it runs without the matcher %.80q", event, matcher)
		return ""
	}
	return matcher
}

// writeHook writes what the dialect has of a hook; false means that it has
// nothing.
func writeHook(h dialect.Hook, note func(string, ...any)) (writtenHook, bool) {
	w := writtenHook{
		Type: h.Type, Timeout: float64(h.Timeout) / float64(time.Millisecond), Name: h.Name,
		When: h.When, After: h.After, Async: h.Async, Cache: hook.Duration(h.Cache), Files: h.Files, Sandbox: h.Sandbox,
		OnFailure: h.OnFailure, Version: h.Version,
	}
	switch {
	case h.Disabled:
		note("it is disabled, which cannot be said, and is left out")
		return w, false
	case h.Type == dialect.TypePrompt:
		w.Prompt = h.Prompt
	case h.Type == dialect.TypeHTTP:
		note("there are no HTTP hooks; it is left out")
		return w, false
	case h.Shell != "":
		w.Type, w.Command = dialect.TypeCommand, h.Shell
	default:
		w.Type, w.Command = dialect.TypeCommand, dialect.ShellWords(h.Command)
	}
	for _, part := range []struct {
		is   bool
		what string
	}{
		{h.Dir != "", "its working directory"},
		{len(h.Env) > 0, "its variables"},
		{len(h.Variables) > 0 || slices.ContainsFunc(h.Command, hasTemplate), "the values of the event that its command names"},
		{h.Priority != 0, "its priority"},
		{h.Description != "", "its description"},
		{h.Once, "that it runs once in a session"},
		{h.Retries != nil, "how often it runs again, which the profile says"},
		{h.If != "", "its condition (if), so that it runs more often,"},
	} {
		if part.is {
			note("%s cannot be said", part.what)
		}
	}
	return w, true
}

func hasTemplate(word string) bool { return strings.Contains(word, "{{") }
