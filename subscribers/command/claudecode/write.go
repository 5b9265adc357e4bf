package claudecode

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

// written is a handler as it stands in a settings file, the keys of all
// dialects included.
type written struct {
	Type       string            `json:"type"`
	Name       string            `json:"name,omitempty"`
	Command    string            `json:"command,omitempty"`
	Args       *[]string         `json:"args,omitempty"`
	Shell      string            `json:"shell,omitempty"`
	URL        string            `json:"url,omitempty"`
	Headers    map[string]string `json:"headers,omitempty"`
	AllowedEnv []string          `json:"allowedEnvVars,omitempty"`
	Prompt     string            `json:"prompt,omitempty"`
	Model      string            `json:"model,omitempty"`
	If         string            `json:"if,omitempty"`
	Timeout    float64           `json:"timeout,omitempty"`
	Status     string            `json:"statusMessage,omitempty"`
	Async      bool              `json:"async,omitempty"`
	OnFailure  string            `json:"onFailure,omitempty"`

	When    string             `json:"when,omitempty"`
	After   []string           `json:"after,omitempty"`
	Cache   string             `json:"cache,omitempty"`
	Files   []string           `json:"files,omitempty"`
	Sandbox any                `json:"sandbox,omitempty"`
	Failure hook.FailurePolicy `json:"on_failure,omitempty"`
	Version string             `json:"version,omitempty"`
}

type writtenGroup struct {
	Matcher string    `json:"matcher,omitempty"`
	Hooks   []written `json:"hooks"`
}

// write writes a settings file with these hooks and nothing else.
func write(hooks []dialect.Hook) (text []byte, lost []string, err error) {
	groups := make(map[string][]writtenGroup)
	var order []string
	for _, h := range hooks {
		lose := func(format string, args ...any) { lost = append(lost, h.Label()+": "+fmt.Sprintf(format, args...)) }
		if h.Disabled {
			lose("it is disabled, and left out")
			continue
		}
		for _, event := range h.Events {
			r, ok := rowOf(event)
			if !ok {
				lose("Claude Code has no event %s", event)
				continue
			}
			if h.Type == dialect.TypeHTTP && !r.http || h.Type == dialect.TypePrompt && !r.prompt {
				lose("Claude Code runs no %s hooks on %s", h.Type, event)
				continue
			}
			w, ok := writtenHook(r, h, lose)
			if !ok {
				continue
			}
			if !slices.Contains(order, event) {
				order = append(order, event)
			}
			list := groups[event]
			matcher := matcherOf(r, h)
			if len(list) == 0 || list[len(list)-1].Matcher != matcher {
				list = append(list, writtenGroup{Matcher: matcher})
			}
			last := &list[len(list)-1]
			last.Hooks = append(last.Hooks, w)
			groups[event] = list
		}
	}
	var b bytes.Buffer
	b.WriteString(`{"hooks":{`)
	for i, event := range order {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(`"` + event + `":`)
		if err := encode(&b, groups[event]); err != nil {
			return nil, nil, err
		}
	}
	b.WriteString(`}}`)
	var out bytes.Buffer
	if err := json.Indent(&out, b.Bytes(), "", "  "); err != nil {
		return nil, nil, err
	}
	out.WriteByte('\n')
	return out.Bytes(), lost, nil
}

func encode(b *bytes.Buffer, v any) error {
	e := json.NewEncoder(b)
	e.SetEscapeHTML(false)
	return e.Encode(v)
}

// writtenHook says what of a hook can be said, and loses the rest.
func writtenHook(r row, h dialect.Hook, lose func(string, ...any)) (written, bool) {
	w := written{
		Type: string(h.Type), Name: h.Name, If: h.If, Status: h.Description, When: h.When, After: h.After, Files: h.Files,
		Version: h.Version, Failure: h.OnFailure, Async: h.Async,
	}
	switch h.Type {
	case dialect.TypePrompt:
		w.Prompt = h.Prompt
		if m := h.Model; m != nil {
			w.Model = m.Name
			if m.Provider != "" || m.BaseURL != "" || m.Key != "" {
				lose("the model's provider, address and key; Claude Code asks its own")
			}
		}
	case dialect.TypeHTTP:
		w.URL, w.Headers, w.AllowedEnv = h.URL, h.Headers, h.AllowedEnv
	default:
		w.Type = string(dialect.TypeCommand)
		if !writtenCommand(&w, h) {
			lose("it has no command")
			return w, false
		}
	}
	if h.Timeout != r.standard(h.Type) {
		w.Timeout = float64(h.Timeout) / float64(time.Second)
	}
	if h.Cache > 0 {
		w.Cache = h.Cache.String()
	}
	if s, err := json.Marshal(h.Sandbox); err == nil && string(s) != "{}" {
		w.Sandbox = json.RawMessage(s)
	}
	if h.OnFailure == hook.FailDeny && h.Type != dialect.TypePrompt && !h.Async && !carriesOnAnyway(r.event) {
		w.OnFailure, w.Failure = "block", ""
	}
	losses(h, lose)
	return w, true
}

func carriesOnAnyway(event string) bool {
	return slices.Contains([]string{"Stop", "SubagentStop", "TaskCompleted", "TeammateIdle"}, event)
}

// writtenCommand writes shell text, or an argument vector in exec form.
func writtenCommand(w *written, h dialect.Hook) bool {
	prefixed := func(prefix []string) bool {
		return len(h.Command) == len(prefix)+1 && slices.Equal(h.Command[:len(prefix)], prefix)
	}
	switch {
	case h.Shell != "":
		w.Command = h.Shell
	case len(h.Command) == 0:
		return false
	case prefixed(bashPrefix()):
		w.Shell, w.Command = "bash", h.Command[len(h.Command)-1]
	case prefixed(powershellPrefix()):
		w.Shell, w.Command = "powershell", h.Command[len(h.Command)-1]
	default:
		args := append([]string{}, h.Command[1:]...)
		w.Command, w.Args = h.Command[0], &args
	}
	return strings.TrimSpace(w.Command) != ""
}

// losses names what a settings file has no key for.
func losses(h dialect.Hook, lose func(string, ...any)) {
	for _, l := range []struct {
		there bool
		what  string
	}{
		{h.Dir != "", "its working directory"},
		{len(h.Env) > 0 || len(h.Variables) > 0, "its variables"},
		{h.Priority != 0, "its priority; hooks run at the same time"},
		{h.KeepGoing, "that others run after it has failed"},
		{h.Once, "that it runs once in a session"},
	} {
		if l.there {
			lose("%s", l.what)
		}
	}
}

// matcherOf is the matcher to write: the hook's own, or the list of the tools
// that it stands for where the hook comes from another dialect.
func matcherOf(r row, h dialect.Hook) string {
	names, _, err := r.compile(h.Matcher)
	if h.Tools == nil || err == nil && slices.Equal(names, h.Tools) {
		return h.Matcher
	}
	list := strings.Join(h.Tools, "|")
	if nameList.MatchString(list) {
		return list
	}
	quoted := make([]string, len(h.Tools))
	for i, name := range h.Tools {
		quoted[i] = regexp.QuoteMeta(name)
	}
	return "^(?:" + strings.Join(quoted, "|") + ")$"
}
