package hook

import (
	"encoding/json"
	"path"
	"strings"
	"time"
)

// SessionStart says that a session begins; reason is how ("startup", "clear").
func (o Origin) SessionStart(reason string) Event { return o.about(SessionStart, reason) }

// SessionResume says that an earlier session goes on; reason is how ("resume",
// "fork").
func (o Origin) SessionResume(reason string) Event { return o.about(SessionResume, reason) }

// SessionEnd says that the session is over.
func (o Origin) SessionEnd(reason string) Event { return o.about(SessionEnd, reason) }

// SessionDelete says that the session and its history are gone.
func (o Origin) SessionDelete() Event { return o.event(SessionDelete, "") }

// SessionMessage is a message that was added to the session's history.
func (o Origin) SessionMessage(message string) Event {
	return o.message(SessionMessage, message)
}

// Setup asks before a workspace is prepared; trigger is what for ("init").
func (o Origin) Setup(trigger string) Event { return o.about(Setup, trigger) }

// UserPromptSubmit asks before the model gets what the person wrote.
func (o Origin) UserPromptSubmit(prompt string) Event {
	e := o.event(UserPromptSubmit, "")
	e.Data.Prompt = prompt
	return e
}

// UserPromptExpand asks before a command that the person typed becomes prompt.
func (o Origin) UserPromptExpand(command, prompt string) Event {
	e := o.event(UserPromptExpand, command)
	e.Data.Prompt = prompt
	return e
}

// Stop asks before the agent ends its turn; a deny means that it works on.
// lastMessage is what the model said last. active says that it works already
// because a stop was denied.
func (o Origin) Stop(lastMessage string, active bool) Event {
	return o.stop(Stop, "", lastMessage, active)
}

// StopFailure says that the turn ended with an error.
func (o Origin) StopFailure(err error, lastMessage string) Event {
	e := o.message(StopFailure, lastMessage)
	e.Data.Error = text(err)
	return e
}

// Interrupt says that the person ended the turn.
func (o Origin) Interrupt(reason string) Event { return o.about(Interrupt, reason) }

// Error says that something failed that is no tool and no turn.
func (o Origin) Error(err error) Event {
	e := o.event(Error, "")
	e.Data.Error = text(err)
	return e
}

// SubagentStart asks before the sub-agent o begins with its task: send it from
// the origin that [Origin.Child] made.
func (o Origin) SubagentStart(task string) Event {
	e := o.message(SubagentStart, task)
	e.Subject = o.Subagent.Type
	return e
}

// SubagentStop asks before the sub-agent o ends; it is to a sub-agent what
// [Origin.Stop] is to the agent itself.
func (o Origin) SubagentStop(lastMessage string, active bool) Event {
	return o.stop(SubagentStop, o.Subagent.Type, lastMessage, active)
}

func (o Origin) stop(n Name, subject, lastMessage string, active bool) Event {
	e := o.event(n, subject)
	e.Data.Message, e.Data.StopActive = lastMessage, active
	return e
}

// PreCompact asks before the context is summed up. trigger is who wants it
// ("manual", "auto"), instructions what the person said about it.
func (o Origin) PreCompact(trigger, instructions string) Event {
	e := o.about(PreCompact, trigger)
	e.Data.Prompt = instructions
	return e
}

// PostCompact says that the context was summed up.
func (o Origin) PostCompact(trigger, summary string) Event {
	e := o.about(PostCompact, trigger)
	e.Data.Message = summary
	return e
}

// Notification is what the agent tells the person; kind says of what sort.
func (o Origin) Notification(kind, message string) Event {
	e := o.about(Notification, kind)
	e.Data.Message = message
	return e
}

// TaskCreated asks before a task is put on the agent's list.
func (o Origin) TaskCreated(id, title string) Event { return o.task(TaskCreated, id, title) }

// TaskCompleted asks before a task of the list counts as done.
func (o Origin) TaskCompleted(id, title string) Event { return o.task(TaskCompleted, id, title) }

