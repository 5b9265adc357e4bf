package install

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/tailscale/hujson"
)

// Scope says whose settings file is meant.
type Scope string

// The scopes that an installation can have.
const (
	User    Scope = "user"    // settings.json in ~/.claude, or in CLAUDE_CONFIG_DIR
	Project Scope = "project" // .claude/settings.json of a project; it is usually committed
)

// Options are what [NewClaudeCode] and [Inspect] may be told.
type Options struct {
	// Getenv reads the environment; os.Getenv when nil.
	Getenv func(string) string
	// Project is the project's directory; the working directory when empty.
	Project string
	// Managed is the directory of managed settings; the system's when empty.
	// Only Inspect looks there.
	Managed string
	// Flags stand before the agent's name on the command line: where the bus is,
	// so that no variable of the agent's environment says so.
	Flags []string
	// MessageDisplay registers that event too; see the package's
	// documentation for what it costs.
	MessageDisplay bool
}

// ClaudeCode is one of Claude Code's settings files, with the hook binary that
// is or is not registered in it.
type ClaudeCode struct {
	path           string
	binary         string
	flags          []string
	messageDisplay bool
}

// NewClaudeCode names the settings file of a scope. binary is the absolute
// path of grapnel-hook; it may be empty when nothing is going to be installed.
func NewClaudeCode(scope Scope, binary string, o *Options) (*ClaudeCode, error) {
	if o == nil {
		o = &Options{}
	}
	path, err := settingsPath(scope, o)
	if err != nil {
		return nil, err
	}
	if runtime.GOOS == "windows" {
		// The hook runs in a shell to which a backslash means something else.
		binary = filepath.ToSlash(binary)
	}
	return &ClaudeCode{path: path, binary: binary, flags: o.Flags, messageDisplay: o.MessageDisplay}, nil
}

func settingsPath(scope Scope, o *Options) (string, error) {
	getenv := o.Getenv
	if getenv == nil {
		getenv = os.Getenv
	}
	switch scope {
	case User:
		if dir := getenv("CLAUDE_CONFIG_DIR"); dir != "" {
			return filepath.Join(dir, "settings.json"), nil
		}
		home := getenv("HOME")
		if home == "" {
			home = getenv("USERPROFILE")
		}
		if home == "" {
			return "", errors.New("the home directory is not known; set HOME or CLAUDE_CONFIG_DIR")
		}
		return filepath.Join(home, ".claude", "settings.json"), nil
	case Project:
		dir := o.Project
		if dir == "" {
			var err error
			if dir, err = os.Getwd(); err != nil {
				return "", err
			}
		}
		return filepath.Join(dir, ".claude", "settings.json"), nil
	}
	return "", fmt.Errorf("there is no scope %q; it is user or project", string(scope))
}

// Path is the settings file's path; the file need not exist.
func (c *ClaudeCode) Path() string { return c.path }

// PlanInstall returns the change after which every event in [Events] is
// registered with this binary, once, and nothing of ours besides. Entries of
// ours that stand there already and do the same stay as they are.
func (c *ClaudeCode) PlanInstall() (*Change, error) {
	if !filepath.IsAbs(c.binary) {
		return nil, fmt.Errorf("the hook binary %q must be an absolute path", c.binary)
	}
	if info, err := os.Stat(c.binary); err != nil {
		return nil, fmt.Errorf("the hook binary is not there (%w); build it first, an agent lets tools run when it is missing", err)
	} else if info.IsDir() || (runtime.GOOS != "windows" && info.Mode()&0o111 == 0) {
		return nil, fmt.Errorf("the hook binary %s is not an executable file", c.binary)
	}
	return c.plan(func(d *document) error {
		wanted := registrations(c.messageDisplay)
		err := c.removeOurs(d, func(e entry) bool {
			i := slices.IndexFunc(wanted, func(r registration) bool { return r.event == e.event })
			return i < 0
		})
		if err != nil {
			return err
		}
		for _, r := range wanted {
			if err := c.register(d, r); err != nil {
				return err
			}
		}
		return nil
	})
}

// PlanUninstall returns the change after which nothing of ours is registered,
// with this binary or another. Groups, events and the hooks object that are
// empty then go too.
func (c *ClaudeCode) PlanUninstall() (*Change, error) {
	return c.plan(func(d *document) error {
		return c.removeOurs(d, func(entry) bool { return true })
	})
}

