package codeforge

import (
	"regexp"
	"strings"
	"time"

	"github.com/grapnel-dev/grapnel/subscribers/command/dialect"
)

// sourced finds bash's word for ".", which /bin/sh need not know.
var sourced = regexp.MustCompile(`(?:^|[;&|({!]|\bthen|\bdo|\belse)\s*source\s`)

// Read reads one of the dialect's files. A hook that is wrong is a problem, and
// the others load.
func Read(text []byte, from dialect.Origin) ([]dialect.Hook, []dialect.Problem) {
	r, file := dialect.NewReading(text, from)
	if file == nil {
		return r.Hooks, r.Problems
	}
	stop, there := file.Bool("stop_on_failure")
	for _, o := range file.Objects("hooks") {
		h := dialect.Hook{Type: dialect.TypeCommand, KeepGoing: there && !stop}
		readHook(r, o, &h)
		r.Add(o, h)
	}
	for _, key := range file.Keys() {
		if key != "hooks" && key != "stop_on_failure" {
			r.Problem(key, "the key %.80q is not known and does nothing", key)
		}
	}
	return r.Hooks, r.Problems
}

func readHook(r *dialect.Reading, o *dialect.Object, h *dialect.Hook) {
	h.Matcher = o.String("event")
	list, err := parsePatterns(h.Matcher)
	if err != nil {
		o.Bad("event", "%v", err)
	} else {
		h.Events, h.Tools, h.Matches = selection(list)
	}
	h.Shell = o.String("command")
	switch {
	case strings.TrimSpace(h.Shell) == "":
		o.Bad("command", "there is none; it is text for the shell")
	case strings.ContainsRune(h.Shell, 0):
		o.Bad("command", "there is a NUL byte in it")
	case sourced.MatchString(h.Shell):
		r.Problem(o.Path("command"), "\"source\" is a word of bash; this runs in /bin/sh, which may not know it: write \". ./file\"")
	}
	h.Timeout = o.Number("timeout", time.Second)
	h.Dir = o.String("working_dir")
	if strings.ContainsRune(h.Dir, 0) {
		o.Bad("working_dir", "there is a NUL byte in it")
	}
	h.Env = o.StringMap("env")
	for name, value := range h.Env {
		if name == "" || strings.ContainsAny(name, "=\x00") || strings.ContainsRune(value, 0) {
			o.Bad("env", "%.60q cannot be an environment variable", name)
		}
	}
	if enabled, there := o.Bool("enabled"); there {
		h.Disabled = !enabled
	}
	if stop, there := o.Bool("stop_on_failure"); there {
		h.KeepGoing = !stop
	}
	h.Description = o.String("description")
	o.Extras(h)
}
