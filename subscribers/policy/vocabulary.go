package policy

import (
	"strings"

	"cel.dev/cel-go/cel"

	"github.com/grapnel-dev/grapnel/subscribers/policy/shell"
	"github.com/grapnel-dev/grapnel/subscribers/policy/shell/place"
)

// classes declares what rules see. doc.go is its manual.
func (e *environment) classes() {
	e.path, e.command, e.redirect = newClass("Path"), newClass("Command"), newClass("Redirect")
	e.shell, e.tool, e.event = newClass("Shell"), newClass("Tool"), newClass("Event")
	e.pathFields()
	e.commandFields()
	e.shellFields()
	e.eventFields()
}

func (e *environment) pathFields() {
	c := e.path
	withText(c, "raw", func(p *place.Path) string { return p.Raw })
	withText(c, "path", func(p *place.Path) string { return p.Abs })
	withText(c, "real", func(p *place.Path) string { return p.Real() })
	withText(c, "base", func(p *place.Path) string { return p.Base() })
	withText(c, "op", func(p *place.Path) string { return string(p.Op) })
	withBool(c, "unknown", func(p *place.Path) bool { return p.Unknown })
	withBool(c, "partial", func(p *place.Path) bool { return p.Partial })
	withBool(c, "glob", func(p *place.Path) bool { return p.Glob })
	withBool(c, "recursive", func(p *place.Path) bool { return p.Recursive })
	withBool(c, "in_workspace", (*place.Path).InWorkspace)
	withBool(c, "in_home", (*place.Path).InHome)
	withBool(c, "in_temp", (*place.Path).InTemp)
	withBool(c, "protected", (*place.Path).Protected)
	withBool(c, "system", (*place.Path).System)
	withBool(c, "device", (*place.Path).Device)
	withBool(c, "covers_workspace", (*place.Path).CoversWorkspace)
	withBool(c, "covers_home", (*place.Path).CoversHome)
}

func (e *environment) commandFields() {
	c := e.command
	withText(c, "name", func(c *shell.Command) string { return c.Name })
	withText(c, "sub", func(c *shell.Command) string { return c.Sub })
	withTexts(c, "argv", func(c *shell.Command) []string { return c.Argv })
	withTexts(c, "args", func(c *shell.Command) []string { return c.Args })
	withTexts(c, "flags", func(c *shell.Command) []string { return c.Flags() })
	withText(c, "line", func(c *shell.Command) string { return strings.Join(c.Argv, " ") })
	withBool(c, "dynamic", func(c *shell.Command) bool { return c.Dynamic })
	withBool(c, "opaque", (*shell.Command).Opaque)
	withTexts(c, "wrappers", func(c *shell.Command) []string { return c.Wrappers })
	withTexts(c, "fed_by", func(c *shell.Command) []string { return c.FedBy })
	withTexts(c, "feeds", func(c *shell.Command) []string { return c.Feeds })
	withText(c, "code", func(c *shell.Command) string { return c.Code })
	withBool(c, "shell", func(c *shell.Command) bool { return c.Shell })
	withTexts(c, "vars", func(c *shell.Command) []string { return c.Vars })
	withTexts(c, "sent", func(c *shell.Command) []string { return c.Sent })
	withBool(c, "remote", func(c *shell.Command) bool { return c.Remote })
	withBool(c, "recurses", func(c *shell.Command) bool { return c.Recurses })
	withText(c, "directory", func(c *shell.Command) string { return c.Directory })
	withItems(c, "paths", e.path,
		func(c *shell.Command) items { return items{paths: c.Paths} },
		func(c *shell.Command) any { return list(e.path, c.Paths) })

	withText(e.redirect, "op", func(r *shell.Redirect) string { return string(r.Op) })
	withBool(e.redirect, "append", func(r *shell.Redirect) bool { return r.Append })
	withText(e.redirect, "command", func(r *shell.Redirect) string { return r.Command })
	withObject(e.redirect, "target", e.path, func(r *shell.Redirect) any { return r.Target })
}

func (e *environment) shellFields() {
	c := e.shell
	withText(c, "text", func(f *facts) string { return f.script().Text })
	withItems(c, "commands", e.command,
		func(f *facts) items { return items{commands: f.script().Commands} },
		func(f *facts) any { return f.commands() })
	withItems(c, "redirects", e.redirect,
		func(f *facts) items { return items{redirects: f.script().Redirects} },
		func(f *facts) any { return list(e.redirect, f.script().Redirects) })
	withBool(c, "opaque", func(f *facts) bool { return f.script().Opaque })
	withTexts(c, "opaque_reasons", (*facts).opaqueReasons)
}

func (e *environment) eventFields() {
	c := e.tool
	withText(c, "name", func(f *facts) string { return f.tool().Name })
	withText(c, "kind", func(f *facts) string { return string(f.tool().Kind) })
	withText(c, "call_id", func(f *facts) string { return f.tool().CallID })
	with(c, "input", cel.DynType, (*facts).input)

	c = e.event
	withText(c, "id", func(f *facts) string { return f.event.ID })
	withText(c, "name", func(f *facts) string { return string(f.event.Name) })
	withText(c, "source", func(f *facts) string { return f.event.Source })
	withText(c, "subject", func(f *facts) string { return f.event.Subject })
	withText(c, "session", func(f *facts) string { return f.event.SessionID })
	withText(c, "agent", func(f *facts) string { return f.event.Data.Native.Agent })
	withText(c, "native_event", func(f *facts) string { return f.event.Data.Native.Event })
	withText(c, "cwd", func(f *facts) string { return f.event.Data.CWD })
	withText(c, "workspace", func(f *facts) string { return f.roots.Workspace })
	withText(c, "permission_mode", func(f *facts) string { return f.event.Data.PermissionMode })
	withText(c, "model", func(f *facts) string { return f.event.Data.Model })
	withText(c, "prompt", func(f *facts) string { return f.event.Data.Prompt })
	withText(c, "message", func(f *facts) string { return f.event.Data.Message })
	withText(c, "reason", func(f *facts) string { return f.event.Data.Reason })
	withText(c, "error", func(f *facts) string { return f.event.Data.Error })
	withText(c, "path", func(f *facts) string { return f.event.Data.Path })
	with(c, "hops", cel.IntType, func(f *facts) any { return int64(f.event.Hops) })
	withBool(c, "subagent", func(f *facts) bool { return f.event.Data.Subagent != nil })
	withObject(c, "tool", e.tool, func(f *facts) any { return f })
}
