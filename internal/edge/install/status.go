package install

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/tailscale/hujson"
)

// Status is what Claude Code's settings say about our hooks.
type Status struct {
	// Files are the settings files that can register hooks for the user and
	// the project, the ones that do not exist included.
	Files []FileStatus
	// Managed are the managed settings files that are present; their owner
	// may forbid hooks of one's own.
	Managed []FileStatus
	// Missing are the events of [Events] that no file registers. All of them
	// means that nothing is installed.
	Missing []string
	// Problems are reasons why hooks would not fire or not decide, each with
	// what to do, for people.
	Problems []string
}

// Installed reports whether any event is registered.
func (s Status) Installed() bool { return len(s.Missing) < len(Events()) }

// FileStatus is what one settings file says.
type FileStatus struct {
	// Scope is "user", "project", "local" or "managed".
	Scope string
	Path  string
	// Exists is false where there is no such file.
	Exists bool
	// Err is why it cannot be read; the other fields are then empty.
	Err error
	// Events are registered with an entry of ours that does what an
	// installation writes.
	Events []string
	// Weak are registered too, but with a matcher, a time-out or keys with
	// which the hook does not decide everything.
	Weak []string
	// Binaries are the hook programs of our entries; Stale are those of them
	// that do not exist.
	Binaries, Stale []string
	// PreToolUse are the command lines of our entries on that event, as the
	// agent gives them to a shell.
	PreToolUse []string
	// DisableAllHooks and AllowManagedHooksOnly are the keys of that name.
	DisableAllHooks, AllowManagedHooksOnly bool
	// WorktreeCreate says that an entry of ours listens there, which keeps
	// git's worktrees from being made.
	WorktreeCreate bool
}

// Inspect reads all settings files that concern the user and the project. It
// changes nothing. A file that cannot be read is in the Status with its error.
func Inspect(o *Options) (Status, error) {
	if o == nil {
		o = &Options{}
	}
	user, err := settingsPath(User, o)
	if err != nil {
		return Status{}, err
	}
	project, err := settingsPath(Project, o)
	if err != nil {
		return Status{}, err
	}
	var s Status
	s.Files = append(s.Files, inspect("user", user))
	if project != user {
		s.Files = append(s.Files, inspect("project", project))
	}
	s.Files = append(s.Files, inspect("local", filepath.Join(filepath.Dir(project), "settings.local.json")))
	for _, path := range managedFiles(o.Managed) {
		s.Managed = append(s.Managed, inspect("managed", path))
	}
	var have []string
	for _, f := range slices.Concat(s.Files, s.Managed) {
		have = append(have, f.Events...)
	}
	for _, event := range Events() {
		if !slices.Contains(have, event) {
			s.Missing = append(s.Missing, event)
		}
	}
	s.Problems = problems(s)
	return s, nil
}

// managedFiles lists the managed settings that exist.
func managedFiles(dir string) []string {
	if dir == "" {
		switch runtime.GOOS {
		case "darwin":
			dir = "/Library/Application Support/ClaudeCode"
		case "windows":
			dir = `C:\Program Files\ClaudeCode`
		default:
			dir = "/etc/claude-code"
		}
	}
	var present []string
	if path := filepath.Join(dir, "managed-settings.json"); !missing(path) {
		present = append(present, path)
	}
	// The directory may be absent or closed; then there is nothing to list.
	entries, err := os.ReadDir(filepath.Join(dir, "managed-settings.d"))
	if err != nil {
		return present
	}
	for _, e := range entries {
		if strings.HasSuffix(e.Name(), ".json") {
			present = append(present, filepath.Join(dir, "managed-settings.d", e.Name()))
		}
	}
	return present
}

func missing(path string) bool {
	_, err := os.Stat(path)
	return errors.Is(err, fs.ErrNotExist)
}

func inspect(scope, path string) FileStatus {
	f := FileStatus{Scope: scope, Path: path}
	change, err := read(path)
	if err != nil {
		f.Exists, f.Err = true, err
		return f
	}
	if change.Old == nil {
		return f
	}
	f.Exists = true
	d, err := parse(change.Old)
	if err != nil {
		f.Err = fmt.Errorf("%s: %w", path, err)
		return f
	}
	entries, err := d.entries("")
	if err != nil {
		f.Err = fmt.Errorf("%s: %w", path, err)
		return f
	}
	root := d.root.Value.(*hujson.Object)
	f.DisableAllHooks = isTrue(root, "disableAllHooks")
	f.AllowManagedHooksOnly = isTrue(root, "allowManagedHooksOnly")
	wanted := registrations(true)
	for _, e := range entries {
		if !e.ours {
			continue
		}
		binary := e.argv[0]
		if !slices.Contains(f.Binaries, binary) {
			f.Binaries = append(f.Binaries, binary)
			if stale(binary) {
				f.Stale = append(f.Stale, binary)
			}
		}
		if e.event == neverListen {
			f.WorktreeCreate = true
			continue
		}
		if e.event == "PreToolUse" {
			f.PreToolUse = append(f.PreToolUse, textOf(e.value.Value.(*hujson.Object), "command"))
		}
		i := slices.IndexFunc(wanted, func(r registration) bool { return r.event == e.event })
		if i >= 0 && e.matchesAll && e.does(textOf(e.value.Value.(*hujson.Object), "command"), wanted[i]) {
			f.Events = append(f.Events, e.event)
		} else {
			f.Weak = append(f.Weak, e.event)
		}
	}
	return f
}

func isTrue(o *hujson.Object, name string) bool {
	literal, ok := member0(o, name).(hujson.Literal)
	return ok && literal.Kind() == 't'
}

// stale reports whether a hook program is surely not there. One whose path
// holds a variable cannot be judged from here.
func stale(binary string) bool {
	if strings.Contains(binary, "$") {
		return false
	}
	if strings.ContainsAny(binary, `/\`) {
		return missing(binary)
	}
	_, err := exec.LookPath(binary)
	return err != nil
}

func problems(s Status) []string {
	var list []string
	say := func(format string, args ...any) { list = append(list, fmt.Sprintf(format, args...)) }
	for _, f := range slices.Concat(s.Files, s.Managed) {
		if f.Err != nil {
			say("%v", f.Err)
		}
		if f.DisableAllHooks {
			say("%s has disableAllHooks: no hook fires; remove the key", f.Path)
		}
		if f.AllowManagedHooksOnly && s.Installed() {
			say("%s has allowManagedHooksOnly: hooks of the user and the project do not fire; its owner has to register grapnel there", f.Path)
		}
		for _, binary := range f.Stale {
			say("%s registers %s, which does not exist: tools run unchecked; install again or uninstall", f.Path, binary)
		}
		if len(f.Weak) > 0 {
			say("%s registers %s in a way that does not decide everything; install again", f.Path, strings.Join(f.Weak, ", "))
		}
		if f.WorktreeCreate {
			say("%s registers WorktreeCreate, where a hook takes git's place; install again", f.Path)
		}
	}
	if s.Installed() && len(s.Missing) > 0 {
		say("not registered: %s; install again", strings.Join(s.Missing, ", "))
	}
	return list
}
