package install

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"slices"
	"strings"

	"github.com/grapnel-dev/grapnel/bus/hook"
	"github.com/grapnel-dev/grapnel/internal/edge"
)

// Status is what an agent's settings say about our hooks.
type Status struct {
	Agent string
	// Files are the settings that can register hooks for the user and the
	// project, the ones that do not exist included.
	Files []FileStatus
	// Managed are the managed settings files that are present; their owner
	// may forbid hooks of one's own.
	Managed []FileStatus
	// Missing are the events of [Events] that no file registers. All of them
	// means that nothing is installed.
	Missing []string
	// LeftOut are events that an installation does not register, each with the
	// reason.
	LeftOut []string
	// Problems are reasons why hooks would not fire or not decide, each with
	// what to do, for people.
	Problems []string
	// Notes are what is worth knowing and does no harm.
	Notes []string
}

// Installed reports whether any event is registered.
func (s Status) Installed() bool {
	for _, f := range slices.Concat(s.Files, s.Managed) {
		if f.Installed() {
			return true
		}
	}
	return false
}

// Posts reports whether any event is registered with a hook that is posted.
func (s Status) Posts() bool {
	return slices.ContainsFunc(slices.Concat(s.Files, s.Managed), func(f FileStatus) bool { return len(f.Posts) > 0 })
}

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
	// Unasked are registered and should not be.
	Unasked []string
	// Binaries are the hook programs of our entries; Stale are those of them
	// that do not exist.
	Binaries, Stale []string
	// Lines are the command lines of our entries on each event, as the agent
	// gives them to a shell.
	Lines map[string][]string
	// Posts are our entries on each event that are posted instead.
	Posts map[string][]Post
	// Off are keys in it with which no hook fires, or none of one's own.
	Off []string
}

// Installed reports whether the file registers any event.
func (f FileStatus) Installed() bool { return len(f.Binaries) > 0 || len(f.Posts) > 0 }

// add notes an entry of ours. does says whether it is as an installation
// writes it.
func (f *FileStatus) add(s *Settings, event, line, binary string, does func(registration) bool) {
	if !slices.Contains(f.Binaries, binary) {
		f.Binaries = append(f.Binaries, binary)
		if stale(binary) {
			f.Stale = append(f.Stale, binary)
		}
	}
	if f.judge(s, event, does) {
		if f.Lines == nil {
			f.Lines = map[string][]string{}
		}
		f.Lines[event] = append(f.Lines[event], line)
	}
}

// addPost is add for an entry that is posted.
func (f *FileStatus) addPost(s *Settings, event string, p Post, does func(registration) bool) {
	f.judge(s, event, does)
	if f.Posts == nil {
		f.Posts = map[string][]Post{}
	}
	f.Posts[event] = append(f.Posts[event], p)
}

// judge notes how an event is registered, and reports whether it should be.
func (f *FileStatus) judge(s *Settings, event string, does func(registration) bool) bool {
	i := slices.IndexFunc(s.wanted, func(r registration) bool { return r.event == event })
	if i < 0 {
		f.Unasked = append(f.Unasked, event)
		return false
	}
	if does(s.wanted[i]) {
		f.Events = append(f.Events, event)
	} else {
		f.Weak = append(f.Weak, event)
	}
	return true
}

// read says what is registered in a JSON file.
func (f jsonFormat) read(s *Settings, path string, out *FileStatus) {
	change, err := read(path)
	if err != nil {
		out.Exists, out.Err = true, err
		return
	}
	if out.Exists = change.Old != nil; !out.Exists {
		return
	}
	d, err := parse(change.Old, f, s.target.agent, s.binary)
	var entries []entry
	if err == nil {
		entries, err = d.entries()
	}
	if err != nil {
		out.Err = fmt.Errorf("%s: %w", path, err)
		return
	}
	for _, e := range entries {
		switch {
		case e.ours && e.post != nil:
			out.addPost(s, e.event, *e.post, func(r registration) bool { return e.matchesAll && d.doesPost(e, r) })
		case e.ours:
			out.add(s, e.event, e.line, e.argv[0], func(r registration) bool {
				return e.matchesAll && d.does(e, f.entry(r, e.line))
			})
		}
	}
}

