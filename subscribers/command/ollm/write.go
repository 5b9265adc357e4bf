package ollm

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/grapnel-dev/grapnel/bus/hook"
	"github.com/grapnel-dev/grapnel/runner/process"
	"github.com/grapnel-dev/grapnel/subscribers/command/dialect"
)

// The file that is written.
type (
	writtenFile struct {
		Hooks writtenEvents `json:"hooks"`
	}
	writtenEvents struct {
		SessionStart        []writtenHook `json:"session_start,omitempty"`
		SessionEnd          []writtenHook `json:"session_end,omitempty"`
		BeforeAgent         []writtenHook `json:"before_agent,omitempty"`
		AfterAgent          []writtenHook `json:"after_agent,omitempty"`
		BeforeModel         []writtenHook `json:"before_model,omitempty"`
		AfterModel          []writtenHook `json:"after_model,omitempty"`
		BeforeToolSelection []writtenHook `json:"before_tool_selection,omitempty"`
		BeforeTool          []writtenHook `json:"before_tool,omitempty"`
		AfterTool           []writtenHook `json:"after_tool,omitempty"`
		PreCompress         []writtenHook `json:"pre_compress,omitempty"`
		PostCompress        []writtenHook `json:"post_compress,omitempty"`
		Notification        []writtenHook `json:"notification,omitempty"`
	}
	writtenHook struct {
		ID        string             `json:"id"`
		Name      string             `json:"name,omitempty"`
		Matcher   string             `json:"matcher,omitempty"`
		Command   string             `json:"command"`
		Args      []string           `json:"args,omitempty"`
		Timeout   float64            `json:"timeout,omitempty"`
		Priority  int                `json:"priority,omitempty"`
		Parallel  bool               `json:"parallel,omitempty"`
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

func (e *writtenEvents) of(event string) *[]writtenHook {
	switch event {
	case sessionStart:
		return &e.SessionStart
	case sessionEnd:
		return &e.SessionEnd
	case beforeAgent:
		return &e.BeforeAgent
	case afterAgent:
		return &e.AfterAgent
	case beforeModel:
		return &e.BeforeModel
	case afterModel:
		return &e.AfterModel
	case beforeToolSelection:
		return &e.BeforeToolSelection
	case beforeTool:
		return &e.BeforeTool
	case afterTool:
		return &e.AfterTool
	case preCompress:
		return &e.PreCompress
	case postCompress:
		return &e.PostCompress
	case notification:
		return &e.Notification
	}
	return nil
}

// write makes a configuration file.
func write(hooks []dialect.Hook) (text []byte, lost []string, err error) {
	var file writtenFile
	taken := make(map[string]bool)
	for _, h := range hooks {
		note := func(format string, args ...any) {
			lost = append(lost, "hook "+h.Label()+": "+fmt.Sprintf(format, args...))
		}
		w, ok := writeHook(h, note)
		if !ok {
			continue
		}
		base := w.ID
		if base == "" {
			base = "hook"
		}
		w.ID = base
		for n := 2; taken[w.ID]; n++ {
			w.ID = fmt.Sprintf("%s-%d", base, n)
		}
		taken[w.ID] = true
		for _, event := range h.Events {
			list := file.Hooks.of(event)
			if list == nil {
				note("there is no event %.40q", event)
				continue
			}
			one := w
			if w.Matcher != "" && w.Matcher != "*" && event != beforeTool && event != afterTool {
				note("%s has no tool: it runs without the matcher %.80q", event, w.Matcher)
				one.Matcher = ""
			}
			*list = append(*list, one)
		}
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	err = e.Encode(file)
	return b.Bytes(), lost, err
}

// writeHook writes what the dialect has of a hook; false means that it has
// nothing.
func writeHook(h dialect.Hook, note func(string, ...any)) (writtenHook, bool) {
	argv := h.Command
	switch {
	case h.Disabled:
		note("it is disabled, which cannot be said of one hook, and is left out")
		return writtenHook{}, false
	case h.Type == dialect.TypePrompt, h.Type == dialect.TypeHTTP:
		note("there are no %s hooks; it is left out", h.Type)
		return writtenHook{}, false
	case h.Shell != "":
		argv = strings.Fields(h.Shell)
		if strings.ContainsAny(h.Shell, "'\"\\*?~#!=%\n") {
			note("there is no shell for its text; it is left out, put it into a script")
			return writtenHook{}, false
		}
	}
	if len(argv) == 0 {
		note("it has no command; it is left out")
		return writtenHook{}, false
	}
	if _, err := check(argv[0], argv[1:]); err != nil {
		note("%v; it is left out", err)
		return writtenHook{}, false
	}
	matcher := h.Matcher
	if len(h.Tools) > 0 { // what was converted has its names here
		matcher = strings.Join(h.Tools, "|")
	}
	_, list := dialect.Alternatives(matcher, "|")
	lost := !list && matcher != "" && matcher != "*"
	if lost {
		matcher = ""
	}
	for _, part := range []struct {
		is   bool
		what string
	}{
		{lost, "its matcher, which is no list of tools, so that it runs for every tool,"},
		{h.If != "", "its condition (if), so that it runs more often,"},
		{h.Dir != "", "its working directory"},
		{len(h.Env) > 0, "its variables"},
		{len(h.Variables) > 0, "the values of the event that its command names"},
		{h.Once, "that it runs once in a session"},
		{h.KeepGoing, "that the hooks after it run whatever it says"},
	} {
		if part.is {
			note("%s cannot be said", part.what)
		}
	}
	return writtenHook{
		ID: h.Name, Name: h.Description, Matcher: matcher, Command: argv[0], Args: argv[1:], Timeout: float64(h.Timeout) / float64(time.Millisecond),
		Priority: h.Priority, Parallel: h.Parallel, When: h.When, After: h.After, Async: h.Async, Cache: hook.Duration(h.Cache), Files: h.Files,
		Sandbox: h.Sandbox, OnFailure: h.OnFailure, Version: h.Version,
	}, true
}
