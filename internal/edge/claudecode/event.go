package claudecode

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"path"
	"strconv"
	"strings"

	"github.com/grapnel-dev/grapnel/bus/hook"
	"github.com/grapnel-dev/grapnel/internal/edge/protocol"
)

// Event makes an event of a call. The error wraps [protocol.ErrPayload] or
// [protocol.ErrLineage]; [Refuse] answers it.
//
// A call of a tool that is sent twice, because the hook is registered twice,
// becomes events with the same ID: it is a digest of session, event, call id
// and input. Events without a call id, which can be equal and yet distinct,
// get an ID of their own each time.
func Event(c protocol.Call) (hook.Event, error) {
	r, known := lookup(c.Event)
	limit := protocol.MaxWhole
	if r.canonical.Class() == hook.Gate {
		limit = protocol.MaxPayload
	}
	read, payload, err := protocol.Parse(c.Stdin, limit)
	if err != nil {
		return hook.Event{}, err
	}
	f := fields{read}
	native := f.Text("hook_event_name")
	switch {
	case f.Err() != nil:
		return hook.Event{}, f.Err()
	case native == "":
		return hook.Event{}, protocol.Bad("it has no hook_event_name")
	case native != r.event:
		return hook.Event{}, protocol.Bad("it is registered as %s and says it is %s; register one hook for each event, `grapnel install claude-code` does",
			protocol.Quote(c.Event), protocol.Quote(native))
	case !known && (f.Has("tool_name") || f.Has("tool_input")) && !f.Has("tool_response"):
		return hook.Event{}, protocol.Bad("event %s is not known to this version of grapnel and carries a tool call; update grapnel or take the hook out", protocol.Quote(native))
	}
	e := hook.Event{
		Source: c.Source, Name: r.canonical, Time: c.Now,
		SessionID: protocol.Clip(f.Text("session_id")), CorrelationID: protocol.Clip(f.Text("prompt_id")),
	}
	if err := protocol.Lineage(&e, c.Lookup); err != nil {
		return hook.Event{}, err
	}
	d := &e.Data
	d.CWD, d.Workspace = f.Text("cwd"), c.Lookup("CLAUDE_PROJECT_DIR")
	if d.CWD == "" {
		d.CWD = c.CWD
	}
	d.PermissionMode = f.Text("permission_mode")
	if id, kind := f.Text("agent_id"), f.Text("agent_type"); id != "" || kind != "" {
		d.Subagent = &hook.Subagent{ID: id, Type: kind}
	}
	d.Native = hook.Native{Agent: Agent, Event: native, Payload: payload}
	if known {
		f.fill(&e, r)
	}
	if f.Err() != nil {
		return hook.Event{}, f.Err()
	}
	e.ID = id(e, f)
	if len(payload) > protocol.MaxPayload {
		d.Result, d.Message, d.Error, d.Prompt = nil, "", "", ""
		if d.Tool != nil {
			d.Tool.Input = nil
		}
	}
	return e, nil
}

// fill sets the canonical fields that events of this name have.
func (f fields) fill(e *hook.Event, r row) {
	d := &e.Data
	if r.matcher != "" {
		e.Subject = protocol.Clip(f.Text(r.matcher))
	}
	switch r.event {
	case "SessionStart":
		d.Reason, d.Model = f.Text("source"), f.Text("model")
		if d.Reason == "resume" || d.Reason == "fork" {
			e.Name = hook.SessionResume
		}
	case "Setup":
		d.Reason = f.Text("trigger")
	case "UserPromptSubmit", "UserPromptExpansion":
		d.Prompt = f.Text("prompt")
	case "PreToolUse", "PermissionRequest":
		d.Tool = f.tool(true)
		d.Path = f.toolPath()
	case "PermissionDenied", "PostToolUse", "PostToolUseFailure":
		d.Tool = f.tool(false)
		d.Path = f.toolPath()
		d.Reason, d.Error = f.Text("reason"), f.Text("error")
		d.Result, d.DurationMS = f.Raw("tool_response"), f.Number("duration_ms")
	case "PostToolBatch":
		d.Result = f.Raw("tool_calls")
	case "Notification":
		d.Message, d.Reason = f.Text("message"), f.Text("notification_type")
	case "MessageDisplay":
		d.Message = f.Text("delta")
		if f.Flag("final") {
			e.Name = hook.AgentMessage
		}
	case "Stop", "SubagentStop":
		d.StopActive, d.Message = f.Flag("stop_hook_active"), f.Text("last_assistant_message")
	case "StopFailure":
		d.Error, d.Message = f.Text("error"), f.Text("last_assistant_message")
		d.Reason = f.Text("error_details")
	case "TaskCreated", "TaskCompleted":
		d.Message = f.Text("task_subject")
		f.teammate(d)
	case "TeammateIdle":
		f.teammate(d)
	case "InstructionsLoaded":
		d.Path, d.Reason = f.Text("file_path"), f.Text("load_reason")
	case "ConfigChange":
		d.Path, d.Reason = f.Text("file_path"), f.Text("source")
	case "CwdChanged":
		d.Path = f.Text("new_cwd")
	case "DirectoryAdded":
		d.Path, d.Reason = f.Text("directory"), f.Text("source")
	case "FileChanged":
		d.Path, d.Reason = f.Text("file_path"), f.Text("event")
		e.Subject = protocol.Clip(path.Base(strings.ReplaceAll(d.Path, `\`, "/")))
	case "WorktreeCreate":
		d.Message = f.Text("name")
	case "WorktreeRemove":
		d.Path = f.Text("worktree_path")
	case "PreCompact":
		d.Reason, d.Prompt = f.Text("trigger"), f.Text("custom_instructions")
	case "PostCompact":
		d.Reason, d.Message = f.Text("trigger"), f.Text("compact_summary")
	case "PreModelSwitch", "PostModelSwitch":
		d.Reason, d.Model = f.Text("source"), f.Text("to_model")
	case "Elicitation":
		d.Message, d.Path = f.Text("message"), f.Text("url")
	case "ElicitationResult":
		d.Reason, d.Result = f.Text("action"), f.Raw("content")
	case "SessionEnd":
		d.Reason = f.Text("reason")
	}
}

func (f fields) teammate(d *hook.Data) {
	if name := f.Text("teammate_name"); name != "" && d.Subagent == nil {
		d.Subagent = &hook.Subagent{ID: name, Type: "teammate"}
	}
}

// id derives the event's id. The parts are length-prefixed, so that no two
// lists of parts are the same bytes.
func id(e hook.Event, f fields) string {
	var unique string
	switch {
	case e.Data.Tool != nil && e.Data.Tool.CallID != "":
		unique = "call" + e.Data.Tool.CallID
	case e.Data.Native.Event == "MessageDisplay" && f.Text("message_id") != "":
		unique = "piece" + f.Text("message_id") + " " + strconv.FormatInt(f.Number("index"), 10)
	default:
		unique = "once" + rand.Text()
	}
	h := sha256.New()
	agentID := ""
	if e.Data.Subagent != nil {
		agentID = e.Data.Subagent.ID
	}
	var input []byte
	if t := e.Data.Tool; t != nil {
		input = append([]byte(t.Name+"\x00"), t.Input...)
	}
	for _, part := range []string{Agent, e.SessionID, e.Data.Native.Event, agentID, unique, string(input)} {
		fmt.Fprintf(h, "%d:%s", len(part), part)
	}
	return "cc-" + hex.EncodeToString(h.Sum(nil)[:20])
}
