package dialect

import (
	"strings"

	"github.com/grapnel-dev/grapnel/bus/hook"
)

// Tool is what a tool does, finer than a [hook.Kind]: the word that stands
// between the tool names of different agents and dialects.
type Tool string

// The tools.
const (
	ToolShell     Tool = "shell"
	ToolRead      Tool = "read"
	ToolWrite     Tool = "write"
	ToolEdit      Tool = "edit"
	ToolGlob      Tool = "glob"
	ToolGrep      Tool = "grep"
	ToolList      Tool = "list"
	ToolFetch     Tool = "fetch"
	ToolWebSearch Tool = "web_search"
	ToolSubagent  Tool = "subagent"
	ToolMCP       Tool = "mcp"
	ToolOther     Tool = "other"
)

// Tools lists the tools, in the order of the constants.
func Tools() []Tool {
	return []Tool{
		ToolShell, ToolRead, ToolWrite, ToolEdit, ToolGlob, ToolGrep, ToolList, ToolFetch, ToolWebSearch,
		ToolSubagent, ToolMCP, ToolOther,
	}
}

// knownTool returns the tool that agents call by this name. The names are
// those of the agents' documentation: Claude Code, Codex, Gemini CLI, Qwen
// Code, Cursor, Copilot, VS Code, Windsurf, Cline, Factory, Devin, Kiro, Grok,
// Antigravity, OpenCode and the five dialects' own.
func knownTool(name string) Tool {
	switch strings.ToLower(name) {
	case "bash", "powershell", "shell", "sh", "run_shell_command", "bash_execute", "execute", "exec",
		"execute_command", "execute_bash", "run_terminal_command", "run_terminal_cmd", "run_command", "run_in_terminal",
		"local_shell", "shell_command", "exec_command", "terminal":
		return ToolShell
	case "read", "read_file", "read_many_files", "view", "view_file", "fs_read", "readfile", "notebookread", "cat":
		return ToolRead
	case "write", "write_file", "create", "create_file", "write_to_file", "fs_write", "writefile":
		return ToolWrite
	case "edit", "multiedit", "replace", "replace_in_file", "str_replace_editor", "str_replace", "apply_patch",
		"replace_file_content", "editfiles", "edit_file", "notebookedit", "search_replace", "insert_edit_into_file",
		"multi_replace_file_content":
		return ToolEdit
	case "glob", "find_files", "file_search", "find_by_name", "findfiles":
		return ToolGlob
	case "grep", "rg", "search_file_content", "grep_search", "search_files", "codebase_search", "findtextinfiles":
		return ToolGrep
	case "ls", "list", "list_directory", "list_files", "list_dir", "list_directory_path":
		return ToolList
	case "webfetch", "web_fetch", "fetch", "read_url_content", "fetch_webpage", "fetchurl":
		return ToolFetch
	case "websearch", "web_search", "google_web_search", "search_web":
		return ToolWebSearch
	case "agent", "task", "spawn_agent", "subagent", "use_subagent", "runsubagent", "delegate", "new_task":
		return ToolSubagent
	}
	return ToolOther
}

// kindOf is the kind of a tool.
func kindOf(t Tool) hook.Kind {
	switch t {
	case ToolShell:
		return hook.KindShell
	case ToolRead, ToolList:
		return hook.KindFileRead
	case ToolWrite:
		return hook.KindFileWrite
	case ToolEdit:
		return hook.KindFileEdit
	case ToolGlob, ToolGrep:
		return hook.KindSearch
	case ToolFetch, ToolWebSearch:
		return hook.KindWeb
	case ToolSubagent:
		return hook.KindSubagent
	case ToolMCP:
		return hook.KindMCP
	}
	return hook.KindOther
}

// ToolOf returns what a tool of an event does. The edge's word on the kind
// counts more than the name: a tool that calls itself by a known name and is of
// another kind is of that kind.
func ToolOf(t hook.Tool) Tool {
	if t.Kind == hook.KindMCP || isMCP(t.Name) {
		return ToolMCP
	}
	if known := knownTool(t.Name); known != ToolOther && (t.Kind == "" || t.Kind == hook.KindOther || kindOf(known) == t.Kind || related(known, t.Kind)) {
		return known
	}
	switch t.Kind {
	case hook.KindShell:
		return ToolShell
	case hook.KindFileRead:
		return ToolRead
	case hook.KindFileWrite:
		return ToolWrite
	case hook.KindFileEdit:
		return ToolEdit
	case hook.KindSearch:
		return ToolGrep
	case hook.KindWeb:
		return ToolFetch
	case hook.KindSubagent:
		return ToolSubagent
	}
	return ToolOther
}

// related allows for edges that know kinds coarsely: listing is searching to
// some, and a tool that writes may be said to edit.
func related(t Tool, k hook.Kind) bool {
	switch t {
	case ToolList:
		return k == hook.KindSearch
	case ToolWrite, ToolEdit:
		return k == hook.KindFileWrite || k == hook.KindFileEdit
	}
	return false
}

func isMCP(name string) bool {
	return strings.HasPrefix(name, "mcp__") || strings.HasPrefix(name, "MCP:")
}

// MCPName writes the name of an MCP tool in the form "mcp__server__tool" that
// most dialects' matchers speak. What is not clearly of another form stays as
// it is.
func MCPName(name string) string {
	switch {
	case strings.HasPrefix(name, "mcp__"):
		return name
	case strings.HasPrefix(name, "MCP:"): // Cursor names the tool alone
		return "mcp__cursor__" + strings.TrimPrefix(name, "MCP:")
	case strings.HasPrefix(name, "@"): // Kiro: @server/tool
		if server, tool, ok := strings.Cut(name[1:], "/"); ok {
			return "mcp__" + server + "__" + tool
		}
	case strings.HasPrefix(name, "mcp_"): // Gemini CLI: mcp_server_tool
		if server, tool, ok := strings.Cut(name[len("mcp_"):], "_"); ok {
			return "mcp__" + server + "__" + tool
		}
	}
	return name
}
