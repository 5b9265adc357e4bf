package codeforge

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/grapnel-dev/grapnel/subscribers/command/dialect"
)

// maxPattern bounds an event pattern, in bytes.
const maxPattern = 4 << 10

// pattern is one of the patterns between the commas: events, and a tool where
// it says one.
type pattern struct {
	events []string
	// tool selects by name; nil means every event, with a tool or without.
	tool *regexp.Regexp
	name string // the tool as written
}

// parsePatterns reads what stands under "event": exact names, "tool:*",
// "tool:pre_execute:bash", "tool:*:write", "*", and lists of them with commas
// between.
func parsePatterns(text string) ([]pattern, error) {
	if len(text) > maxPattern {
		return nil, fmt.Errorf("it has %d bytes, at most %d", len(text), maxPattern)
	}
	var list []pattern
	for part := range strings.SplitSeq(text, ",") {
		part = strings.TrimSpace(part)
		p, err := parsePattern(part)
		if err != nil {
			return nil, err
		}
		list = append(list, p)
	}
	return list, nil
}

func parsePattern(text string) (pattern, error) {
	known := vocabulary().Names()
	if text == "*" {
		return pattern{events: known}, nil
	}
	parts := strings.SplitN(text, ":", 3)
	if text == "" || slices.Contains(parts, "") {
		return pattern{}, fmt.Errorf("%.60q is no event pattern; write tool:pre_execute, tool:*, tool:pre_execute:bash, or *", text)
	}
	event := parts[0] + ":*"
	if len(parts) > 1 {
		event = parts[0] + ":" + parts[1]
	} else if !strings.Contains(text, "*") {
		return pattern{}, fmt.Errorf("%.60q is no event; there are %s", text, strings.Join(known, ", "))
	}
	matches := glob(event)
	var p pattern
	for _, name := range known {
		if matches.MatchString(name) {
			p.events = append(p.events, name)
		}
	}
	if len(p.events) == 0 {
		return pattern{}, fmt.Errorf("%.60q selects no event; there are %s", text, strings.Join(known, ", "))
	}
	if len(parts) == 3 {
		p.events = slices.DeleteFunc(p.events, func(name string) bool {
			return !strings.HasPrefix(name, "tool:") && !strings.HasPrefix(name, "permission:")
		})
		if len(p.events) == 0 {
			return pattern{}, fmt.Errorf("%.60q names a tool, and only tool and permission events have one", text)
		}
		p.name, p.tool = parts[2], glob(parts[2])
	}
	return p, nil
}

// glob makes an expression of a shell pattern with "*" and "?".
func glob(text string) *regexp.Regexp {
	quoted := strings.NewReplacer(`\*`, ".*", `\?`, ".").Replace(regexp.QuoteMeta(text))
	return regexp.MustCompile("^(?s:" + quoted + ")$")
}

// selection is what the patterns of a hook select.
func selection(list []pattern) (events, tools []string, matches func(*dialect.Call) bool) {
	plain := true
	for _, name := range vocabulary().Names() {
		if slices.ContainsFunc(list, func(p pattern) bool { return slices.Contains(p.events, name) }) {
			events = append(events, name)
		}
	}
	for _, p := range list {
		// Only where every pattern is about the same events do the tools by
		// themselves say what is selected.
		if p.tool == nil || !dialect.PlainName(p.name) || !slices.Equal(p.events, events) {
			plain = false
		}
		if !slices.Contains(tools, p.name) {
			tools = append(tools, p.name)
		}
	}
	if !plain {
		tools = nil
	}
	if !slices.ContainsFunc(list, func(p pattern) bool { return p.tool != nil }) {
		return events, nil, nil
	}
	return events, tools, func(c *dialect.Call) bool {
		return slices.ContainsFunc(list, func(p pattern) bool {
			return slices.Contains(p.events, c.Name) && (p.tool == nil || slices.ContainsFunc(c.Names(), p.tool.MatchString))
		})
	}
}
