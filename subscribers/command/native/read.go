package native

import (
	"slices"
	"strings"

	"github.com/grapnel-dev/grapnel/bus/hook"
	"github.com/grapnel-dev/grapnel/runner/process"
	"github.com/grapnel-dev/grapnel/subscribers/command"
	"github.com/grapnel-dev/grapnel/subscribers/command/dialect"
)

// read reads {"hooks": [...]}.
func read(text []byte, from dialect.Origin) ([]dialect.Hook, []dialect.Problem) {
	r, top := dialect.NewReading(text, from)
	for _, o := range top.Objects("hooks") {
		r.Add(o, readHook(o))
	}
	for _, key := range top.Keys() {
		if key != "hooks" && key != "$schema" && key != "version" {
			r.Problem(key, "the key is not known and does nothing")
		}
	}
	return r.Hooks, r.Problems
}

func readHook(o *dialect.Object) dialect.Hook {
	h := dialect.Hook{
		Shell: o.String("shell"), Command: o.Strings("command"), Prompt: o.String("prompt"), URL: o.String("url"),
		Headers: o.StringMap("headers"), AllowedEnv: o.Strings("allowed_env"), Timeout: o.Duration("timeout"),
		Dir: o.String("dir"), Env: o.StringMap("env"), Priority: o.Int("priority"), Description: o.String("description"),
	}
	h.Rewrites, _ = o.Bool("rewrites")
	h.Disabled, _ = o.Bool("disabled")
	o.Extras(&h)
	if name := o.String("model"); name != "" {
		h.Model = &dialect.Model{Name: name}
	}
	ways := 0
	for _, set := range []bool{h.Shell != "", len(h.Command) > 0, h.Prompt != "", h.URL != ""} {
		if set {
			ways++
		}
	}
	switch {
	case ways != 1:
		o.Bad("command", "set one of command, shell, prompt and url")
	case h.Prompt != "":
		h.Type = dialect.TypePrompt
	case h.URL != "":
		h.Type = dialect.TypeHTTP
	case len(h.Command) > 0:
		if err := command.CheckArguments(h.Command); err != nil {
			o.Bad("command", "%v", err)
		}
	case strings.Contains(h.Shell, "{{"):
		o.Bad("shell", `nothing is put into shell text, where a value could become a command; use the environment variable instead, such as "$GRAPNEL_TOOL_NAME"`)
	}
	for name := range h.Env {
		if err := process.CheckName(name); err != nil {
			o.Bad("env", "%v", err)
		}
	}
	patterns(o, &h)
	return h
}

// patterns reads "on".
func patterns(o *dialect.Object, h *dialect.Hook) {
	on := o.Strings("on")
	h.Matcher = strings.Join(on, ",")
	if len(on) == 0 {
		o.Bad("on", "name the events it wants, such as pre_tool_use.bash")
		return
	}
	p, err := hook.ParsePattern(h.Matcher)
	if err != nil {
		o.Bad("on", "%v", err)
		return
	}
	var tools []string
	all, some := false, false
	for part := range strings.SplitSeq(h.Matcher, ",") {
		name, tool, _ := strings.Cut(strings.TrimSpace(part), ".")
		for _, n := range hook.Names() {
			if (name == "*" || name == ">" || name == string(n)) && !slices.Contains(h.Events, string(n)) {
				h.Events = append(h.Events, string(n))
			}
		}
		if tool == "" || tool == "*" || tool == ">" {
			all = true
		} else {
			some = true
		}
		tools = append(tools, tool)
	}
	if some {
		h.Matches = func(c *dialect.Call) bool { return p.Match(c.Event.Name, c.Event.Subject) }
	}
	if len(h.Events) == 1 && !all {
		h.Tools = tools
	}
}
