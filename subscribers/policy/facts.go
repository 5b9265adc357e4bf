package policy

import (
	"encoding/json"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"

	"cel.dev/cel-go/cel"
	"cel.dev/cel-go/common/types/ref"
	"mvdan.cc/sh/v3/syntax"

	"github.com/grapnel-dev/grapnel/bus/hook"
	"github.com/grapnel-dev/grapnel/internal/strictjson"
	"github.com/grapnel-dev/grapnel/subscribers/policy/shell"
	"github.com/grapnel-dev/grapnel/subscribers/policy/shell/place"
)

// facts are what rules see of one event. Everything is computed when a rule
// first asks for it, and once.
type facts struct {
	event    hook.Event
	roots    place.Roots
	env      *environment
	resolver *place.Resolver

	decoded  any // the tool's input
	analyzed *shell.Script
	found    []*place.Path // paths of the event
	pathsVal ref.Val
	cmdsVal  ref.Val
	eventVal object
	shellVal object
	looked   bool
	vague    bool // a file tool whose paths could not be found
	glance   glance
	long     bool // take no shortcuts
}

// newFacts decodes what must be well-formed before any rule may look at it.
func newFacts(env *environment, ev hook.Event, options *Options) (*facts, error) {
	f := &facts{event: ev, env: env, roots: place.Roots{
		Workspace: workspace(ev, options.Home), Home: options.Home, Temp: options.Temp, Protected: options.Protected,
	}}
	f.eventVal, f.shellVal = object{env.event, f}, object{env.shell, f}
	f.resolver = place.NewResolver(f.roots)
	if t := ev.Data.Tool; t != nil && len(t.Input) > 0 {
		if err := strictjson.Check(t.Input, 0); err != nil {
			return nil, fmt.Errorf("policy: the input of tool %.60q: %w", t.Name, err)
		}
		if err := json.Unmarshal(t.Input, &f.decoded); err != nil {
			return nil, fmt.Errorf("policy: the input of tool %.60q: %w", t.Name, err)
		}
		// Some agents send the input as a JSON text inside a string.
		if text, ok := f.decoded.(string); ok && strings.HasPrefix(strings.TrimSpace(text), "{") {
			var inner any
			if strictjson.Check([]byte(text), 0) == nil && json.Unmarshal([]byte(text), &inner) == nil {
				f.decoded = inner
			}
		}
	}
	return f, nil
}

// workspace is the project's root, or the working directory where the agent
// does not tell one. A home directory's parent is no project.
func workspace(ev hook.Event, home string) string {
	root := ev.Data.Workspace
	if root == "" {
		root = ev.Data.CWD
	}
	root = place.Slash(root)
	if root == "" {
		return ""
	}
	root = path.Clean(root)
	if root == "/" || home != "" && home != root && strings.HasPrefix(home, root+"/") {
		return ""
	}
	return root
}

// ResolveName implements cel.Activation.
func (f *facts) ResolveName(name string) (any, bool) {
	switch name {
	case "event":
		return &f.eventVal, true
	case "shell":
		return &f.shellVal, true
	case "paths":
		return f.paths(), true
	}
	return nil, false
}

// Parent implements cel.Activation.
func (f *facts) Parent() cel.Activation { return nil }

func (f *facts) tool() *hook.Tool {
	if f.event.Data.Tool == nil {
		return &hook.Tool{}
	}
	return f.event.Data.Tool
}

func (f *facts) input() any {
	if f.decoded == nil {
		return map[string]any{}
	}
	return f.decoded
}

// field returns the first text under one of these keys of the input.
func (f *facts) field(keys ...string) (string, bool) {
	m, _ := f.decoded.(map[string]any)
	for _, k := range keys {
		switch v := m[k].(type) {
		case string:
			return v, true
		case []any: // argv form
			words := make([]string, 0, len(v))
			for _, w := range v {
				text, ok := w.(string)
				if !ok {
					return "", false
				}
				quoted, err := syntax.Quote(text, syntax.LangBash)
				if err != nil {
					return "", false
				}
				words = append(words, quoted)
			}
			return strings.Join(words, " "), len(words) > 0
		}
	}
	return "", false
}

