package policy

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/goccy/go-yaml/ast"

	"github.com/grapnel-dev/grapnel/bus/hook"
)

// Case is one line of a table file: an event and what a policy should say.
type Case struct {
	// Line is where it stands.
	Line int
	// Text is the command, path or prompt, for people.
	Text string
	// Event is what is decided on.
	Event hook.Event
	// Home is the home directory that it is decided for.
	Home string
	// Expect are the effects that are right.
	Expect []hook.Effect
	// Benign says that the case is ordinary work: a decision that keeps it
	// from running is a false alarm, expected or not.
	Benign bool
	// Rules, if there are any, have to be among those that decided.
	Rules []string
}

// CaseResult is what a policy said to a case.
type CaseResult struct {
	Case     Case
	Decision hook.Decision
	Err      error
	// OK says that the effect and the rules are as expected.
	OK bool
}

// String says what went wrong, or that nothing did, in one line.
func (r CaseResult) String() string {
	word := "ok"
	if !r.OK {
		word = "FAIL"
	}
	got := r.Decision.Effect.String()
	if r.Err != nil {
		got = "error: " + r.Err.Error()
	} else if len(r.Decision.Rules) > 0 {
		got += " (" + strings.Join(r.Decision.Rules, ", ") + ")"
	}
	by := ""
	want := make([]string, 0, len(r.Case.Expect))
	for _, e := range r.Case.Expect {
		want = append(want, e.String())
	}
	if len(r.Case.Rules) > 0 {
		by = " by " + strings.Join(r.Case.Rules, ", ")
	}
	return fmt.Sprintf("%s line %d: %.200q: got %s, want %s%s", word, r.Case.Line, r.Case.Text, got, strings.Join(want, " or "), by)
}

// TableResult is the outcome of a table file.
type TableResult struct {
	Results []CaseResult
	// Failed counts the cases that are not OK.
	Failed int
	// Hits counts, for each rule of the policy, the cases that it decided.
	Hits map[string]int
}

// RunTable runs a table file against a policy. An error means that the table
// cannot be read; it wraps [ErrPolicy] and names the line. Cases that fail are
// in the result.
func RunTable(ctx context.Context, p *Policy, name string, src []byte) (*TableResult, error) {
	cases, err := ReadTable(name, src)
	if err != nil {
		return nil, err
	}
	out := &TableResult{Hits: map[string]int{}}
	for _, rule := range p.order {
		out.Hits[rule] = 0
	}
	for _, c := range cases {
		r := CaseResult{Case: c}
		r.Decision, r.Err = p.at(c.Home).Decide(ctx, c.Event)
		r.OK = r.Err == nil && slices.Contains(c.Expect, r.Decision.Effect)
		for _, rule := range c.Rules {
			r.OK = r.OK && slices.Contains(r.Decision.Rules, rule)
		}
		if !r.OK {
			out.Failed++
		}
		for _, rule := range r.Decision.Rules {
			out.Hits[rule]++
		}
		out.Results = append(out.Results, r)
	}
	return out, nil
}

// at is the policy for another home directory.
func (p *Policy) at(home string) *Policy {
	if home == "" {
		return p
	}
	q, options := *p, *p.options
	options.Home = home
	q.options = &options
	return &q
}

// ReadTable reads a table file:
//
//	workspace: /home/dev/project   # of all cases; also home, cwd, agent
//	home: /home/dev
//	cases:
//	  - {bash: rm -rf /, expect: deny}
//	  - {bash: [ls, pwd], cwd: /tmp, expect: abstain}
//	  - {read: ~/.ssh/id_ed25519, expect: [deny, ask], rules: [secret-read]}
//	  - {tool: Fetch, kind: web, input: {url: https://example.org}, expect: abstain}
//	  - {prompt: hello, expect: abstain}
//	  - {event: stop, expect: abstain}
//
// bash, powershell, read, write, edit, delete and search are tools with a
// command or path; a list makes as many cases. event is the event's name, by
// default pre_tool_use.
func ReadTable(name string, src []byte) ([]Case, error) {
	root, err := document(Source{Name: name, Content: src})
	if err != nil || root == nil {
		return nil, err
	}
	entries, err := mapping(name, root, "workspace", "home", "cwd", "agent", "cases")
	if err != nil {
		return nil, err
	}
	t := table{name: name, defaults: map[string]string{}}
	var cases []Case
	for _, e := range entries {
		if e.key != "cases" {
			var text string
			if err := decode(name, e.value, &text); err != nil {
				return nil, err
			}
			t.defaults[e.key] = text
			continue
		}
		nodes, err := sequence(name, e.value)
		if err != nil {
			return nil, err
		}
		for _, n := range nodes {
			more, err := t.cases(n)
			if err != nil {
				return nil, err
			}
			cases = append(cases, more...)
		}
	}
	return cases, nil
}

type table struct {
	name     string
	defaults map[string]string
}

