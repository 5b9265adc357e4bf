package claudecode

import (
	"bytes"
	"encoding/json"
	"strings"

	"github.com/grapnel-dev/grapnel/bus/hook"
	"github.com/grapnel-dev/grapnel/internal/strictjson"
)

// fields is a payload taken apart at its first level. Only what an event needs
// is looked at, so that a field of that name on another event may be anything;
// err is the first thing that was of the wrong type.
type fields struct {
	raws map[string]json.RawMessage
	err  error
}

// parse checks stdin and takes it apart; payload is the JSON value in it,
// byte for byte.
func parse(stdin []byte, limit int) (f *fields, payload []byte, err error) {
	payload = bytes.Trim(stdin, " \t\r\n")
	if len(payload) == 0 {
		return nil, nil, bad("it is empty")
	}
	if len(payload) > limit {
		return nil, nil, bad("it has %d bytes, at most %d; split the action into smaller ones", len(payload), limit)
	}
	if payload[0] != '{' {
		return nil, nil, bad("it is not a JSON object")
	}
	if strictjson.DeeperThan(payload, maxDepth) {
		return nil, nil, bad("it is nested more than %d levels deep", maxDepth)
	}
	f = &fields{}
	if err := strictjson.UnmarshalOpen(payload, &f.raws, 0); err != nil {
		return nil, nil, bad("%v", err)
	}
	return f, payload, nil
}

// maxDepth leaves room for the levels that the event puts around the payload.
const maxDepth = strictjson.MaxDepth - 4

func (f *fields) has(key string) bool { return f.raws[key] != nil }

// raw returns the value as it stands, and nil for one that is absent or null.
func (f *fields) raw(key string) json.RawMessage {
	v := f.raws[key]
	if string(v) == "null" {
		return nil
	}
	return v
}

func (f *fields) decode(key string, v any, want string) {
	raw := f.raw(key)
	if raw == nil {
		return
	}
	if err := strictjson.UnmarshalOpen(raw, v, 0); err != nil && f.err == nil {
		f.err = bad("%s is not %s", key, want)
	}
}

// text returns a string; absent and null are "".
func (f *fields) text(key string) string {
	var s string
	f.decode(key, &s, "a string")
	return s
}

func (f *fields) flag(key string) bool {
	var b bool
	f.decode(key, &b, "true or false")
	return b
}

func (f *fields) number(key string) int64 {
	var n float64
	f.decode(key, &n, "a number")
	return int64(n)
}

// tool reads the call of a tool. Where the call is to be decided on, name and
// input must be there and the input an object, as Claude Code's are.
func (f *fields) tool(gate bool) *hook.Tool {
	t := &hook.Tool{Name: f.text("tool_name"), Input: f.raw("tool_input"), CallID: f.text("tool_use_id")}
	if gate && f.err == nil {
		switch {
		case t.Name == "":
			f.err = bad("it has no tool_name")
		case len(t.Input) == 0 || t.Input[0] != '{':
			f.err = bad("tool_input is not an object")
		}
	}
	t.Kind = Kind(t.Name)
	return t
}

// toolPath returns the file that a file tool works on, where it says so.
func (f *fields) toolPath() string {
	var in struct {
		FilePath     string `json:"file_path"`
		NotebookPath string `json:"notebook_path"`
	}
	if raw := f.raw("tool_input"); raw == nil || strictjson.UnmarshalOpen(raw, &in, 0) != nil {
		return "" // some tool's own idea of a path; the input itself is in the event
	}
	if in.FilePath != "" {
		return in.FilePath
	}
	return in.NotebookPath
}

// Kind sorts Claude Code's tools.
func Kind(tool string) hook.Kind {
	switch tool {
	case "Bash", "PowerShell":
		return hook.KindShell
	case "Read", "NotebookRead":
		return hook.KindFileRead
	case "Write":
		return hook.KindFileWrite
	case "Edit", "MultiEdit", "NotebookEdit":
		return hook.KindFileEdit
	case "Glob", "Grep", "LS":
		return hook.KindSearch
	case "WebFetch", "WebSearch":
		return hook.KindWeb
	case "Agent", "Task":
		return hook.KindSubagent
	}
	if strings.HasPrefix(tool, "mcp__") {
		return hook.KindMCP
	}
	return hook.KindOther
}