// inspection is one look at an agent's settings.
type inspection struct {
	*Status
	settings *Settings
	place    place
}

func (in *inspection) problem(format string, args ...any) {
	in.Problems = append(in.Problems, fmt.Sprintf(format, args...))
}

func (in *inspection) note(format string, args ...any) {
	in.Notes = append(in.Notes, fmt.Sprintf(format, args...))
}

// file reads one more settings file.
func (in *inspection) file(scope, path string) FileStatus {
	f := FileStatus{Scope: scope, Path: path}
	in.settings.target.format.read(in.settings, path, &f)
	return f
}

// Inspect reads all settings files of an agent that concern the user and the
// project. It changes nothing. A file that cannot be read is in the Status
// with its error.
func Inspect(agent string, o *Options) (Status, error) {
	s := Status{Agent: agent}
	in := &inspection{Status: &s, place: o.place()}
	streams := Options{Getenv: in.place.getenv, Project: in.place.project, MessageDisplay: true}
	user, err := New(agent, User, "", &streams)
	if err != nil {
		return Status{}, err
	}
	in.settings = user
	s.Files = append(s.Files, in.file("user", user.path))
	if user.target.project != "" {
		project, err := New(agent, Project, "", &streams)
		if err != nil {
			return Status{}, err
		}
		if project.path != user.path {
			s.Files = append(s.Files, in.file("project", project.path))
		}
	}
	if user.target.inspect != nil {
		user.target.inspect(in)
	}
	var have []string
	for _, f := range slices.Concat(s.Files, s.Managed) {
		have = append(have, f.Events...)
	}
	for _, event := range Events(agent) {
		if !slices.Contains(have, event) {
			s.Missing = append(s.Missing, event)
		}
	}
	s.LeftOut = leftOut(agent)
	in.common()
	return s, nil
}

// leftOut lists what is not registered, and why. What is registered under
// another of its names is not left out.
func leftOut(agent string) []string {
	var list []string
	all := edge.Capabilities()
	for _, c := range all {
		switch {
		case c.Agent != agent || registered(c, false):
		case slices.ContainsFunc(all, func(o edge.Capability) bool {
			return o.Agent == agent && o.Canonical == c.Canonical && registered(o, false)
		}):
		case c.Canonical == hook.ModelStreamChunk:
			list = append(list, c.Event+" (one process for each streamed piece; on request, with --message-display)")
		default:
			list = append(list, c.Event+" ("+c.Note+")")
		}
	}
	return list
}

// common finds what can be wrong with any agent's settings.
func (in *inspection) common() {
	installed := in.Installed()
	for _, f := range slices.Concat(in.Files, in.Managed) {
		if f.Err != nil {
			in.problem("%v", f.Err)
		}
		for _, binary := range f.Stale {
			in.problem("%s registers %s, which does not exist: %s; install again or uninstall", f.Path, binary, in.settings.target.without)
		}
		if len(f.Weak) > 0 {
			in.problem("%s registers %s in a way that does not decide everything; install again", f.Path, strings.Join(f.Weak, ", "))
		}
		for _, event := range f.Unasked {
			for _, why := range in.LeftOut {
				if strings.HasPrefix(why, event+" (") {
					event = why
				}
			}
			in.problem("%s registers %s, where no hook of ours should listen; install again", f.Path, event)
		}
	}
	if installed && len(in.Missing) > 0 {
		in.problem("not registered: %s; install again", strings.Join(in.Missing, ", "))
	}
	if len(in.Files) > 1 && len(in.Files[0].Events) > 0 && len(in.Files[1].Events) > 0 {
		in.note("registered for the user and in the project: hooks fire twice there, and the bus decides once")
	}
}

func missing(path string) bool {
	_, err := os.Stat(path)
	return errors.Is(err, fs.ErrNotExist)
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