// cases reads one entry, which may stand for many.
func (t *table) cases(n ast.Node) ([]Case, error) {
	entries, err := mapping(t.name, n, "bash", "powershell", "read", "write", "edit", "delete", "search", "patch", "prompt", "event", "tool", "kind", "input",
		"workspace", "home", "cwd", "agent", "expect", "rules", "benign", "mode")
	if err != nil {
		return nil, err
	}
	text := map[string]string{}
	for k, v := range t.defaults {
		text[k] = v
	}
	c := Case{Line: lineOf(n)}
	var shorthand string
	var values []mark
	var input map[string]any
	for _, e := range entries {
		switch e.key {
		case "bash", "powershell", "read", "write", "edit", "delete", "search", "patch", "prompt":
			if shorthand != "" {
				return nil, fault(t.name, e.line, "%s and %s in one case; write two", shorthand, e.key)
			}
			shorthand = e.key
			if values, err = t.texts(e.value); err != nil {
				return nil, err
			}
		case "expect":
			effects, err := t.texts(e.value)
			if err != nil {
				return nil, err
			}
			for _, m := range effects {
				var effect hook.Effect
				if err := effect.UnmarshalText([]byte(m.text)); err != nil {
					return nil, fault(t.name, m.line, "%w", err)
				}
				c.Expect = append(c.Expect, effect)
			}
		case "rules":
			rules, err := t.texts(e.value)
			if err != nil {
				return nil, err
			}
			for _, m := range rules {
				c.Rules = append(c.Rules, m.text)
			}
		case "benign":
			if err := decode(t.name, e.value, &c.Benign); err != nil {
				return nil, err
			}
		case "input":
			if err := decode(t.name, e.value, &input); err != nil {
				return nil, err
			}
		default:
			var s string
			if err := decode(t.name, e.value, &s); err != nil {
				return nil, err
			}
			text[e.key] = s
		}
	}
	if len(c.Expect) == 0 {
		return nil, fault(t.name, c.Line, "a case without expect; add one of abstain, allow, ask, deny, halt, or a list of them")
	}
	if shorthand == "" {
		values = []mark{{text["tool"], c.Line}}
	}
	var out []Case
	for _, v := range values {
		one := c
		one.Line, one.Text, one.Home = v.line, v.text, text["home"]
		if one.Event, err = t.event(text, shorthand, v, input); err != nil {
			return nil, err
		}
		if one.Text == "" {
			one.Text = string(one.Event.Name)
		}
		out = append(out, one)
	}
	return out, nil
}

// texts reads a text or a list of them.
func (t *table) texts(n ast.Node) ([]mark, error) {
	nodes := []ast.Node{n}
	if s, ok := n.(*ast.SequenceNode); ok {
		nodes = s.Values
	}
	var out []mark
	for _, v := range nodes {
		var text string
		if err := decode(t.name, v, &text); err != nil {
			return nil, err
		}
		out = append(out, mark{text, lineOf(v)})
	}
	return out, nil
}

func (t *table) event(text map[string]string, shorthand string, v mark, input map[string]any) (hook.Event, error) {
	ev := hook.Event{ID: fmt.Sprintf("%s:%d", t.name, v.line), Source: "/table/" + text["agent"], Name: hook.PreToolUse, SessionID: "table"}
	ev.Data.Workspace, ev.Data.CWD, ev.Data.PermissionMode = text["workspace"], text["cwd"], text["mode"]
	if ev.Data.CWD == "" {
		ev.Data.CWD = ev.Data.Workspace
	}
	ev.Data.Native.Agent = text["agent"]
	if name := text["event"]; name != "" {
		if ev.Name = hook.Name(name); !ev.Name.Known() {
			return ev, fault(t.name, v.line, "there is no event %q", name)
		}
	}
	tool := func(name string, kind hook.Kind, input map[string]any) error {
		b, err := json.Marshal(input)
		if err != nil {
			return fault(t.name, v.line, "input: %w", err)
		}
		ev.Subject = name
		ev.Data.Tool = &hook.Tool{Name: name, Kind: kind, Input: b}
		return nil
	}
	switch shorthand {
	case "bash":
		return ev, tool("Bash", hook.KindShell, map[string]any{"command": v.text})
	case "powershell":
		return ev, tool("PowerShell", hook.KindShell, map[string]any{"command": v.text})
	case "read":
		return ev, tool("Read", hook.KindFileRead, map[string]any{"file_path": v.text})
	case "write":
		return ev, tool("Write", hook.KindFileWrite, map[string]any{"file_path": v.text, "content": "x"})
	case "edit":
		return ev, tool("Edit", hook.KindFileEdit, map[string]any{"file_path": v.text, "old_string": "a", "new_string": "b"})
	case "delete":
		return ev, tool("apply_patch", hook.KindFileEdit, map[string]any{"command": "*** Begin Patch\n*** Delete File: " + v.text + "\n*** End Patch"})
	case "patch":
		return ev, tool("apply_patch", hook.KindFileEdit, map[string]any{"command": "*** Begin Patch\n*** Update File: " + v.text + "\n*** End Patch"})
	case "search":
		return ev, tool("Grep", hook.KindSearch, map[string]any{"pattern": "x", "path": v.text})
	case "prompt":
		ev.Name, ev.Data.Prompt = hook.UserPromptSubmit, v.text
		return ev, nil
	}
	if text["tool"] == "" {
		if input != nil {
			return ev, fault(t.name, v.line, "input without tool; add tool: NAME and kind: KIND")
		}
		return ev, nil
	}
	kind := hook.Kind(text["kind"])
	if kind == "" {
		kind = hook.KindOther
	}
	if !slices.Contains(hook.Kinds(), kind) {
		return ev, fault(t.name, v.line, "there is no tool kind %q; there are %v", kind, hook.Kinds())
	}
	if input == nil {
		input = map[string]any{}
	}
	return ev, tool(text["tool"], kind, input)
}
