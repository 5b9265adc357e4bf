package dialect

import (
	"crypto/rand"
	"encoding/json"
	"maps"
	"time"

	"github.com/grapnel-dev/grapnel/bus/hook"
	"github.com/grapnel-dev/grapnel/subscribers/command"
)

// execution is the payload of an execution event (A8).
type execution struct {
	// Type is the dialect's event that the hook ran for, Command what it runs.
	Type    string `json:"hook_type"`
	Command string `json:"hook_command"`
	// Context names the event.
	Context struct {
		EventID string `json:"event_id"`
		Event   string `json:"event"`
		Tool    string `json:"tool_name,omitempty"`
	} `json:"context"`
	// Result is there once it has ended.
	Result *command.Execution `json:"result,omitempty"`
	Error  string             `json:"error,omitempty"`
}

// announce publishes that a hook starts.
func (s *Set) announce(c *Call, r *Result) { s.publish(hook.HookExecutionStart, c, r) }

// report publishes how a run ended.
func (s *Set) report(c *Call, r *Result) {
	if r.Err != nil {
		s.publish(hook.HookExecutionError, c, r)
		return
	}
	s.publish(hook.HookExecutionComplete, c, r)
}

func (s *Set) publish(name hook.Name, c *Call, r *Result) {
	// Nothing is said about runs for such events themselves: that would never
	// end.
	if s.o.Publish == nil || isExecution(c.Event.Name) {
		return
	}
	x := execution{Type: c.Name, Command: r.Hook.Text()}
	x.Context.EventID, x.Context.Event, x.Context.Tool = c.Event.ID, c.Event.Key(), c.Tool
	if name != hook.HookExecutionStart {
		x.Result = &r.Report.Execution
		x.Error = r.Report.Error
	}
	payload, err := json.Marshal(x)
	if err != nil {
		s.o.Log.Error("dialect: execution event", "error", err)
		return
	}
	extensions := maps.Clone(c.Event.Extensions)
	if extensions == nil {
		extensions = make(map[string]string, 1)
	}
	extensions[hook.AncestryExtension] = c.Event.Ancestry(r.Hook.ID())
	e := hook.Event{
		ID: rand.Text(), Source: c.Event.Source, Name: name, Subject: s.dialect.Name, Time: time.Now(),
		SessionID: c.Event.SessionID, CorrelationID: c.Event.CorrelationID, CausationID: c.Event.ID,
		Hops: c.Event.Hops + 1, TraceParent: c.Event.TraceParent, Extensions: extensions,
		Data: hook.Data{
			CWD: c.Event.Data.CWD, Workspace: c.Event.Data.Workspace, Message: r.Report.Hook, Error: x.Error,
			DurationMS: int64(r.Report.DurationMS),
			Native:     hook.Native{Agent: "grapnel", Event: string(name), Payload: payload},
		},
	}
	s.o.Publish(e)
}

func isExecution(n hook.Name) bool {
	return n == hook.HookExecutionStart || n == hook.HookExecutionComplete || n == hook.HookExecutionError
}
