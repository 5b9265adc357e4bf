package native

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/grapnel-dev/grapnel/bus/hook"
	"github.com/grapnel-dev/grapnel/runner/process"
	"github.com/grapnel-dev/grapnel/subscribers/command/dialect"
)

// entry is one hook in a file.
type entry struct {
	Name        string             `json:"name,omitempty"`
	On          []string           `json:"on"`
	Command     []string           `json:"command,omitempty"`
	Shell       string             `json:"shell,omitempty"`
	Prompt      string             `json:"prompt,omitempty"`
	Model       string             `json:"model,omitempty"`
	URL         string             `json:"url,omitempty"`
	Headers     map[string]string  `json:"headers,omitempty"`
	AllowedEnv  []string           `json:"allowed_env,omitempty"`
	Timeout     hook.Duration      `json:"timeout,omitzero"`
	Priority    int                `json:"priority,omitempty"`
	Dir         string             `json:"dir,omitempty"`
	Env         map[string]string  `json:"env,omitempty"`
	Rewrites    bool               `json:"rewrites,omitempty"`
	Disabled    bool               `json:"disabled,omitempty"`
	Description string             `json:"description,omitempty"`
	When        string             `json:"when,omitempty"`
	After       []string           `json:"after,omitempty"`
	Async       bool               `json:"async,omitempty"`
	Cache       hook.Duration      `json:"cache,omitzero"`
	Files       []string           `json:"files,omitempty"`
	Sandbox     *process.Sandbox   `json:"sandbox,omitempty"`
	OnFailure   hook.FailurePolicy `json:"on_failure,omitempty"`
	Version     string             `json:"version,omitempty"`
}

// write writes {"hooks": [...]}.
func write(hooks []dialect.Hook) (text []byte, lost []string, err error) {
	list := make([]entry, 0, len(hooks))
	for _, h := range hooks {
		e := entry{
			Name: h.Name, On: on(h), Command: h.Command, Shell: h.Shell, Prompt: h.Prompt, URL: h.URL, Headers: h.Headers,
			AllowedEnv: h.AllowedEnv, Timeout: hook.Duration(h.Timeout), Priority: h.Priority, Dir: h.Dir, Env: h.Env,
			Rewrites: h.Rewrites, Disabled: h.Disabled, Description: h.Description, When: h.When, After: h.After, Async: h.Async,
			Cache: hook.Duration(h.Cache), Files: h.Files, OnFailure: h.OnFailure, Version: h.Version,
		}
		if h.Model != nil {
			e.Model = h.Model.Name
			if h.Model.Provider != "" {
				lost = append(lost, fmt.Sprintf("%s: how to reach its model %q stands in grapnel.yaml, under models", h.Label(), h.Model.Name))
			}
		}
		if h.Sandbox.Mode != "" {
			e.Sandbox = &h.Sandbox
		}
		for _, missing := range []struct {
			there bool
			what  string
		}{{h.Matcher != "" && h.Matcher != "*" && len(h.Tools) == 0 && !ours(strings.Split(h.Matcher, ","), h.Events), "its matcher, it runs for all tools: " + h.Matcher}, {h.Once, "once in a session"}, {h.KeepGoing, "that what follows runs when it blocks"}, {h.If != "", "if"}} {
			if missing.there {
				lost = append(lost, fmt.Sprintf("%s: %s", h.Label(), missing.what))
			}
		}
		list = append(list, e)
	}
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false) // shell text is full of < and >
	encoder.SetIndent("", "  ")
	err = encoder.Encode(map[string]any{"hooks": list})
	return b.Bytes(), lost, err
}

// on says in patterns which events a hook wants.
func on(h dialect.Hook) []string {
	if parts := strings.Split(h.Matcher, ","); h.Matcher != "" && len(h.Tools) == 0 && ours(parts, h.Events) {
		return parts
	}
	var list []string
	for _, event := range h.Events {
		if len(h.Tools) == 0 {
			list = append(list, event)
			continue
		}
		for _, tool := range h.Tools {
			if pattern := event + "." + hook.Token(tool); !slices.Contains(list, pattern) {
				list = append(list, pattern)
			}
		}
	}
	return list
}

// ours reports whether a matcher is a list of our own patterns for these
// events.
func ours(parts, events []string) bool {
	for _, part := range parts {
		name, _, _ := strings.Cut(strings.TrimSpace(part), ".")
		if name != "*" && name != ">" && !slices.Contains(events, name) {
			return false
		}
	}
	_, err := hook.ParsePattern(strings.Join(parts, ","))
	return err == nil
}