func (c *ClaudeCode) plan(edit func(*document) error) (*Change, error) {
	change, err := read(c.path)
	if err != nil {
		return nil, err
	}
	d, err := parse(change.Old)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", c.path, err)
	}
	before := string(d.text)
	if err := edit(d); err != nil {
		return nil, fmt.Errorf("%s: %w", c.path, err)
	}
	change.New = change.Old
	if string(d.text) != before {
		change.New = d.bytes()
	}
	entries, err := d.entries(c.binary)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", c.path, err)
	}
	for _, e := range entries {
		if !e.ours && strings.Contains(e.line, shimName) {
			change.Left = append(change.Left, e.event+": "+e.line)
		}
	}
	return change, nil
}

// register makes sure that the event has one entry of ours that does what r
// says for every tool.
func (c *ClaudeCode) register(d *document, r registration) error {
	entries, err := d.entries(c.binary)
	if err != nil {
		return err
	}
	entries = slices.DeleteFunc(slices.Clone(entries), func(e entry) bool { return !e.ours || e.event != r.event })
	want := value{members: []member{
		{"type", text("command")},
		{"command", text(commandLine(c.binary, c.flags, r.event))},
		{"timeout", value{literal: fmt.Sprint(r.timeout)}},
	}}
	if r.block {
		want.members = append(want.members, member{"onFailure", text("block")})
	}
	if len(entries) == 1 && entries[0].matchesAll {
		if entries[0].does(commandLine(c.binary, c.flags, r.event), r) {
			return nil
		}
		return d.replace(entries[0].value, want)
	}
	if len(entries) > 0 {
		if err := c.removeOurs(d, func(e entry) bool { return e.event == r.event }); err != nil {
			return err
		}
	}
	return d.append(r.event, value{members: []member{{"hooks", value{elements: []value{want}}}}})
}

// append adds a group to the event's array, and what has to be there for it.
func (d *document) append(event string, group value) error {
	root := d.root.Value.(*hujson.Object)
	i, err := find(root, "hooks")
	if err != nil {
		return err
	}
	if i < 0 {
		return d.add(d.root, "hooks", value{members: []member{{event, value{elements: []value{group}}}}}, false)
	}
	hooks := root.Members[i].Value
	rootCompact := !strings.Contains(string(root.Members[i].Name.BeforeExtra), "\n")
	object := hooks.Value.(*hujson.Object)
	if i, err = find(object, event); err != nil {
		return err
	}
	if i < 0 {
		return d.add(hooks, event, value{elements: []value{group}}, rootCompact)
	}
	eventCompact := !strings.Contains(string(object.Members[i].Name.BeforeExtra), "\n")
	return d.add(object.Members[i].Value, "", group, eventCompact)
}

// removeOurs takes out our entries for which which is true, and what is empty
// after that.
func (c *ClaudeCode) removeOurs(d *document, which func(entry) bool) error {
	for {
		entries, err := d.entries(c.binary)
		if err != nil {
			return err
		}
		i := slices.IndexFunc(entries, func(e entry) bool { return e.ours && which(e) })
		if i < 0 {
			return nil
		}
		if err := d.prune(entries[i]); err != nil {
			return err
		}
	}
}

// prune removes the largest thing that holds nothing but the entry.
func (d *document) prune(e entry) error {
	root := d.root.Value.(*hujson.Object)
	hooks := root.Members[e.at.hooks].Value
	event := hooks.Value.(*hujson.Object).Members[e.at.event].Value
	group := event.Value.(*hujson.Array).Elements[e.at.group]
	inner := group.Value.(*hujson.Object).Members[e.at.inner].Value
	switch {
	case len(inner.Value.(*hujson.Array).Elements) > 1 || !e.matchesAll || e.groupHasMore:
		return d.remove(inner, e.at.entry)
	case len(event.Value.(*hujson.Array).Elements) > 1:
		return d.remove(event, e.at.group)
	case len(hooks.Value.(*hujson.Object).Members) > 1:
		return d.remove(hooks, e.at.event)
	}
	return d.remove(d.root, e.at.hooks)
}
