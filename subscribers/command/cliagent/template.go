package cliagent

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Limits of a command that has templates: it is analysed, see [bind].
const (
	maxText      = 16 << 10
	maxTemplates = 64
	maxPath      = 16
	maxDepth     = 400 // of the tree that a shell makes of it
)

// template is one "{{…}}" in a command's text.
type template struct {
	name string
	// path is what stands behind tool_args: members and indexes.
	path       []string
	start, end int // in the text
}

func (t template) String() string {
	return "{{" + strings.Join(append([]string{t.name}, t.path...), ".") + "}}"
}

// variable is the environment variable that the template refers to. What
// templates of one hook with the same sanitised path have in common is sorted
// out by the caller.
func (t template) variable() string {
	name := "CLI_AGENT_" + strings.ToUpper(strings.Join(append([]string{t.name}, t.path...), "_"))
	return notInNames.ReplaceAllString(name, "_")
}

var (
	// templates finds what has a template's form; others leaves alone what is
	// somebody else's, such as "{{.Names}}" of docker.
	templates  = regexp.MustCompile("\\{\\{[ \t]*([A-Za-z_][A-Za-z0-9_]*)((?:\\.[A-Za-z0-9_@:/-]+|\\[[0-9]+\\])*)[ \t]*\\}\\}")
	intended   = regexp.MustCompile(`\{\{\s*(?:tool_name|tool_args|result|error|message|timestamp|session_id|user_input)\b`)
	pathPart   = regexp.MustCompile(`[A-Za-z0-9_@:/-]+`)
	notInNames = regexp.MustCompile(`[^A-Z0-9_]`)
)

// names lists the template variables in the order of the document.
func names() []string {
	return []string{"tool_name", "tool_args", "result", "error", "message", "timestamp", "session_id", "user_input"}
}

// find returns the templates of a text. What has a template's form and no
// known name is an error: a check that was given nothing would find nothing.
func find(text string) ([]template, error) {
	var list []template
	for _, m := range templates.FindAllStringSubmatchIndex(text, -1) {
		t := template{name: text[m[2]:m[3]], path: pathPart.FindAllString(text[m[4]:m[5]], -1), start: m[0], end: m[1]}
		switch {
		case !slices.Contains(names(), t.name):
			return nil, fmt.Errorf("%.60q: there is no such variable; there are %s and tool_args.<member>", text[t.start:t.end], strings.Join(names(), ", "))
		case len(t.path) > 0 && t.name != "tool_args":
			return nil, fmt.Errorf("%.60q: only tool_args has members", text[t.start:t.end])
		case len(t.path) > maxPath:
			return nil, fmt.Errorf("%.60q: more than %d members deep", text[t.start:t.end], maxPath)
		}
		list = append(list, t)
	}
	if len(list) > maxTemplates {
		return nil, fmt.Errorf("there are %d template variables in it, at most %d", len(list), maxTemplates)
	}
	if n := len(intended.FindAllString(text, -1)); n != len(list) {
		return nil, fmt.Errorf("there is a template in it that is not understood; write {{name}} or {{tool_args.member.member}}, names are %s", strings.Join(names(), ", "))
	}
	return list, nil
}

// masked is a text whose templates are replaced by words of letters and digits,
// which mean nothing to a shell wherever they stand.
type masked struct {
	text      string
	templates []template // start and end are in the masked text
}

func mask(text string, list []template) masked {
	word := "TEMPLATE"
	for strings.Contains(text, word) {
		word += "X"
	}
	var m masked
	var b strings.Builder
	last := 0
	for i, t := range list {
		b.WriteString(text[last:t.start])
		last = t.end
		t.start = b.Len()
		b.WriteString(word + strconv.Itoa(i) + "Z")
		t.end = b.Len()
		m.templates = append(m.templates, t)
	}
	b.WriteString(text[last:])
	m.text = b.String()
	return m
}