// shellName knows tools of other kinds that run shell commands.
var shellName = regexp.MustCompile(`(?i)(^|[_./:-])(bash|zsh|sh|shell|terminal|run_command|execute_command|exec_command|run_shell_command|run_terminal_cmd|run_in_terminal|local_shell|shell_command)$`)

// isShell reports whether the event runs a shell command.
func (f *facts) isShell() bool {
	t := f.event.Data.Tool
	if t == nil {
		return f.event.Name == hook.PreShell
	}
	if t.Kind == hook.KindShell || f.event.Name == hook.PreShell {
		return true
	}
	// The kind is the sender's word; a tool with a shell's name and a command
	// is a shell whatever kind it claims.
	if !shellName.MatchString(t.Name) {
		return false
	}
	_, ok := f.field("command", "cmd", "CommandLine", "command_line", "script")
	return ok
}

// script is the analyzed command of a shell event; an empty one of any other.
func (f *facts) script() *shell.Script {
	if f.analyzed != nil {
		return f.analyzed
	}
	if !f.isShell() {
		f.analyzed = &shell.Script{}
		return f.analyzed
	}
	text, ok := f.field("command", "CommandLine", "cmd", "script", "shell_command", "commandLine", "command_line", "code")
	dir := f.event.Data.CWD
	if at, ok := f.field("cwd", "Cwd", "working_directory", "workdir", "dir_path", "directory", "workingDirectory"); ok && at != "" {
		dir = place.Slash(at)
		if !path.IsAbs(dir) && !strings.Contains(dir, ":") {
			dir = path.Join(place.Slash(f.event.Data.CWD), dir)
		}
	}
	switch {
	case !ok:
		f.analyzed = shell.Unreadable("", shell.Reason{Code: shell.ReasonNoText, Detail: "the input of tool " + f.tool().Name + " has no command"})
	case powershell(f.tool().Name):
		f.analyzed = shell.Unreadable(text, shell.Reason{Code: shell.ReasonLanguage, Detail: "PowerShell"})
	default:
		f.analyzed = shell.Analyze(text, dir, f.resolver, f.roots)
	}
	return f.analyzed
}

func powershell(tool string) bool {
	switch strings.ToLower(tool) {
	case "powershell", "pwsh", "cmd":
		return true
	}
	return false
}

func (f *facts) opaqueReasons() []string {
	out := []string{}
	for _, r := range f.script().Reasons {
		out = append(out, r.String())
	}
	return out
}

func (f *facts) commands() ref.Val {
	if f.cmdsVal == nil {
		f.cmdsVal = list(f.env.command, f.script().Commands)
	}
	return f.cmdsVal
}

func (f *facts) named(names []string) ref.Val {
	commands := f.script().Named(names...)
	if len(commands) == 0 {
		return f.env.empty
	}
	return list(f.env.command, commands)
}

// opaque reports whether the event may do more than the facts say.
func (f *facts) opaque() bool {
	if f.isShell() {
		return f.script().Opaque
	}
	f.pathList()
	return f.vague
}

func (f *facts) paths() ref.Val {
	if f.pathsVal == nil {
		f.pathsVal = list(f.env.path, f.pathList())
	}
	return f.pathsVal
}

// pathList are the paths of the event.
func (f *facts) pathList() []*place.Path {
	if f.looked {
		return f.found
	}
	f.found = nil
	switch {
	case f.isShell():
		f.found = f.script().Paths
	case f.event.Data.Tool != nil:
		f.toolPaths()
	case f.event.Name == hook.PreFileRead && f.event.Data.Path != "":
		f.addPath(f.event.Data.Path, place.Read)
	}
	f.looked = true // not before: what panics is not looked at
	return f.found
}

