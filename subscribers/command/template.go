package command

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/grapnel-dev/grapnel/bus/hook"
	"github.com/grapnel-dev/grapnel/internal/strictjson"
)

// ErrTemplate is wrapped by the errors about an event's value that cannot be an
// argument. The command is not run then.
var ErrTemplate = errors.New("event value cannot be passed as an argument")

// argument is one element of a hook's command: text, or a template that is
// the whole element.
type argument struct {
	text     string
	template string   // its name; empty for text
	path     []string // of a member of the tool's input
	// literal says that an element "--" stands before it, after which a
	// leading '-' is no option.
	literal bool
}

const inputPrefix = "tool.input."

func parseArguments(elements []string) ([]argument, error) {
	list := make([]argument, 0, len(elements))
	literal := false
	for i, e := range elements {
		if strings.IndexByte(e, 0) >= 0 {
			return nil, fmt.Errorf("there is a NUL byte in %.60q", e)
		}
		name, isTemplate, err := templateName(e)
		switch {
		case err != nil:
			return nil, err
		case i == 0 && e == "":
			return nil, errors.New("the program is empty")
		case i == 0 && isTemplate:
			return nil, fmt.Errorf("%.60q: the program itself cannot come from an event", e)
		case !isTemplate:
			literal = literal || (i > 0 && e == "--")
			list = append(list, argument{text: e})
			continue
		}
		a := argument{template: name, literal: literal}
		if member, ok := strings.CutPrefix(name, inputPrefix); ok {
			a.path = strings.Split(member, ".")
			for _, part := range a.path {
				if part == "" {
					return nil, fmt.Errorf("%.60q: a part of the path is empty", e)
				}
			}
			a.template = inputPrefix
		} else if _, known := value(name, hook.Event{}); !known {
			return nil, fmt.Errorf("%.60q: there is no such value; there are %s and tool.input.<member>", e, strings.Join(templateNames(), ", "))
		}
		list = append(list, a)
	}
	return list, nil
}

// templateName returns the name in an element that is a template as a whole.
func templateName(e string) (name string, ok bool, err error) {
	if !strings.Contains(e, "{{") {
		return "", false, nil
	}
	inner, opened := strings.CutPrefix(e, "{{")
	inner, closed := strings.CutSuffix(inner, "}}")
	if !opened || !closed || strings.Contains(inner, "{{") || strings.Contains(inner, "}}") {
		return "", false, fmt.Errorf("%.60q: a template must be the whole argument; put anything more into a script that gets the value as an argument", e)
	}
	return strings.TrimSpace(inner), true, nil
}

// CheckArguments reports what is wrong with a command whose arguments may be
// templates, see the package comment.
func CheckArguments(elements []string) error {
	_, err := parseArguments(elements)
	return err
}

// Arguments returns the argument vector for an event. The error wraps
// [ErrTemplate] or is one of [CheckArguments].
func Arguments(elements []string, e hook.Event) ([]string, error) {
	parsed, err := parseArguments(elements)
	if err != nil {
		return nil, err
	}
	return expand(parsed, e)
}

func templateNames() []string {
	return []string{"agent", "cwd", "event", "event.id", "message", "prompt", "session", "tool.input", "tool.kind", "tool.name", "workspace"}
}

// value returns the event's value of that name; known is false when there is no
// such name. A value that the event does not have is empty.
func value(name string, e hook.Event) (v string, known bool) {
	var tool hook.Tool
	if e.Data.Tool != nil {
		tool = *e.Data.Tool
	}
	switch name {
	case "agent":
		return e.Data.Native.Agent, true
	case "cwd":
		return e.Data.CWD, true
	case "event":
		return string(e.Name), true
	case "event.id":
		return e.ID, true
	case "message":
		return e.Data.Message, true
	case "prompt":
		return e.Data.Prompt, true
	case "session":
		return e.SessionID, true
	case "tool.input":
		return string(tool.Input), true
	case "tool.kind":
		return string(tool.Kind), true
	case "tool.name":
		return tool.Name, true
	case "workspace":
		return e.Data.Workspace, true
	}
	return "", false
}

// expand returns the argument vector for an event. A value that the event does
// not have, that holds a NUL, or that would be taken for an option is an error:
// the command would be asked about something else than what happened.
func expand(arguments []argument, e hook.Event) ([]string, error) {
	argv := make([]string, len(arguments))
	for i, a := range arguments {
		if a.template == "" {
			argv[i] = a.text
			continue
		}
		name, v, err := a.template, "", error(nil)
		if a.path != nil {
			name += strings.Join(a.path, ".")
			v, err = inputMember(e, a.path)
		} else if v, _ = value(name, e); v == "" {
			err = errors.New("the event has none; narrow the hook's on or when to events that do")
		}
		switch {
		case err != nil:
		case strings.IndexByte(v, 0) >= 0:
			err = errors.New("there is a NUL byte in it; read the event from stdin")
		case strings.HasPrefix(v, "-") && !a.literal:
			err = fmt.Errorf("%.60q begins with '-' and could be taken for an option; put \"--\" before it in the hook's command", v)
		}
		if err != nil {
			return nil, fmt.Errorf("%w: {{%s}}: %w", ErrTemplate, name, err)
		}
		argv[i] = v
	}
	return argv, nil
}

// inputMember returns a member of the tool's input: a string as its text,
// anything else as JSON.
func inputMember(e hook.Event, path []string) (string, error) {
	if e.Data.Tool == nil || len(e.Data.Tool.Input) == 0 {
		return "", errors.New("the event has no tool input; narrow the hook's on or when to events that do")
	}
	raw := e.Data.Tool.Input
	for _, part := range path {
		var members map[string]json.RawMessage
		if err := strictjson.UnmarshalOpen(raw, &members, 0); err != nil {
			return "", fmt.Errorf("the tool's input has no member %.60q: %w", part, err)
		}
		next, ok := members[part]
		if !ok {
			return "", fmt.Errorf("the tool's input has no member %.60q; narrow the hook's on or when to tools that do", part)
		}
		raw = next
	}
	raw = bytes.TrimSpace(raw)
	switch {
	case bytes.Equal(raw, []byte("null")):
		return "", errors.New("it is null")
	case raw[0] != '"':
		return string(raw), nil
	}
	var text string
	if err := strictjson.Unmarshal(raw, &text, 0); err != nil {
		return "", err
	}
	return text, nil
}
