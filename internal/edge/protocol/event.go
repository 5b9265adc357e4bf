package protocol

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"

	"github.com/grapnel-dev/grapnel/bus/hook"
	"github.com/grapnel-dev/grapnel/internal/strictjson"
)

// Event makes an event of a call. The error wraps [ErrPayload] or
// [ErrLineage]; [Agent.Refuse] answers it.
func (a *Agent) Event(c Call) (hook.Event, error) {
	row, known := a.Lookup(c.Event)
	limit := MaxWhole
	if !known || row.Canonical.Class() == hook.Gate {
		limit = MaxPayload
	}
	f, payload, err := Parse(c.Stdin, limit)
	if err != nil {
		return hook.Event{}, err
	}
	native := a.native(f)
	switch {
	case f.err != nil:
		return hook.Event{}, f.err
	case native != "" && native != row.Name && !slices.Contains(row.Aliases, native) && !slices.Contains(row.Says, native):
		return hook.Event{}, Bad("it is registered as %s and says it is %s; register one hook for each event, `grapnel install %s` does",
			Quote(c.Event), Quote(native), a.Name)
	case !known && (f.Raw(a.Keys.ToolName...) != nil || f.Raw(a.Keys.ToolInput...) != nil) && f.Raw(a.Keys.Result...) == nil:
		return hook.Event{}, Bad("event %s is not known to this version of grapnel and carries a tool call; update grapnel or take the hook out", Quote(row.Name))
	}
	e := hook.Event{
		Source: c.Source, Name: row.Canonical, Time: c.Now,
		SessionID: Clip(f.Text(a.Keys.Session...)), CorrelationID: Clip(f.Text(a.Keys.Turn...)),
	}
	if err := Lineage(&e, c.Lookup); err != nil {
		return hook.Event{}, err
	}
	a.common(f, row, c, &e)
	e.Data.Native = hook.Native{Agent: a.Name, Event: row.Name, Payload: payload}
	if known && a.Fill != nil {
		a.Fill(f, row, c, &e)
	}
	if known && row.Canonical.Class() == hook.Gate && row.Tool {
		f.checkTool(e.Data.Tool, row)
	}
	if f.err != nil {
		return hook.Event{}, f.err
	}
	if e.Data.Tool != nil {
		if e.Subject == "" {
			e.Subject = Clip(e.Data.Tool.Name)
		}
		if e.Data.Path == "" {
			e.Data.Path = pathOf(e.Data.Tool)
		}
	}
	e.ID = a.id(e, f)
	if len(payload) > MaxPayload {
		d := &e.Data
		d.Result, d.Message, d.Error, d.Prompt = nil, "", "", ""
		if d.Tool != nil {
			d.Tool.Input = nil
		}
	}
	return e, nil
}

// native is the event that the payload itself says it is of, or "".
func (a *Agent) native(f *Fields) string {
	name := f.Text(a.Keys.Event...)
	if name == "" && a.Sniff != nil {
		name = a.Sniff(f)
	}
	return name
}

// common sets what Keys say.
func (a *Agent) common(f *Fields, row Event, c Call, e *hook.Event) {
	k, d := a.Keys, &e.Data
	if d.CWD = f.Text(k.CWD...); d.CWD == "" {
		d.CWD = c.CWD
	}
	d.PermissionMode, d.Model = f.Text(k.Mode...), f.Text(k.Model...)
	if id, kind := f.Text(k.SubagentID...), f.Text(k.SubagentType...); id != "" || kind != "" {
		d.Subagent = &hook.Subagent{ID: id, Type: kind}
	}
	if row.Subject != "" {
		e.Subject = Clip(f.Text(row.Subject))
	}
	if row.Tool {
		name := f.Text(k.ToolName...)
		d.Tool = &hook.Tool{Name: name, Kind: a.kind(name), Input: f.Input(k.ToolInput...), CallID: f.Text(k.CallID...)}
	}
	switch row.Canonical {
	case hook.UserPromptSubmit, hook.UserPromptExpand:
		d.Prompt = f.Text(k.Prompt...)
	case hook.PostToolUse, hook.PostToolUseFailure, hook.PostShell, hook.PostMCP, hook.PostFileEdit, hook.PostToolBatch:
		d.Result, d.DurationMS = f.Raw(k.Result...), f.Number(k.Duration...)
	case hook.Stop, hook.SubagentStop:
		d.StopActive = f.Flag(k.StopActive...)
	}
	if !row.Canonical.Blocking() || !row.Tool {
		// Of a gate's tool only what is decided on counts.
		d.Message, d.Reason, d.Path = f.Text(k.Message...), f.Text(k.Reason...), f.Text(k.Path...)
	}
	if raw := f.Raw(k.Error...); len(raw) > 0 && raw[0] == '"' {
		d.Error = f.Text(k.Error...)
	}
}

func (a *Agent) kind(tool string) hook.Kind {
	if a.Kind == nil {
		return hook.KindOther
	}
	return a.Kind(tool)
}

// checkTool sees to it that the call of a tool that is decided on is there.
func (f *Fields) checkTool(t *hook.Tool, row Event) {
	switch {
	case t == nil || t.Name == "":
		f.Fail(Bad("%s names no tool", Quote(row.Name)))
	case len(t.Input) == 0 && !row.AnyInput:
		f.Fail(Bad("the tool %s has no input", Quote(t.Name)))
	case !row.AnyInput && t.Input[0] != '{':
		f.Fail(Bad("the input of tool %s is not an object", Quote(t.Name)))
	}
}

// pathOf returns the file that a file tool works on, where its input says so
// in one of the usual ways.
func pathOf(t *hook.Tool) string {
	switch t.Kind {
	case hook.KindFileRead, hook.KindFileWrite, hook.KindFileEdit:
	default:
		return ""
	}
	var in map[string]json.RawMessage
	if len(t.Input) == 0 || strictjson.UnmarshalOpen(t.Input, &in, 0) != nil {
		return ""
	}
	for _, key := range []string{"file_path", "filePath", "path", "absolute_path", "notebook_path", "TargetFile", "AbsolutePath"} {
		var s string
		if json.Unmarshal(in[key], &s) == nil && s != "" && (filepath.IsAbs(s) || key != "path") {
			return s
		}
	}
	return ""
}

// id derives the event's id. The parts are length-prefixed, so that no two
// lists of parts are the same bytes.
func (a *Agent) id(e hook.Event, f *Fields) string {
	unique := "once" + rand.Text()
	at := f.Raw(a.Keys.Time...)
	switch t := e.Data.Tool; {
	case t != nil && t.CallID != "":
		unique = "call" + t.CallID
	case len(at) > 0:
		unique = "time" + string(at)
	}
	var input []byte
	if t := e.Data.Tool; t != nil {
		input = append([]byte(t.Name+"\x00"), t.Input...)
	} else {
		input = e.Data.Native.Payload
	}
	subagent := ""
	if e.Data.Subagent != nil {
		subagent = e.Data.Subagent.ID
	}
	h := sha256.New()
	for _, part := range []string{a.Name, e.SessionID, e.Data.Native.Event, subagent, unique, string(input)} {
		fmt.Fprintf(h, "%d:%s", len(part), part)
	}
	return a.Name + "-" + hex.EncodeToString(h.Sum(nil)[:20])
}
