package claudecode

import (
	"strings"

	"github.com/grapnel-dev/grapnel/bus/hook"
	"github.com/grapnel-dev/grapnel/internal/edge/protocol"
	"github.com/grapnel-dev/grapnel/internal/strictjson"
)

// fields is a payload taken apart.
type fields struct{ *protocol.Fields }

// tool reads the call of a tool. Where the call is to be decided on, name and
// input must be there and the input an object, as Claude Code's are.
func (f fields) tool(gate bool) *hook.Tool {
	t := &hook.Tool{Name: f.Text("tool_name"), Input: f.Raw("tool_input"), CallID: f.Text("tool_use_id")}
	switch {
	case !gate:
	case t.Name == "":
		f.Fail(protocol.Bad("it has no tool_name"))
	case len(t.Input) == 0 || t.Input[0] != '{':
		f.Fail(protocol.Bad("tool_input is not an object"))
	}
	t.Kind = Kind(t.Name)
	return t
}

// toolPath returns the file that a file tool works on, where it says so.
func (f fields) toolPath() string {
	var in struct {
		FilePath     string `json:"file_path"`
		NotebookPath string `json:"notebook_path"`
	}
	if raw := f.Raw("tool_input"); raw == nil || strictjson.UnmarshalOpen(raw, &in, 0) != nil {
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
