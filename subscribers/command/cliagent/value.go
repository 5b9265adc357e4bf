package cliagent

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/grapnel-dev/grapnel/bus/hook"
	"github.com/grapnel-dev/grapnel/internal/strictjson"
	"github.com/grapnel-dev/grapnel/subscribers/command/dialect"
)

// isoTime is the ISO 8601 form of times.
const isoTime = "2006-01-02T15:04:05.000000Z07:00"

// value returns what a template variable stands for. What the event does not
// have is empty.
func value(name string, path []string, c *dialect.Call) string {
	e := c.Event
	switch name {
	case "tool_name":
		return c.Tool
	case "tool_args":
		switch {
		case e.Data.Tool == nil:
			return ""
		case len(path) > 0:
			return member(c.ToolInput(), path)
		}
		return string(c.ToolInput())
	case "result":
		if c.Name == PostToolUse && e.Data.Error == "" {
			return text(e.Data.Result)
		}
	case "error":
		if c.Name == PostToolUse {
			return failure(e)
		}
	case "message":
		if c.Name == Notification {
			return message(e)
		}
	case "timestamp":
		return timestamp(e)
	case "session_id":
		return session(e)
	case "user_input":
		return c.Prompt
	}
	return ""
}

func failure(e hook.Event) string {
	if e.Data.Error == "" && e.Name == hook.PostToolUseFailure {
		return text(e.Data.Result)
	}
	return e.Data.Error
}

func message(e hook.Event) string {
	if e.Data.Message == "" {
		return dialect.Lines(e.Data.Error, e.Data.Reason)
	}
	return e.Data.Message
}

func timestamp(e hook.Event) string {
	if e.Time.IsZero() {
		return time.Now().UTC().Format(isoTime)
	}
	return e.Time.Format(isoTime)
}

// session is the document's own word where there is none.
func session(e hook.Event) string {
	if e.SessionID == "" {
		return "unknown"
	}
	return e.SessionID
}

// member returns a member of a JSON value: a string as its text, else JSON.
// What is not there is empty.
func member(raw json.RawMessage, path []string) string {
	for _, part := range path {
		raw = bytes.TrimSpace(raw)
		switch {
		case len(raw) > 0 && raw[0] == '[':
			var list []json.RawMessage
			i, err := strconv.Atoi(part)
			if err != nil || strictjson.UnmarshalOpen(raw, &list, 0) != nil || i < 0 || i >= len(list) {
				return ""
			}
			raw = list[i]
		case len(raw) > 0 && raw[0] == '{':
			var members map[string]json.RawMessage
			if strictjson.UnmarshalOpen(raw, &members, 0) != nil {
				return ""
			}
			raw = members[part]
		default:
			return ""
		}
	}
	return text(raw)
}

// text is a JSON string as its text, anything else as JSON, and null as
// nothing.
func text(raw json.RawMessage) string {
	raw = bytes.TrimSpace(raw)
	if len(raw) == 0 || string(raw) == "null" {
		return ""
	}
	var s string
	if raw[0] == '"' && strictjson.Unmarshal(raw, &s, 0) == nil {
		return s
	}
	return string(raw)
}

// echoOption is what echo takes for an option.
var echoOption = regexp.MustCompile(`^-[neE]*$`)

// variable makes the engine's variable of a bound one.
func (v boundVariable) variable() dialect.Variable {
	return dialect.Variable{Name: v.name, Value: func(c *dialect.Call) (string, error) {
		s := value(v.template.name, v.template.path, c)
		switch {
		case strings.ContainsRune(s, 0):
			return "", fmt.Errorf("%w: there is a NUL byte in %s; read the event from standard input", dialect.ErrFeed, v.template)
		case v.options == noOptions && strings.HasPrefix(s, "-"), v.options == echoes && echoOption.MatchString(s):
			return "", fmt.Errorf("%w: %s begins with '-' and could be taken for an option: %.60q; put -- before it in the command, or read the event from standard input", dialect.ErrFeed, v.template, s)
		}
		return s, nil
	}}
}