func (f *facts) addPath(raw string, op place.Op) *place.Path {
	raw = strings.TrimPrefix(raw, "file://")
	if raw == "~" || strings.HasPrefix(raw, "~/") {
		raw = f.roots.Home + raw[1:]
	}
	p := f.resolver.Path(raw, place.Slash(f.event.Data.CWD), op)
	f.found = append(f.found, p)
	return p
}

// toolPaths finds the paths in the input of a file tool.
func (f *facts) toolPaths() {
	t := f.event.Data.Tool
	op := place.Use
	switch t.Kind {
	case hook.KindFileRead, hook.KindSearch:
		op = place.Read
	case hook.KindFileWrite, hook.KindFileEdit:
		op = place.Write
	case hook.KindMCP, hook.KindOther, "":
		if op = place.Read; writes.MatchString(t.Name) {
			op = place.Write
		}
	default:
		return
	}
	f.patchPaths()
	f.collect(f.decoded, op, 0)
	if f.event.Data.Path != "" {
		f.addPath(f.event.Data.Path, op)
	}
	if t.Kind == hook.KindSearch {
		for _, p := range f.found {
			p.Recursive = true
		}
	}
	f.vague = len(f.found) == 0 && (t.Kind == hook.KindFileRead || t.Kind == hook.KindFileWrite || t.Kind == hook.KindFileEdit)
}

// writes knows tools of other kinds that change files.
var writes = regexp.MustCompile(`(?i)(write|edit|create|append|move|rename|delete|remove|update|replace|patch|insert|save|mkdir|set)`)

// patchPaths reads the file names of an apply_patch text.
func (f *facts) patchPaths() {
	m, _ := f.decoded.(map[string]any)
	for _, key := range []string{"command", "patch", "input", "diff"} {
		text, ok := m[key].(string)
		if !ok || !strings.Contains(text, "*** ") {
			continue
		}
		for line := range strings.Lines(text) {
			line = strings.TrimRight(line, "\r\n")
			for _, head := range []string{"*** Add File: ", "*** Update File: ", "*** Move to: "} {
				if name, ok := strings.CutPrefix(line, head); ok {
					f.addPath(name, place.Write)
				}
			}
			if name, ok := strings.CutPrefix(line, "*** Delete File: "); ok {
				f.addPath(name, place.Delete)
			}
		}
	}
}

const mostPaths = 500 // of one tool call

// collect walks the input for values under keys that name paths.
func (f *facts) collect(v any, op place.Op, depth int) {
	if depth > 8 || len(f.found) >= mostPaths {
		return
	}
	switch v := v.(type) {
	case map[string]any:
		keys := make([]string, 0, len(v))
		for k := range v {
			keys = append(keys, k)
		}
		slices.Sort(keys)
		for _, k := range keys {
			if pathKey(k) {
				f.values(v[k], op, depth)
			} else if _, text := v[k].(string); !text {
				f.collect(v[k], op, depth+1)
			}
		}
	case []any:
		for _, x := range v {
			f.collect(x, op, depth+1)
		}
	}
}

func (f *facts) values(v any, op place.Op, depth int) {
	switch v := v.(type) {
	case string:
		if v != "" && len(f.found) < mostPaths {
			f.addPath(v, op)
		}
	case []any:
		for _, x := range v {
			if _, text := x.(string); text {
				f.values(x, op, depth)
			} else {
				f.collect(x, op, depth+1)
			}
		}
	default:
		f.collect(v, op, depth+1)
	}
}

func pathKey(k string) bool {
	switch k {
	case "file_path":
		return true
	case "command", "content", "old_string", "new_string", "description", "pattern":
		return false
	}
	switch strings.ToLower(strings.NewReplacer("_", "", "-", "").Replace(k)) {
	case "path", "paths", "file", "files", "filepath", "filepaths", "absolutepath", "relativepath", "relativeworkspacepath", "targetfile", "notebookpath",
		"filename", "dirpath", "directorypath", "searchpath", "searchdirectory", "oldpath", "newpath", "source", "destination", "uri", "filekey", "targetpath":
		return true
	}
	return false
}
