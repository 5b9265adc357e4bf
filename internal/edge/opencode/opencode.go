package opencode

import (
	"encoding/json"
	"strings"
	"time"

	"github.com/grapnel-dev/grapnel/bus/hook"
	"github.com/grapnel-dev/grapnel/internal/edge/hookwire"
	"github.com/grapnel-dev/grapnel/internal/edge/protocol"
)

// New returns the protocol.
func New() *protocol.Agent {
	return &protocol.Agent{
		Name: hookwire.OpenCode, Title: "OpenCode", Events: events(), Kind: Kind, Fill: fill, Say: say,
		Keys: protocol.Keys{
			Event: []string{"hook_event_name"}, Session: []string{"session_id"}, CWD: []string{"cwd"},
			Time: []string{"id"}, // not a time, and tells calls apart as well as one
		},
		Manner: protocol.Manner{Order: "one after another", Failure: "it does not run: our plugin sees to that", Unit: "none of its own; the plugin's is milliseconds", Evidence: protocol.Seen},
		Quirks: []string{
			"has no hook commands: grapnel's plugin in ~/.config/opencode/plugins calls the hook program, and a plugin that does not load is left out without a word",
			"takes plugins from the project, too, and those run with the same rights (opencode.ai/docs/plugins)",
			"hooks of several plugins run one after the other and have no time-out; grapnel's plugin has its own, 30 seconds (opencode.ai/docs/plugins)",
			"a plugin that comes after grapnel's can change a tool's arguments once more, and nobody decides on those (opencode.ai/docs/plugins)",
			"permission.ask is never called (seen, 1.18.33)",
			"an attached file reaches grapnel by its type and name alone",
		},
	}
}

func events() []protocol.Event {
	const own = 30 * time.Second // the plugin's
	seen, doc := protocol.Seen, protocol.Documented
	other := func(name, note string) protocol.Event {
		return protocol.Event{Name: name, Canonical: hook.Other, Unregistered: true, Evidence: seen, Note: note}
	}
	const secrets = "holds what is secret, so the plugin leaves it out"
	const keeping = "OpenCode's own housekeeping; left out for its cost"
	return []protocol.Event{
		{Name: "session.created", Canonical: hook.SessionStart, Timeout: own, Evidence: seen,
			Note: "nobody waits; a session with a parent becomes subagent_start"},
		{Name: "chat.message", Canonical: hook.UserPromptSubmit, Block: true, Timeout: own, Evidence: seen,
			Note: "the prompt is all text in it, that of files included"},
		{Name: "command.execute.before", Canonical: hook.UserPromptExpand, Block: true, Timeout: own, Evidence: doc,
			Note: "was not seen; what throws in it is expected to keep the command from running"},
		{Name: "tool.execute.before", Canonical: hook.PreToolUse, Tool: true, Block: true, Rewrite: true, Timeout: own, Evidence: seen,
			Note: "comes before OpenCode's own question, which stays"},
		{Name: "permission.asked", Canonical: hook.Notification, Evidence: seen, Note: "a question stands on the screen; nobody waits"},
		{Name: "permission.replied", Canonical: hook.PermissionGranted, Evidence: seen, Note: "reply reject becomes permission_denied"},
		{Name: "tool.execute.after", Canonical: hook.PostToolUse, Tool: true, Evidence: seen, Note: "nobody waits"},
		{Name: "file.edited", Canonical: hook.PostFileEdit, Evidence: seen},
		{Name: "session.error", Canonical: hook.Error, Evidence: seen},
		{Name: "session.idle", Canonical: hook.Stop, Evidence: seen, Note: "nobody waits"},
		{Name: "experimental.session.compacting", Canonical: hook.PreCompact, Evidence: doc, Note: "nobody waits; was not seen"},
		{Name: "session.compacted", Canonical: hook.PostCompact, Evidence: doc},
		{Name: "session.deleted", Canonical: hook.SessionDelete, Evidence: doc},

		{Name: "message.updated", Canonical: hook.SessionMessage, Unregistered: true, Evidence: seen, Note: "several for each message; left out for its cost"},
		{Name: "message.part.delta", Canonical: hook.ModelStreamChunk, Unregistered: true, Evidence: seen, Note: "a process for each streamed piece, so it is left out"},
		{Name: "experimental.text.complete", Canonical: hook.AgentMessage, Unregistered: true, Evidence: seen, Note: "experimental; left out"},
		{Name: "file.watcher.updated", Canonical: hook.FileChanged, Unregistered: true, Evidence: seen, Note: "a process for each file that anybody changes, so it is left out"},
		other("message.part.updated", "several for each piece of a message; left out for its cost"),
		other("chat.params", secrets), other("chat.headers", secrets), other("config", secrets), other("shell.env", secrets),
		other("experimental.chat.messages.transform", "the whole conversation before each request; left out for its cost"),
		other("experimental.chat.system.transform", "the system prompt before each request; left out for its cost"),
		other("tool.definition", "each tool's description before each request; left out for its cost"),
		other("session.status", keeping), other("session.updated", keeping), other("session.diff", keeping), other("catalog.updated", keeping),
		other("integration.updated", keeping), other("plugin.added", keeping), other("reference.updated", keeping),
	}
}

