package claudecode

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"path"
	"strconv"
	"strings"

	"github.com/grapnel-dev/grapnel/bus/hook"
	"github.com/grapnel-dev/grapnel/internal/edge/protocol"
)

// Limits on a payload, in bytes. An event holds the payload and, beside it, the
// tool's input, the result or a text, so it can be twice as large.
const (
	// MaxPayload is the largest payload of a gate.
	MaxPayload = 4<<20 - 64<<10
	// MaxWhole is the largest payload of any other event. Above MaxPayload
	// its input, result and texts are in the native payload alone.
	MaxWhole = 2 * MaxPayload
)

// ErrPayload is wrapped by every error about a payload that is not taken.
var ErrPayload = errors.New("the hook's input is not what Claude Code sends")

func bad(format string, args ...any) error {
	return fmt.Errorf("%w: "+format, append([]any{ErrPayload}, args...)...)
}

// Event makes an event of a call. The error wraps [ErrPayload]; [Refuse]
// answers it.
//
// A call of a tool that is sent twice, because the hook is registered twice,
// becomes events with the same ID: it is a digest of session, event, call id
// and input. Events without a call id, which can be equal and yet distinct,
// get an ID of their own each time.
func Event(c protocol.Call) (hook.Event, error) {
	r, known := lookup(c.Event)
	limit := MaxWhole
	if r.canonical.Class() == hook.Gate {
		limit = MaxPayload
	}
	f, payload, err := parse(c.Stdin, limit)
	if err != nil {
		return hook.Event{}, err
	}
	native := f.text("hook_event_name")
	switch {
	case f.err != nil:
		return hook.Event{}, f.err
	case native == "":
		return hook.Event{}, bad("it has no hook_event_name")
	case native != r.event:
		return hook.Event{}, bad("it is registered as %s and says it is %s; register one hook for each event, `grapnel install claude-code` does",
			protocol.Quote(c.Event), protocol.Quote(native))
	case !known && (f.has("tool_name") || f.has("tool_input")) && !f.has("tool_response"):
		return hook.Event{}, bad("event %s is not known to this version of grapnel and carries a tool call; update grapnel or take the hook out", protocol.Quote(native))
	}
	e := hook.Event{
		Source: c.Source, Name: r.canonical, Time: c.Now,
		SessionID: protocol.Clip(f.text("session_id")), CorrelationID: protocol.Clip(f.text("prompt_id")),
	}
	if err := protocol.Lineage(&e, c.Lookup); err != nil {
		return hook.Event{}, bad("%w", err)
	}
	d := &e.Data
	d.CWD, d.Workspace = f.text("cwd"), c.Lookup("CLAUDE_PROJECT_DIR")
	if d.CWD == "" {
		d.CWD = c.CWD
	}
	d.PermissionMode = f.text("permission_mode")
	if id, kind := f.text("agent_id"), f.text("agent_type"); id != "" || kind != "" {
		d.Subagent = &hook.Subagent{ID: id, Type: kind}
	}
	d.Native = hook.Native{Agent: Agent, Event: native, Payload: payload}
	if known {
		f.fill(&e, r)
	}
	if f.err != nil {
		return hook.Event{}, f.err
	}
	e.ID = id(e, f)
	if len(payload) > MaxPayload {
		d.Result, d.Message, d.Error, d.Prompt = nil, "", "", ""
		if d.Tool != nil {
			d.Tool.Input = nil
		}
	}
	return e, nil
}

// fill sets the canonical fields that events of this name have.
func (f *fields) fill(e *hook.Event, r row) {
	d := &e.Data
	if r.matcher != "" {
		e.Subject = protocol.Clip(f.text(r.matcher))
	}
	switch r.event {
	case "SessionStart":
		d.Reason, d.Model = f.text("source"), f.text("model")
		if d.Reason == "resume" || d.Reason == "fork" {
			e.Name = hook.SessionResume
		}
	case "Setup":
		d.Reason = f.text("trigger")
	case "UserPromptSubmit", "UserPromptExpansion":
		d.Prompt = f.text("prompt")
	case "PreToolUse", "PermissionRequest":
		d.Tool = f.tool(true)
		d.Path = f.toolPath()
	case "PermissionDenied", "PostToolUse", "PostToolUseFailure":
		d.Tool = f.tool(false)
		d.Path = f.toolPath()
		d.Reason, d.Error = f.text("reason"), f.text("error")
		d.Result, d.DurationMS = f.raw("tool_response"), f.number("duration_ms")
	case "PostToolBatch":
		d.Result = f.raw("tool_calls")
	case "Notification":
		d.Message, d.Reason = f.text("message"), f.text("notification_type")
	case "MessageDisplay":
		d.Message = f.text("delta")
		if f.flag("final") {
			e.Name = hook.AgentMessage
		}
	case "Stop", "SubagentStop":
		d.StopActive, d.Message = f.flag("stop_hook_active"), f.text("last_assistant_message")
	case "StopFailure":
		d.Error, d.Message = f.text("error"), f.text("last_assistant_message")
		d.Reason = f.text("error_details")
	case "TaskCreated", "TaskCompleted":
		d.Message = f.text("task_subject")
		f.teammate(d)
	case "TeammateIdle":
		f.teammate(d)
	case "InstructionsLoaded":
		d.Path, d.Reason = f.text("file_path"), f.text("load_reason")
	case "ConfigChange":
		d.Path, d.Reason = f.text("file_path"), f.text("source")
	case "CwdChanged":
		d.Path = f.text("new_cwd")
	case "DirectoryAdded":
		d.Path, d.Reason = f.text("directory"), f.text("source")
	case "FileChanged":
		d.Path, d.Reason = f.text("file_path"), f.text("event")
		e.Subject = protocol.Clip(path.Base(strings.ReplaceAll(d.Path, `\`, "/")))
	case "WorktreeCreate":
		d.Message = f.text("name")
	case "WorktreeRemove":
		d.Path = f.text("worktree_path")
	case "PreCompact":
		d.Reason, d.Prompt = f.text("trigger"), f.text("custom_instructions")
	case "PostCompact":
		d.Reason, d.Message = f.text("trigger"), f.text("compact_summary")
	case "PreModelSwitch", "PostModelSwitch":
		d.Reason, d.Model = f.text("source"), f.text("to_model")
	case "Elicitation":
		d.Message, d.Path = f.text("message"), f.text("url")
	case "ElicitationResult":
		d.Reason, d.Result = f.text("action"), f.raw("content")
	case "SessionEnd":
		d.Reason = f.text("reason")
	}
}

func (f *fields) teammate(d *hook.Data) {
	if name := f.text("teammate_name"); name != "" && d.Subagent == nil {
		d.Subagent = &hook.Subagent{ID: name, Type: "teammate"}
	}
}

// id derives the event's id. The parts are length-prefixed, so that no two
// lists of parts are the same bytes.
func id(e hook.Event, f *fields) string {
	var unique string
	switch {
	case e.Data.Tool != nil && e.Data.Tool.CallID != "":
		unique = "call" + e.Data.Tool.CallID
	case e.Data.Native.Event == "MessageDisplay" && f.text("message_id") != "":
		unique = "piece" + f.text("message_id") + " " + strconv.FormatInt(f.number("index"), 10)
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