func (o Origin) task(n Name, id, title string) Event {
	e := o.event(n, id)
	e.Data.Message = title
	return e
}

// TeammateIdle asks before the sub-agent o waits for work; a deny gives it
// some.
func (o Origin) TeammateIdle() Event { return o.event(TeammateIdle, "") }

// InstructionsLoaded says that a file with instructions for the model was read.
func (o Origin) InstructionsLoaded(file, reason string) Event {
	return o.file(o.about(InstructionsLoaded, reason), file)
}

// ConfigChange asks before a changed settings file counts; source says whose
// settings they are.
func (o Origin) ConfigChange(file, source string) Event {
	return o.file(o.about(ConfigChange, source), file)
}

// CwdChanged says that the agent works in another directory from now on; the
// origin's CWD is the one before.
func (o Origin) CwdChanged(directory string) Event {
	return o.file(o.event(CwdChanged, ""), directory)
}

// DirectoryAdded says that the agent may use another directory; source says
// who added it.
func (o Origin) DirectoryAdded(directory, source string) Event {
	return o.file(o.about(DirectoryAdded, source), directory)
}

// FileChanged says that a file that the agent watches is another; change is
// how ("change", "add", "unlink").
func (o Origin) FileChanged(file, change string) Event {
	e := o.file(o.event(FileChanged, path.Base(strings.ReplaceAll(file, `\`, "/"))), file)
	e.Data.Reason = change
	return e
}

// WorktreeCreate asks before a worktree of this name is made.
func (o Origin) WorktreeCreate(name string) Event { return o.message(WorktreeCreate, name) }

// WorktreeRemove says that a worktree is gone.
func (o Origin) WorktreeRemove(directory string) Event {
	return o.file(o.event(WorktreeRemove, ""), directory)
}

func (o Origin) file(e Event, name string) Event {
	e.Data.Path = name
	return e
}

// Elicitation asks before an MCP server's question is put to the person.
func (o Origin) Elicitation(server, message string) Event {
	e := o.event(Elicitation, server)
	e.Data.Message = message
	return e
}

// ElicitationResult asks before the person's answer goes to the MCP server;
// action is what they chose ("accept", "decline", "cancel").
func (o Origin) ElicitationResult(server, action string, content json.RawMessage) Event {
	e := o.event(ElicitationResult, server)
	e.Data.Reason, e.Data.Result = action, content
	return e
}

// Heartbeat says that the agent is there.
func (o Origin) Heartbeat() Event { return o.event(Heartbeat, "") }

// HookExecutionStart says that the agent runs a hook of its own. What runs on
// the bus is told of by whoever runs it.
func (o Origin) HookExecutionStart(hook string) Event { return o.message(HookExecutionStart, hook) }

// HookExecutionComplete says that a hook of the agent's own has ended well.
func (o Origin) HookExecutionComplete(hook string, took time.Duration) Event {
	e := o.message(HookExecutionComplete, hook)
	e.Data.DurationMS = max(took, 0).Milliseconds()
	return e
}

// HookExecutionError says that a hook of the agent's own has failed.
func (o Origin) HookExecutionError(hook string, err error, took time.Duration) Event {
	e := o.message(HookExecutionError, hook)
	e.Data.Error, e.Data.DurationMS = text(err), max(took, 0).Milliseconds()
	return e
}

// Other is an event that has no canonical name. Nobody is waited for: what an
// agent wants an answer to must be sent as one of the others. payload is the
// agent's own JSON, or nil.
func (o Origin) Other(event string, payload json.RawMessage) Event {
	e := o.event(Other, "")
	e.Data.Native.Event, e.Data.Native.Payload = event, payload
	return e
}

// message is an event with a text and nothing else.
func (o Origin) message(n Name, message string) Event {
	e := o.event(n, "")
	e.Data.Message = message
	return e
}
