package command

import (
	"errors"
	"fmt"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"

	"github.com/grapnel-dev/grapnel/bus/cloudevent"
	"github.com/grapnel-dev/grapnel/bus/hook"
	"github.com/grapnel-dev/grapnel/runner/process"
)

// maxVariable is how much of an event one environment variable may carry, in
// bytes. Linux takes 128 KiB for one variable with its name.
const maxVariable = 100_000

// ErrFeed is wrapped by the errors about an event that a hook cannot be given
// in full. The command is not run then.
var ErrFeed = errors.New("hook command cannot be given the event")

// variable is one GRAPNEL_ environment variable.
type variable struct{ name, value string }

// variables are what a hook command of our dialect finds in its environment.
// Those that the event has no value for are not set.
func variables(e hook.Event) []variable {
	var tool hook.Tool
	if e.Data.Tool != nil {
		tool = *e.Data.Tool
	}
	list := []variable{
		{"GRAPNEL_EVENT", string(e.Name)},
		{"GRAPNEL_EVENT_ID", e.ID},
		// What the command causes was caused by this event.
		{"GRAPNEL_CAUSATION_ID", e.ID},
		{"GRAPNEL_CORRELATION_ID", e.CorrelationID},
		{"GRAPNEL_HOPS", strconv.Itoa(e.Hops)},
		{"GRAPNEL_SESSION_ID", e.SessionID},
		{"GRAPNEL_AGENT", e.Data.Native.Agent},
		{"GRAPNEL_NATIVE_EVENT", e.Data.Native.Event},
		{"GRAPNEL_SUBJECT", e.Subject},
		{"GRAPNEL_CWD", e.Data.CWD},
		{"GRAPNEL_WORKSPACE", e.Data.Workspace},
		{"GRAPNEL_PERMISSION_MODE", e.Data.PermissionMode},
		{"GRAPNEL_MODEL", e.Data.Model},
		{"GRAPNEL_TOOL_NAME", tool.Name},
		{"GRAPNEL_TOOL_KIND", string(tool.Kind)},
		{"GRAPNEL_TOOL_INPUT", string(tool.Input)},
		{"GRAPNEL_TOOL_CALL_ID", tool.CallID},
		{"GRAPNEL_PROMPT", e.Data.Prompt},
		{"GRAPNEL_MESSAGE", e.Data.Message},
		{"GRAPNEL_PATH", e.Data.Path},
		{"GRAPNEL_TRACEPARENT", e.TraceParent},
	}
	kept := list[:0]
	for _, v := range list {
		if v.value != "" {
			kept = append(kept, v)
		}
	}
	return kept
}

// feed is what one run of a hook command gets.
type feed struct {
	spec process.Spec
	// omitted names the variables that could not be set.
	omitted []string
}

// feed makes the specification of a run for an event.
func (c *Command) feed(e hook.Event) (feed, error) {
	stdin, err := cloudevent.Marshal(e)
	if err != nil {
		return feed{}, fmt.Errorf("%w: %w", ErrFeed, err)
	}
	dir, err := workingDirectory(e)
	if err != nil {
		return feed{}, err
	}
	var f feed
	set := make([]string, 0, 24)
	for _, v := range variables(e) {
		if strings.IndexByte(v.value, 0) >= 0 || len(v.value) > maxVariable {
			f.omitted = append(f.omitted, v.name)
			if v.name == "GRAPNEL_TOOL_INPUT" {
				set = append(set, "GRAPNEL_TOOL_INPUT_TRUNCATED=1")
			}
			continue
		}
		set = append(set, v.name+"="+v.value)
	}
	if len(f.omitted) > 0 {
		set = append(set, "GRAPNEL_OMITTED="+strings.Join(f.omitted, " "))
		if name := blindTo(c.hook.Shell, f.omitted); name != "" {
			return feed{}, fmt.Errorf("%w: $%s is too large for an environment variable (at most %d bytes) or has a NUL byte in it; read the event from stdin, or look at $GRAPNEL_OMITTED", ErrFeed, name, maxVariable)
		}
	}
	f.spec = process.Spec{
		Name:    c.hook.Name,
		Dir:     dir,
		Env:     process.Environment(c.environ, c.path, c.hook.Env, set),
		Stdin:   stdin,
		Timeout: c.hook.timeout(),
		Grace:   c.grace,
	}
	if c.hook.Shell != "" {
		f.spec.Shell = c.hook.Shell
		return f, nil
	}
	f.spec.Command, err = expand(c.arguments, e)
	return f, err
}

// blindTo returns a variable that the shell text uses and that is not set, or
// "". Such a hook would check nothing and let everything pass, unless it says
// that it knows.
func blindTo(text string, omitted []string) string {
	used := make(map[string]bool)
	for _, name := range variableName.FindAllString(text, -1) {
		used[name] = true
	}
	if used["GRAPNEL_OMITTED"] {
		return ""
	}
	for _, name := range omitted {
		if used[name] && !(name == "GRAPNEL_TOOL_INPUT" && used["GRAPNEL_TOOL_INPUT_TRUNCATED"]) {
			return name
		}
	}
	return ""
}

var variableName = regexp.MustCompile(`GRAPNEL_[A-Z_]+`)

// workingDirectory is the event's workspace, or else its directory.
func workingDirectory(e hook.Event) (string, error) {
	dir := e.Data.Workspace
	if dir == "" {
		dir = e.Data.CWD
	}
	if dir == "" {
		return filepath.FromSlash("/"), nil
	}
	if !filepath.IsAbs(dir) || strings.IndexByte(dir, 0) >= 0 {
		return "", fmt.Errorf("%w: its directory %.100q is not an absolute path", ErrFeed, dir)
	}
	return filepath.Clean(dir), nil
}
