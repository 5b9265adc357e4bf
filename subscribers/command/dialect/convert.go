package dialect

import (
	"fmt"
	"slices"
	"strings"

	"github.com/grapnel-dev/grapnel/bus/hook"
)

// Conversion is what came of moving hooks from one dialect to another.
type Conversion struct {
	// Text is the new configuration file.
	Text []byte
	// Converted counts the hooks in it.
	Converted int
	// Lost says what the new file does not say, each with the hook.
	Lost []string
}

// Convert writes hooks that were read by one dialect as another one's
// configuration, and says what was lost. Hooks for which nothing is left to say
// are left out. The programs of hooks do not change: each dialect feeds them in
// its own form, which the result says too.
func Convert(hooks []Hook, from, to *Dialect) (Conversion, error) {
	var c Conversion
	var kept []Hook
	for _, h := range hooks {
		moved, lost, ok := moveHook(h, from, to)
		for _, l := range lost {
			c.Lost = append(c.Lost, h.Label()+": "+l)
		}
		if ok {
			kept = append(kept, moved)
		}
	}
	text, lost, err := to.Write(kept)
	if err != nil {
		return c, err
	}
	c.Text, c.Converted, c.Lost = text, written(kept, to), append(c.Lost, lost...)
	if from.Name != to.Name && slices.ContainsFunc(kept, func(h Hook) bool { return h.Type == TypeCommand }) {
		c.Lost = append(c.Lost, fmt.Sprintf("the programs are given their input, and their answers are read, as %s does and no longer as %s does", to.Name, from.Name))
	}
	return c, nil
}

// written counts the hooks for which a dialect has words: those that can be read
// again from what it writes about them.
func written(hooks []Hook, to *Dialect) int {
	n := 0
	for _, h := range hooks {
		text, _, err := to.Write([]Hook{h})
		if err != nil {
			continue
		}
		if back, _ := to.Read(text, h.Origin); len(back) > 0 {
			n++
		}
	}
	return n
}

func moveHook(h Hook, from, to *Dialect) (moved Hook, lost []string, ok bool) {
	moved = h
	if from.Name == to.Name {
		return moved, nil, true
	}
	lose := func(format string, args ...any) { lost = append(lost, fmt.Sprintf(format, args...)) }
	moved.Events = nil
	for _, name := range h.Events {
		canonical, there := from.Vocabulary.meaning(name)
		event, known := to.Vocabulary.Event(canonical)
		switch {
		case !there || !known:
			lose("event %s: %s has no such event", name, to.Name)
			continue
		case !event.Blocks && from.Vocabulary.blocks(name):
			lose("event %s: hooks cannot block it in %s", name, to.Name)
		}
		if !slices.Contains(moved.Events, event.Name) {
			moved.Events = append(moved.Events, event.Name)
		}
		if apart := to.Vocabulary.apart(from.Vocabulary.Canonical(name), event.Name); len(apart) > 0 {
			lose("event %s: it is said for %s alone; name %s beside it if you want them", name, event.Name, strings.Join(apart, ", "))
		}
	}
	if len(moved.Events) == 0 {
		lose("it is left out, none of its events is there")
		return moved, lost, false
	}
	if len(h.Variables) > 0 {
		lose("it is left out: its text has template variables, which %s has not; let it read its standard input", to.Name)
		return moved, lost, false
	}
	switch {
	case h.Tools != nil:
		moved.Tools = nil
		for _, name := range h.Tools {
			tool := from.Vocabulary.Tool(name)
			mine := to.Vocabulary.ToolName(hook.Tool{Name: name, Kind: kindOf(tool)})
			if !slices.Contains(moved.Tools, mine) {
				moved.Tools = append(moved.Tools, mine)
			}
		}
		// What was written selects in the other dialect's words.
		moved.Matcher = strings.Join(moved.Tools, "|")
		if len(to.Vocabulary.Tools) == 0 && len(from.Vocabulary.Tools) > 0 {
			lose("tools %s: %s goes by the agents' own names of tools; look whether these are your agents'", strings.Join(h.Tools, ", "), to.Name)
		}
	case h.Matches == nil:
		moved.Matcher = "" // whatever is written there, it selects everything
	default:
		lose("matcher %q is a pattern of %s and stands as it is; look whether it means the same in %s", h.Matcher, from.Name, to.Name)
	}
	if h.If != "" {
		lose("if %q: only Claude Code's dialect has that", h.If)
		moved.If = ""
	}
	if h.Timeout == 0 && from.Timeout != to.Timeout {
		moved.Timeout = from.Timeout
	}
	return moved, lost, true
}

// meaning is the canonical event that is meant by a name.
func (v Vocabulary) meaning(name string) (hook.Name, bool) {
	names := v.Canonical(name)
	if len(names) == 0 {
		return "", false
	}
	return names[0], true
}

// apart lists the names, other than one of them, that canonical events have here.
func (v Vocabulary) apart(canonical []hook.Name, name string) []string {
	var list []string
	for _, c := range canonical {
		if e, ok := v.Event(c); ok && e.Name != name && !slices.Contains(list, e.Name) {
			list = append(list, e.Name)
		}
	}
	return list
}

func (v Vocabulary) blocks(name string) bool {
	return slices.ContainsFunc(v.Events, func(e EventName) bool { return e.Name == name && e.Blocks })
}
