package claudecode

import (
	"encoding/json"
	"fmt"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/grapnel-dev/grapnel/bus/hook"
	"github.com/grapnel-dev/grapnel/runner/trust"
	"github.com/grapnel-dev/grapnel/subscribers/command/claudecode/settings"
	"github.com/grapnel-dev/grapnel/subscribers/command/dialect"
)

// handler reads one handler; false means that it is left out.
func (r reader) handler(event row, o *dialect.Object, h *dialect.Hook) bool {
	o.Extras(h)
	h.Description = o.String("statusMessage")
	h.If = o.String("if")
	h.Timeout = o.Number("timeout", time.Second)
	switch kind := o.String("type"); kind {
	case "command":
		r.command(event, o, h)
	case "http":
		h.Type = dialect.TypeHTTP
		r.http(event, o, h)
	case "prompt":
		h.Type = dialect.TypePrompt
		r.prompt(event, o, h)
	case "agent", "mcp_tool":
		r.Problem(o.Where(), "hooks of type %s need Claude Code's own agent loop and cannot be run here; leave it where it is", kind)
		return false
	case "":
		o.Bad("type", "there is none; it is command, http or prompt")
		return false
	default:
		o.Bad("type", "%.40q is not known; it is command, http or prompt", kind)
		return false
	}
	if h.Type == "" && settings.IsRegistration(h.Shell, h.Command) {
		return false // it is how events come to the bus
	}
	if h.Timeout == 0 {
		h.Timeout = event.standard(h.Type)
	}
	if event.event == "SessionEnd" {
		h.Timeout = min(h.Timeout, sessionEndMost)
	}
	r.once(o, h)
	r.onFailure(event, o, h)
	return true
}

func (r reader) command(event row, o *dialect.Object, h *dialect.Hook) {
	text := o.String("command")
	if strings.TrimSpace(text) == "" {
		o.Bad("command", "there is none")
	}
	shell := o.String("shell")
	_, exec := o.Raw("args")
	switch args := o.Strings("args"); {
	case exec && shell != "":
		o.Bad("shell", "with \"args\" there is no shell; leave one of them out")
	case exec:
		h.Command = r.placed(append([]string{text}, args...))
	case shell == "bash":
		h.Command = append(bashPrefix(), text)
	case shell == "powershell":
		h.Command = append(powershellPrefix(), text)
	case shell != "":
		o.Bad("shell", "%.40q is not known; it is bash or powershell", shell)
	default:
		h.Shell = text
	}
	if wakes, _ := o.Bool("asyncRewake"); wakes {
		h.Async = true
		r.Problem(o.Path("asyncRewake"), "it runs in the background, and cannot wake the agent from here")
	}
}

// placed puts in the plugin's directory, which is known now. The workspace is
// known when the hook runs, see feed.
func (r reader) placed(argv []string) []string {
	if r.file.Kind == settings.Plugin {
		for i := range argv {
			argv[i] = strings.ReplaceAll(argv[i], "${CLAUDE_PLUGIN_ROOT}", r.From.Base)
		}
	}
	return argv
}

func bashPrefix() []string { return []string{"bash", "-c"} }
func powershellPrefix() []string {
	return []string{"pwsh", "-NoProfile", "-NonInteractive", "-Command"}
}

func (r reader) http(event row, o *dialect.Object, h *dialect.Hook) {
	h.URL, h.Headers, h.AllowedEnv = o.String("url"), o.StringMap("headers"), o.Strings("allowedEnvVars")
	u, err := url.Parse(h.URL)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		o.Bad("url", "%.200q is no http or https address", h.URL)
	}
	if !event.http {
		o.Bad("type", "Claude Code runs no http hooks on %s", event.event)
	}
}