// Kind sorts OpenCode's tools. Those of MCP servers are named SERVER_TOOL,
// which says nothing that can be relied on.
func Kind(tool string) hook.Kind {
	switch tool {
	case "bash":
		return hook.KindShell
	case "read":
		return hook.KindFileRead
	case "write":
		return hook.KindFileWrite
	case "edit", "multiedit", "patch", "apply_patch":
		return hook.KindFileEdit
	case "glob", "grep", "list", "codesearch":
		return hook.KindSearch
	case "webfetch", "websearch":
		return hook.KindWeb
	case "task":
		return hook.KindSubagent
	}
	return hook.KindOther
}

func fill(f *protocol.Fields, row protocol.Event, _ protocol.Call, e *hook.Event) {
	d, in, out := &e.Data, f.Object("input"), f.Object("output")
	switch row.Name {
	case "tool.execute.before", "tool.execute.after":
		name := in.Text("tool")
		d.Tool = &hook.Tool{Name: name, Kind: Kind(name), CallID: in.Text("callID"), Input: out.Raw("args")}
		if row.Name == "tool.execute.after" {
			d.Tool.Input, d.Result = in.Raw("args"), f.Raw("output")
		}
	case "chat.message":
		d.Model = out.Object("message").Object("model").Text("modelID")
		d.Prompt = text(out)
	case "command.execute.before":
		e.Subject = protocol.Clip(in.Text("command"))
		d.Prompt = text(out)
	case "experimental.text.complete":
		d.Message = out.Text("text")
	default:
		if in.Has("event") {
			fillEvent(in.Object("event").Object("properties"), row, e)
		}
	}
}

// fillEvent takes what an event of OpenCode's bus says.
func fillEvent(p *protocol.Fields, row protocol.Event, e *hook.Event) {
	d := &e.Data
	switch row.Name {
	case "session.created":
		info := p.Object("info")
		if parent := info.Text("parentID"); parent != "" {
			e.Name, d.Subagent = hook.SubagentStart, &hook.Subagent{ID: info.Text("id")}
			if e.Extensions == nil {
				e.Extensions = make(map[string]string, 1)
			}
			e.Extensions[hook.ParentSessionExtension] = protocol.Clip(parent)
		}
	case "session.error":
		problem := p.Object("error")
		e.Subject = protocol.Clip(problem.Text("name"))
		d.Error = problem.Object("data").Text("message")
	case "file.edited", "file.watcher.updated":
		d.Path, d.Reason = p.Text("file"), p.Text("event")
	case "permission.asked":
		e.Subject = protocol.Clip(p.Text("permission"))
		d.Message = "OpenCode asks for permission: " + strings.Join(append([]string{p.Text("permission")}, p.Texts("patterns")...), " ")
	case "permission.replied":
		if d.Reason = p.Text("reply"); d.Reason == "reject" {
			e.Name = hook.PermissionDenied
		}
	case "message.part.delta":
		d.Message = p.Text("delta")
	}
}

// text joins the texts of a message, which the model will read.
func text(out *protocol.Fields) string {
	var parts []json.RawMessage
	if raw := out.Raw("parts"); raw != nil && json.Unmarshal(raw, &parts) != nil {
		out.Fail(protocol.Bad("parts is not a list"))
	}
	var texts []string
	for _, raw := range parts {
		var part struct{ Type, Text string }
		if json.Unmarshal(raw, &part) != nil {
			out.Fail(protocol.Bad("a part of the message is not what OpenCode sends"))
		} else if part.Type == "text" {
			texts = append(texts, part.Text)
		}
	}
	return strings.Join(texts, "\n")
}
