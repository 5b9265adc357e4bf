package hook

import (
	"encoding/json"
	"time"
)

// Event is one CloudEvents 1.0 event of an agent. Its wire forms are in
// package bus/cloudevent.
type Event struct {
	// ID is unique per Source. Source and ID together are the idempotency
	// key.
	ID string
	// Source is "/<host>/<agent>".
	Source string
	// Name is the canonical event name; the CloudEvents type derives from it.
	Name Name
	// Subject is the CloudEvents subject: the tool's name or the matcher
	// value verbatim, as the agent wrote it. It may hold any text.
	Subject string
	// Time is when the agent caused the event.
	Time time.Time
	// SessionID names the agent's session ("sessionid").
	SessionID string
	// CorrelationID names the turn ("correlationid").
	CorrelationID string
	// CausationID is the id of the event that led to this one ("causationid").
	CausationID string
	// Hops counts how many hooks stand between a person and this event.
	Hops int
	// Sequence orders the events of a session, zero-padded ("sequence").
	Sequence string
	// Deadline is when the answer must be there ("expirytime"); zero means
	// none was given.
	Deadline time.Time
	// TraceParent is the W3C trace context of the event ("traceparent").
	TraceParent string
	// DataRef names the object that holds the data when it is too large to
	// travel ("dataref").
	DataRef string
	// Extensions are all other CloudEvents extension attributes.
	Extensions map[string]string

	// Data is the decoded data.
	Data Data
	// Raw is the data exactly as it travelled. Whoever builds an event leaves
	// it nil; whoever decodes one sets it, and encoders then write it as it is.
	Raw []byte
}

// Key is the event's name and tool token, "pre_tool_use.bash".
func (e Event) Key() string { return string(e.Name) + "." + Token(e.Subject) }

// Data is the data of an event: the canonical fields that events of that name
// have, and the agent's own payload untouched.
type Data struct {
	// CWD is the agent's working directory, absolute.
	CWD string `json:"cwd,omitempty"`
	// Workspace is the project's root, absolute; empty where unknown.
	Workspace string `json:"workspace,omitempty"`
	// PermissionMode is the agent's own word for how much it asks.
	PermissionMode string `json:"permission_mode,omitempty"`
	// Model is the language model's name.
	Model string `json:"model,omitempty"`
	// Tool is set on tool and permission events.
	Tool *Tool `json:"tool,omitzero"`
	// Prompt is what the person wrote (prompt events).
	Prompt string `json:"prompt,omitempty"`
	// Message is text for a person or from the model: a notification, the
	// last message of a turn, a streamed piece.
	Message string `json:"message,omitempty"`
	// Reason says why it happened: a session's source or end, a compaction's
	// trigger, a denial's reason.
	Reason string `json:"reason,omitempty"`
	// Error is the error's text (failure events).
	Error string `json:"error,omitempty"`
	// Result is the tool's result, as the agent wrote it.
	Result json.RawMessage `json:"result,omitzero"`
	// DurationMS is how long the tool ran, in milliseconds.
	DurationMS int64 `json:"duration_ms,omitzero"`
	// StopActive says that the agent is already working on because a stop
	// event was blocked.
	StopActive bool `json:"stop_active,omitzero"`
	// Subagent is set when the event comes from a sub-agent or is about one.
	Subagent *Subagent `json:"subagent,omitzero"`
	// Path is the file or directory the event is about.
	Path string `json:"path,omitempty"`
	// Native is what the agent itself sent.
	Native Native `json:"native,omitzero"`
}

// Tool is one call of a tool.
type Tool struct {
	// Name is the agent's own name of the tool.
	Name string `json:"name"`
	// Kind groups the tools of all agents.
	Kind Kind `json:"kind"`
	// Input is the tool's input as the agent wrote it, one JSON value.
	Input json.RawMessage `json:"input,omitzero"`
	// CallID is the agent's id of this call, where it has one.
	CallID string `json:"call_id,omitempty"`
}

// Subagent names a sub-agent.
type Subagent struct {
	ID   string `json:"id,omitempty"`
	Type string `json:"type,omitempty"`
}

// Native is the agent's own event.
type Native struct {
	// Agent is the agent's name on our command line ("claude-code").
	Agent string `json:"agent"`
	// Event is the agent's own event name ("PreToolUse").
	Event string `json:"event"`
	// Payload is the agent's JSON, byte for byte.
	Payload json.RawMessage `json:"payload,omitzero"`
}

// Kind groups the tools of different agents by what they do.
type Kind string

// The tool kinds.
const (
	KindShell     Kind = "shell"
	KindFileRead  Kind = "file_read"
	KindFileWrite Kind = "file_write"
	KindFileEdit  Kind = "file_edit"
	KindSearch    Kind = "search"
	KindWeb       Kind = "web"
	KindSubagent  Kind = "subagent"
	KindMCP       Kind = "mcp"
	KindOther     Kind = "other"
)

// Kinds lists the tool kinds.
func Kinds() []Kind {
	return []Kind{KindShell, KindFileRead, KindFileWrite, KindFileEdit, KindSearch, KindWeb, KindSubagent, KindMCP, KindOther}
}