func (r reader) prompt(event row, o *dialect.Object, h *dialect.Hook) {
	h.Prompt = o.String("prompt")
	if strings.TrimSpace(h.Prompt) == "" {
		o.Bad("prompt", "there is none")
	}
	if name := o.String("model"); name != "" {
		h.Model = &dialect.Model{Name: name}
	}
	// A block here is a deny, and the agent goes on in any case.
	o.Bool("continueOnBlock")
	if !event.prompt {
		o.Bad("type", "Claude Code runs no prompt hooks on %s", event.event)
	}
}

func (r reader) once(o *dialect.Object, h *dialect.Hook) {
	once, _ := o.Bool("once")
	if once && r.file.Kind != settings.Skill {
		r.Problem(o.Path("once"), "it counts in a skill's front matter only; the hook runs each time")
		once = false
	}
	h.Once = once
}

// onFailure reads Claude Code's own word for what a failure counts as; it
// stands beside on_failure, which all dialects have.
func (r reader) onFailure(event row, o *dialect.Object, h *dialect.Hook) {
	switch word := o.String("onFailure"); {
	case word == "":
	case word != "block":
		r.Problem(o.Path("onFailure"), "%.40q is not known and does nothing; it is block", word)
	case h.Type == dialect.TypePrompt:
		r.Problem(o.Path("onFailure"), "it counts for command and http hooks only")
	case h.Async:
		r.Problem(o.Path("onFailure"), "nobody waits for a hook in the background, so its failure blocks nothing")
	case slices.Contains([]string{"Stop", "SubagentStop", "TaskCompleted", "TeammateIdle"}, event.event):
		r.Problem(o.Path("onFailure"), "it does not count on %s", event.event)
	default:
		h.OnFailure = hook.FailDeny
	}
	// A model is not switched when the hook about it did not come to an end.
	if event.event == "PreModelSwitch" && h.OnFailure == hook.FailDefault && !h.Async {
		h.OnFailure = hook.FailDeny
	}
}

// match joins what selects a call: the matcher, "if", and the sub-agent whose
// file it is.
func (r reader) match(event row, o *dialect.Object, h *dialect.Hook, matcher func(*dialect.Call) bool) {
	tests := []func(*dialect.Call) bool{}
	if r.file.Kind == settings.Subagent {
		tests = append(tests, r.file.Selects)
	}
	if matcher != nil {
		tests = append(tests, matcher)
	}
	if h.If != "" {
		rule, err := parseRule(h.If)
		switch {
		case !event.tool():
			r.Problem(o.Path("if"), "it counts on tool events only, and keeps the hook from running on %s", event.event)
			tests = []func(*dialect.Call) bool{func(*dialect.Call) bool { return false }}
		case err != nil:
			r.Problem(o.Path("if"), "%v; the hook runs as if it were not there", err)
		default:
			tests = append(tests, rule.matches)
		}
	}
	if len(tests) == 0 {
		return
	}
	h.Matches = func(c *dialect.Call) bool {
		for _, test := range tests {
			if !test(c) {
				return false
			}
		}
		return true
	}
}

// unique makes a name that stands there twice two names: what was approved goes
// by it.
func (r reader) unique(name string) string {
	if name == "" {
		return ""
	}
	base := name
	for n := 2; r.names[name]; n++ {
		name = fmt.Sprintf("%s (%d)", base, n)
	}
	r.names[name] = true
	return name
}

// pluginRoot is the directory of the plugin that a hook comes from, or "".
func pluginRoot(h dialect.Hook) string {
	if h.Origin.Source != trust.Extension || !filepath.IsAbs(h.Origin.Base) {
		return ""
	}
	return h.Origin.Base
}

// failed is an error about what a hook said or did; by Claude Code's rules it
// is gone on from.
func failed(format string, args ...any) error {
	return fmt.Errorf("%w: "+format, append([]any{dialect.ErrFailed}, args...)...)
}

// null reports whether a JSON value is missing.
func null(raw json.RawMessage) bool { return len(raw) == 0 || string(raw) == "null" }
