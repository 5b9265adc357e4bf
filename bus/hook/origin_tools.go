package hook

import (
	"encoding/json"
	"time"
)

// PreToolUse asks before a tool runs. This is the event that policies and most
// hooks are written for: send it for every call of every tool, whatever else is
// sent. What rules know of the call is its input: the command of a shell tool
// in "command", the file of a file tool in "file_path" or "path".
func (o Origin) PreToolUse(t Tool) Event { return o.tool(PreToolUse, t) }

// PreShell asks before a shell command runs, in agents that tell them apart
// from other tools.
func (o Origin) PreShell(t Tool) Event { return o.tool(PreShell, t) }

// PreMCPCall asks before a tool of an MCP server is called.
func (o Origin) PreMCPCall(t Tool) Event { return o.tool(PreMCPCall, t) }

// PreFileRead asks before a file is read for the model.
func (o Origin) PreFileRead(t Tool) Event { return o.tool(PreFileRead, t) }

// PostToolUse says that a tool has run. result is what it gave, as JSON.
func (o Origin) PostToolUse(t Tool, result json.RawMessage, took time.Duration) Event {
	return o.result(PostToolUse, t, result, took)
}

// PostToolUseFailure says that a tool has failed.
func (o Origin) PostToolUseFailure(t Tool, err error, took time.Duration) Event {
	e := o.result(PostToolUseFailure, t, nil, took)
	e.Data.Error = text(err)
	return e
}

// PostToolBatch asks before the results of calls made at once go to the model.
func (o Origin) PostToolBatch(calls json.RawMessage) Event {
	e := o.event(PostToolBatch, "")
	e.Data.Result = calls
	return e
}

// PostShell says that a shell command has run.
func (o Origin) PostShell(t Tool, result json.RawMessage, took time.Duration) Event {
	return o.result(PostShell, t, result, took)
}

// PostMCP says that a tool of an MCP server was called.
func (o Origin) PostMCP(t Tool, result json.RawMessage, took time.Duration) Event {
	return o.result(PostMCP, t, result, took)
}

// PostFileEdit says that a file was changed.
func (o Origin) PostFileEdit(t Tool, result json.RawMessage, took time.Duration) Event {
	return o.result(PostFileEdit, t, result, took)
}

// PermissionCheck asks when the agent looks whether a call is permitted.
func (o Origin) PermissionCheck(t Tool) Event { return o.tool(PermissionCheck, t) }

// PermissionRequest asks before the person is asked. An allow that grants
// answers in their place.
func (o Origin) PermissionRequest(t Tool) Event { return o.tool(PermissionRequest, t) }

// PermissionGranted says that the person, or a rule of the agent's, let it run.
func (o Origin) PermissionGranted(t Tool) Event { return o.tool(PermissionGranted, t) }

// PermissionDenied says that the person, or a rule of the agent's, did not.
func (o Origin) PermissionDenied(t Tool, reason string) Event {
	e := o.tool(PermissionDenied, t)
	e.Data.Reason = reason
	return e
}

// BeforeModel asks before the model does. request is what it is sent, as JSON.
func (o Origin) BeforeModel(request json.RawMessage) Event {
	return o.payload(BeforeModel, request)
}

// AfterModel is what the model has answered: the text of it, and all as JSON.
func (o Origin) AfterModel(message string, response json.RawMessage) Event {
	e := o.payload(AfterModel, response)
	e.Data.Message = message
	return e
}

// BeforeToolSelection asks before the model is offered tools. request says
// which, as JSON.
func (o Origin) BeforeToolSelection(request json.RawMessage) Event {
	return o.payload(BeforeToolSelection, request)
}

// payload is an event with JSON of the agent's own.
func (o Origin) payload(n Name, payload json.RawMessage) Event {
	e := o.event(n, "")
	e.Data.Native.Payload = payload
	return e
}

// ModelStreamStart says that the model begins to answer.
func (o Origin) ModelStreamStart() Event { return o.event(ModelStreamStart, "") }

// ModelStreamChunk is one piece of the answer.
func (o Origin) ModelStreamChunk(piece string) Event { return o.message(ModelStreamChunk, piece) }

// ModelStreamEnd is the whole answer.
func (o Origin) ModelStreamEnd(message string) Event { return o.message(ModelStreamEnd, message) }

// ModelThought is what the model thought.
func (o Origin) ModelThought(thought string) Event { return o.message(ModelThought, thought) }

// AgentMessage is what the agent says to the person.
func (o Origin) AgentMessage(message string) Event { return o.message(AgentMessage, message) }

// PreModelSwitch asks before another model is used; reason says who wants it.
func (o Origin) PreModelSwitch(model, reason string) Event {
	return o.model(PreModelSwitch, model, reason)
}

// PostModelSwitch says that another model is used.
func (o Origin) PostModelSwitch(model, reason string) Event {
	return o.model(PostModelSwitch, model, reason)
}

func (o Origin) model(n Name, model, reason string) Event {
	e := o.event(n, model)
	e.Data.Model, e.Data.Reason = model, reason
	return e
}
