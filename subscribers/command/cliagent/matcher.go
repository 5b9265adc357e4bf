package cliagent

import (
	"regexp"
	"slices"
	"strings"

	"github.com/grapnel-dev/grapnel/subscribers/command/dialect"
)

const builtin = "builtin:"

// matcher reads a matcher; tools is set when it is a list of tool names.
func matcher(pattern string) (matches func(*dialect.Call) bool, tools []string, err error) {
	if pattern == "" || pattern == "*" {
		return nil, nil, nil
	}
	if names, ok := dialect.Alternatives(pattern, "|"); ok && !slices.ContainsFunc(names, func(n string) bool { return strings.HasPrefix(n, builtin) }) {
		tools = names
	}
	var simple []func(*dialect.Call) bool
	for part := range strings.SplitSeq(pattern, "|") {
		one, ok := alternative(strings.TrimSpace(part))
		if !ok { // a regular expression, which may well have its own '|'
			re, err := dialect.WholeName(pattern)
			if err != nil {
				return nil, nil, err
			}
			return func(c *dialect.Call) bool { return slices.ContainsFunc(subjects(c), re.MatchString) }, nil, nil
		}
		simple = append(simple, one)
	}
	return func(c *dialect.Call) bool {
		return slices.ContainsFunc(simple, func(f func(*dialect.Call) bool) bool { return f(c) })
	}, tools, nil
}

// alternative reads a name, a name with "*" in it, or either after "builtin:".
func alternative(part string) (func(*dialect.Call) bool, bool) {
	name, builtins := strings.CutPrefix(part, builtin)
	if !dialect.PlainName(strings.ReplaceAll(name, "*", "x")) {
		return nil, false
	}
	glob := regexp.MustCompile("^" + strings.ReplaceAll(regexp.QuoteMeta(name), `\*`, ".*") + "$")
	return func(c *dialect.Call) bool {
		if builtins && (c.Event.Data.Tool == nil || c.Does == dialect.ToolMCP) {
			return false
		}
		return slices.ContainsFunc(subjects(c), glob.MatchString)
	}, true
}

// subjects are what a matcher is about: the tool's names, or the kind of the
// notification and the event itself where there is no tool.
func subjects(c *dialect.Call) []string {
	if names := c.Names(); names != nil {
		return names
	}
	return []string{notificationType(c.Event.Name), c.Name}
}
