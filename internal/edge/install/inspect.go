package install

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/tailscale/hujson"

	"github.com/grapnel-dev/grapnel/internal/edge/hookwire"
)

// lookUp reads a member of a JSON file that need not be there. A file that
// cannot be read is a problem of its own, if it is not one of those that are
// looked at anyway.
func (in *inspection) lookUp(path string, keys ...string) hujson.ValueTrimmed {
	change, err := read(path)
	if err != nil || change.Old == nil {
		return nil
	}
	d, err := parse(change.Old, jsonFormat{}, in.Agent, "")
	if err != nil {
		if !slices.ContainsFunc(in.Files, func(f FileStatus) bool { return f.Path == path }) {
			in.problem("%s: %v", path, err)
		}
		return nil
	}
	v := d.root.Value
	for _, key := range keys {
		object, ok := v.(*hujson.Object)
		if !ok {
			return nil
		}
		v = member0(object, key)
	}
	return v
}

// is reports whether a member of a JSON file is the literal true or false.
func (in *inspection) is(want bool, path string, keys ...string) bool {
	literal, ok := in.lookUp(path, keys...).(hujson.Literal)
	return ok && string(literal) == fmt.Sprint(want)
}

// off notes a switch with which no hook fires.
func (in *inspection) off(f *FileStatus, want bool, keys ...string) {
	if !in.is(want, f.Path, keys...) {
		return
	}
	key := strings.Join(keys, ".")
	f.Off = append(f.Off, key)
	in.problem("%s has %s: no hook fires; remove the key", f.Path, key)
}

// inspectDisabled looks for a switch in the settings themselves.
func inspectDisabled(keys ...string) func(*inspection) {
	return func(in *inspection) {
		for i := range in.Files {
			in.off(&in.Files[i], true, keys...)
		}
	}
}

func inspectClaudeCode(in *inspection) {
	if n := len(in.Files); n > 0 {
		in.Files = append(in.Files, in.file("local", filepath.Join(filepath.Dir(in.Files[n-1].Path), "settings.local.json")))
	}
	for _, path := range managedFiles(in.place.managed) {
		in.Managed = append(in.Managed, in.file("managed", path))
	}
	inspectPosts(in)
	for _, list := range [][]FileStatus{in.Files, in.Managed} {
		for i := range list {
			f := &list[i]
			in.off(f, true, "disableAllHooks")
			if in.is(true, f.Path, "allowManagedHooksOnly") {
				f.Off = append(f.Off, "allowManagedHooksOnly")
				if in.Installed() {
					in.problem("%s has allowManagedHooksOnly: hooks of the user and the project do not fire; its owner has to register grapnel there", f.Path)
				}
			}
		}
	}
}

// managedFiles lists Claude Code's managed settings that exist.
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

func inspectGeminiCLI(in *inspection) {
	for i := range in.Files {
		f := &in.Files[i]
		in.off(f, false, "hooksConfig", "enabled")
		disabled, _ := in.lookUp(f.Path, "hooksConfig", "disabled").(*hujson.Array)
		if disabled == nil {
			continue
		}
		for _, one := range disabled.Elements {
			literal, _ := one.Value.(hujson.Literal)
			name := literal.String()
			if name == hookName || isOurs(words(name), "", in.Agent) {
				f.Off = append(f.Off, "hooksConfig.disabled")
				in.problem("%s has %q in hooksConfig.disabled: our hooks do not fire; take it out there", f.Path, name)
			}
		}
	}
}

func inspectFactoryDroid(in *inspection) {
	for _, f := range slices.Clone(in.Files) {
		settings := filepath.Join(filepath.Dir(f.Path), "settings.json")
		if in.is(true, settings, "hooksDisabled") {
			in.problem("%s has hooksDisabled: no hook fires; remove the key", settings)
		}
	}
}

func inspectAntigravity(in *inspection) {
	for i := range in.Files {
		in.off(&in.Files[i], false, hookName, "enabled")
	}
}

func inspectCopilot(in *inspection) {
	for i := range in.Files {
		f := &in.Files[i]
		in.off(f, true, "disableAllHooks")
		// The settings beside the directory of hooks.
		dir := filepath.Dir(filepath.Dir(f.Path))
		if f.Scope == string(Project) {
			dir = filepath.Join(dir, "copilot")
		}
		for _, name := range []string{"settings.json", "settings.local.json"} {
			if path := filepath.Join(dir, name); in.is(true, path, "disableAllHooks") {
				in.problem("%s has disableAllHooks: no hook fires; remove the key", path)
			}
		}
	}
	in.alsoReads(hookwire.ClaudeCode, "project", "local")
	in.alsoReads(hookwire.VSCode, "user", "project")
}

func inspectVSCode(in *inspection) {
	in.alsoReads(hookwire.ClaudeCode, "user", "project", "local")
	in.alsoReads(hookwire.Copilot, "user", "project")
}

func inspectCursor(in *inspection) {
	in.alsoReads(hookwire.ClaudeCode, "user", "project", "local")
}

// alsoReads notes hooks of ours in another agent's settings that this agent
// reads.
func (in *inspection) alsoReads(other string, scopes ...string) {
	t, ok := targetOf(other)
	if !ok {
		return
	}
	look := &inspection{Status: &Status{Agent: other}, place: in.place, settings: &Settings{target: t, wanted: registrations(other, true)}}
	for _, scope := range []Scope{User, Project} {
		path, err := t.path(scope, in.place)
		if err != nil {
			continue
		}
		look.Files = append(look.Files, look.file(string(scope), path))
		if other == hookwire.ClaudeCode && scope == Project {
			look.Files = append(look.Files, look.file("local", filepath.Join(filepath.Dir(path), "settings.local.json")))
		}
	}
	for _, f := range look.Files {
		if slices.Contains(scopes, f.Scope) && len(f.Lines) > 0 {
			in.note("%s reads %s, too, where our hooks for %s stand: they can fire here as well, a second time for each call; the bus decides once",
				in.Agent, f.Path, other)
		}
	}
}
