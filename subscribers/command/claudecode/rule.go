package claudecode

import (
	"encoding/json"
	"fmt"
	"net/url"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/grapnel-dev/grapnel/internal/strictjson"
	"github.com/grapnel-dev/grapnel/subscribers/command/dialect"
)

// maxRule bounds a permission rule, in bytes.
const maxRule = 1024

// ruleText is "Tool" or "Tool(specifier)".
var ruleText = regexp.MustCompile(`(?s)^([A-Za-z][A-Za-z0-9_.\-]*\*?)(?:\((.*)\))?$`)

// rule is one permission rule, as it stands in "if".
type rule struct {
	tool      string
	specifier string // empty for the tool alone
	path      *pathPattern
}

// parseRule reads a rule.
func parseRule(text string) (rule, error) {
	text = strings.TrimSpace(text)
	m := ruleText.FindStringSubmatch(text)
	if len(text) > maxRule || m == nil {
		return rule{}, fmt.Errorf("%.80q is no permission rule such as Edit, Bash(git *) or Read(./secrets/**)", text)
	}
	r := rule{tool: m[1], specifier: strings.TrimSpace(m[2])}
	if r.specifier == "*" {
		r.specifier = ""
	}
	if r.specifier == "" {
		return r, nil
	}
	switch (dialect.Vocabulary{Tools: Tools()}).Tool(r.tool) {
	case dialect.ToolRead, dialect.ToolEdit, dialect.ToolWrite, dialect.ToolGlob, dialect.ToolGrep, dialect.ToolList:
		p, err := parsePath(r.specifier)
		if err != nil {
			return rule{}, err
		}
		r.path = p
	}
	return r, nil
}

// matches reports whether the rule selects a call. Where it cannot be told, it
// does: a hook that runs once too often is better than a check that does not.
func (r rule) matches(c *dialect.Call) bool {
	if !r.names(c) {
		return false
	}
	if r.specifier == "" {
		return true
	}
	var input map[string]json.RawMessage
	if strictjson.UnmarshalOpen(c.ToolInput(), &input, 0) != nil {
		return true
	}
	text := func(key string) string {
		var s string
		if strictjson.Unmarshal(input[key], &s, 0) != nil {
			return ""
		}
		return s
	}
	var value string
	switch {
	case c.Does == dialect.ToolShell:
		value = text("command")
		return value == "" || shellMatches(r.specifier, value)
	case r.path != nil:
		if value = text("file_path"); value == "" {
			if value = text("path"); value == "" {
				value = text("notebook_path")
			}
		}
		return value == "" || r.path.matches(value, c)
	case c.Does == dialect.ToolFetch:
		domain, ok := strings.CutPrefix(r.specifier, "domain:")
		u, err := url.Parse(text("url"))
		return !ok || err != nil || u.Hostname() == "" || wildcard(strings.ToLower(domain), strings.ToLower(u.Hostname()))
	case c.Does == dialect.ToolSubagent:
		value = text("subagent_type")
		return value == "" || wildcard(r.specifier, value)
	}
	return true
}

// names reports whether the rule's tool is the call's. A rule about editing
// holds for all tools that change files, one about reading for those that look
// into them, and one about an MCP server for all of its tools.
func (r rule) names(c *dialect.Call) bool {
	for _, name := range c.Names() {
		switch {
		case name == r.tool, strings.HasSuffix(r.tool, "*") && strings.HasPrefix(name, strings.TrimSuffix(r.tool, "*")):
			return true
		case strings.HasPrefix(r.tool, "mcp__") && strings.Count(r.tool, "__") == 1 && strings.HasPrefix(name, r.tool+"__"):
			return true
		}
	}
	switch r.tool {
	case "Edit":
		return c.Does == dialect.ToolEdit || c.Does == dialect.ToolWrite
	case "Read":
		return r.specifier != "" && slices.Contains([]dialect.Tool{dialect.ToolRead, dialect.ToolGlob, dialect.ToolGrep, dialect.ToolList}, c.Does)
	case "Agent", "Task":
		return c.Does == dialect.ToolSubagent
	}
	return false
}

// pathPattern is a specifier of a file, with the rules of gitignore files.
type pathPattern struct {
	anchor string // "/" for the file system, "workspace", "cwd", "any"
	re     *regexp.Regexp
}

func parsePath(specifier string) (*pathPattern, error) {
	p, text := &pathPattern{}, specifier
	switch {
	case strings.HasPrefix(text, "//"):
		p.anchor, text = "/", text[2:]
	case strings.HasPrefix(text, "~/"):
		// Whose home it is cannot be told here: any directory will do.
		p.anchor, text = "any", text[2:]
	case strings.HasPrefix(text, "/"):
		p.anchor, text = "workspace", text[1:]
	case strings.HasPrefix(text, "./"):
		p.anchor, text = "cwd", text[2:]
	case !strings.Contains(strings.TrimSuffix(text, "/"), "/"):
		p.anchor = "any"
	default:
		p.anchor = "cwd"
	}
	text = strings.TrimSuffix(text, "/")
	var b strings.Builder
	b.WriteString(`(?s)^`)
	for i := 0; i < len(text); {
		switch {
		case strings.HasPrefix(text[i:], "**/"):
			b.WriteString(`(?:.*/)?`)
			i += 3
		case strings.HasPrefix(text[i:], "**"):
			b.WriteString(`.*`)
			i += 2
		case text[i] == '*':
			b.WriteString(`[^/]*`)
			i++
		case text[i] == '?':
			b.WriteString(`[^/]`)
			i++
		default:
			b.WriteString(regexp.QuoteMeta(text[i : i+1]))
			i++
		}
	}
	b.WriteString(`(?:/.*)?$`) // what is below it, too
	re, err := dialect.Somewhere(b.String())
	if err != nil {
		return nil, fmt.Errorf("%.80q is no pattern of paths: %w", specifier, err)
	}
	p.re = re
	return p, nil
}

func (p *pathPattern) matches(name string, c *dialect.Call) bool {
	cwd := c.Event.Data.CWD
	if cwd == "" {
		cwd = c.Workspace
	}
	name = strings.ReplaceAll(name, `\`, "/")
	if !path.IsAbs(name) {
		name = path.Join("/", cwd, name)
	}
	name = path.Clean(name)
	var base string
	switch p.anchor {
	case "any":
		for rest := name; ; {
			_, after, ok := strings.Cut(rest, "/")
			if !ok {
				return false
			}
			if rest = after; p.re.MatchString(rest) {
				return true
			}
		}
	case "/":
		base = "/"
	case "workspace":
		base = c.Workspace
	case "cwd":
		base = cwd
	}
	if base == "" {
		return true // nobody said where it is
	}
	base = strings.TrimSuffix(path.Clean("/"+base), "/") + "/"
	rest, ok := strings.CutPrefix(name, base)
	return ok && p.re.MatchString(rest)
}
