package command

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/grapnel-dev/grapnel/bus/cloudevent"
	"github.com/grapnel-dev/grapnel/bus/hook"
	"github.com/grapnel-dev/grapnel/runner/process"
)

// ErrFeed is wrapped by the errors about an event that a hook cannot be given
// in full. The command is not run then.
var ErrFeed = errors.New("hook command cannot be given the event")

// ErrCircular is wrapped by the errors about a hook that would run because of
// itself, or after too many others. The command is not run then.
var ErrCircular = errors.New("circular trigger")

// Variables are what a hook command of our dialect finds in its environment
// about an event, NAME=value, without the marks of what it causes. Those that
// the event has no value for are not set.
func Variables(e hook.Event) []string {
	var tool hook.Tool
	if e.Data.Tool != nil {
		tool = *e.Data.Tool
	}
	list := [][2]string{
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
	set := make([]string, 0, len(list)+3)
	for _, v := range list {
		if v[1] != "" {
			set = append(set, v[0]+"="+v[1])
		}
	}
	return set
}

// feed is what one run of a hook command gets.
type feed struct {
	spec process.Spec
	// omitted names the variables that could not be set.
	omitted []string
}

// feed makes the specification of a run for an event.
func (c *Command) feed(e hook.Event) (feed, error) {
	switch {
	case e.Hops > hook.MaxHops:
		return feed{}, fmt.Errorf("%w: %d hooks led to this event, and hooks run after %d at most", ErrCircular, e.Hops, hook.MaxHops)
	case e.Descended(c.hook.Name):
		return feed{}, fmt.Errorf("%w: this hook led to the event itself", ErrCircular)
	}
	stdin, err := cloudevent.Marshal(e)
	if err != nil {
		return feed{}, fmt.Errorf("%w: %w", ErrFeed, err)
	}
	dir, err := workingDirectory(e)
	if err != nil {
		return feed{}, err
	}
	var f feed
	set, omitted := FitVariables(append(Variables(e), "GRAPNEL_ANCESTRY="+e.Ancestry(c.hook.Name)))
	f.omitted = omitted
	if len(f.omitted) > 0 {
		truncated := slices.Contains(f.omitted, "GRAPNEL_TOOL_INPUT")
		if truncated {
			set = append(set, "GRAPNEL_TOOL_INPUT_TRUNCATED=1")
		}
		set = append(set, "GRAPNEL_OMITTED="+strings.Join(f.omitted, " "))
		name := BlindTo(c.hook.Shell, f.omitted)
		if name != "" && !(name == "GRAPNEL_TOOL_INPUT" && strings.Contains(c.hook.Shell, "GRAPNEL_TOOL_INPUT_TRUNCATED")) {
			return feed{}, fmt.Errorf("%w: $%s is too large for an environment variable (at most %d bytes) or has a NUL byte in it; read the event from stdin, or look at $GRAPNEL_OMITTED", ErrFeed, name, MaxVariable)
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
