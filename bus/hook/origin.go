package hook

import (
	"crypto/rand"
	"encoding/json"
	"net/url"
	"time"
)

// Origin is who sends events: one agent at work in one session. It has a
// method for each canonical event ([Names]) that returns the event whole, with
// an id of its own, the time, the subject and where it comes from, so that an
// agent's author has nothing else to fill in. Keep one for each session:
//
//	o := hook.Origin{Host: "laptop", Agent: "my-agent", Session: "s1", CWD: "/home/dev/shop"}
//	verdict, err := conn.Request(ctx, o.PreToolUse(tool))
//
// Methods that ask make blocking events, which are requested; all others are
// published ([Name.Blocking] says which). Where there is no verdict, see
// [Event.Unanswered].
//
// Host and Agent make the event's source and are required: an event without
// them is refused when it is sent, as is one whose texts are not UTF-8, whose
// JSON is none, or whose tool has none of the kinds. An event that could not be
// sent is sent again as it is, and not made anew: its id is how the bus knows
// it.
//
// An Origin is a plain value: a copy with another Turn is another origin. Its
// methods may be called concurrently.
type Origin struct {
	// Host is the machine's name and Agent the agent's; together they are the
	// event's source, "/<host>/<agent>". Agent is what `--agent` looks for.
	Host, Agent string
	// Session names the session and Turn what the person asked last.
	Session, Turn string
	// CWD is the agent's working directory and Workspace the project's root,
	// both absolute. What the policy says of paths goes by them.
	CWD, Workspace string
	// Model is the language model's name.
	Model string
	// PermissionMode is the agent's own word for how much it asks.
	PermissionMode string
	// TraceParent is the W3C trace context, where there is one.
	TraceParent string

	// Subagent is which sub-agent sends; zero for the agent itself. See
	// [Origin.Child].
	Subagent Subagent
	// ParentAgent is the sub-agent that started this one or its session; empty
	// where the agent itself did.
	ParentAgent string
	// ParentSession is the session that this one was started from, and
	// RootSession the one that a person started and that all this comes from;
	// both are empty in that very session. See [Origin.InSession].
	ParentSession, RootSession string

	// Cause is the id of the event that led to what is sent, Hops how many
	// hooks stand between a person and it, and Ancestry which. See
	// [Origin.CausedBy].
	Cause    string
	Hops     int
	Ancestry string
}

// Child is the origin of a sub-agent that o starts: the same agent in the same
// session, with an id of its own there. kind is what it is for ("explore"),
// which matchers of sub-agent events are tested against.
func (o Origin) Child(id, kind string) Origin {
	o.ParentAgent = o.Subagent.ID
	o.Subagent = Subagent{ID: id, Type: kind}
	return o
}

// InSession is o in another session that was started from its own: for agents
// that give each sub-agent a session,
//
//	o.Child("a1", "explore").InSession("s2")
//
// and for programs that start agents. The turn is left behind; turns belong to
// their session.
func (o Origin) InSession(session string) Origin {
	if o.RootSession == "" {
		o.RootSession = o.Session
	}
	o.ParentSession, o.Session, o.Turn = o.Session, session, ""
	return o
}

// CausedBy is o for what it does because of e: a call of a tool that a prompt
// led to, or what a program does that takes events from the bus. Hooks that led
// to e have led to that, too.
func (o Origin) CausedBy(e Event) Origin {
	o.Cause, o.Hops, o.Ancestry = e.ID, e.Hops, e.Extensions[AncestryExtension]
	if o.TraceParent == "" {
		o.TraceParent = e.TraceParent
	}
	return o
}

// event is what all events of o have.
func (o Origin) event(n Name, subject string) Event {
	e := Event{
		ID: rand.Text(), Name: n, Subject: subject, Time: time.Now().UTC(),
		SessionID: o.Session, CorrelationID: o.Turn, CausationID: o.Cause, Hops: o.Hops, TraceParent: o.TraceParent,
		Data: Data{
			CWD: o.CWD, Workspace: o.Workspace, PermissionMode: o.PermissionMode, Model: o.Model,
			Native: Native{Agent: o.Agent, Event: string(n)},
		},
	}
	if o.Host != "" && o.Agent != "" { // else it has no source, and is refused
		e.Source = "/" + url.PathEscape(o.Host) + "/" + url.PathEscape(o.Agent)
	}
	if o.Subagent != (Subagent{}) {
		e.Data.Subagent = &o.Subagent
	}
	for name, value := range map[string]string{
		AncestryExtension: o.Ancestry, ParentAgentExtension: o.ParentAgent,
		ParentSessionExtension: o.ParentSession, RootSessionExtension: o.RootSession,
	} {
		if value == "" {
			continue
		}
		if e.Extensions == nil {
			e.Extensions = make(map[string]string)
		}
		e.Extensions[name] = value
	}
	return e
}

// about is an event whose subject is the reason why it happened, as matchers
// expect it.
func (o Origin) about(n Name, reason string) Event {
	e := o.event(n, reason)
	e.Data.Reason = reason
	return e
}

// tool is an event about a call of a tool.
func (o Origin) tool(n Name, t Tool) Event {
	e := o.event(n, t.Name)
	e.Data.Tool, e.Data.Path = &t, t.path()
	return e
}

// result is an event about a call that has ended.
func (o Origin) result(n Name, t Tool, result json.RawMessage, took time.Duration) Event {
	e := o.tool(n, t)
	e.Data.Result, e.Data.DurationMS = result, max(took, 0).Milliseconds()
	return e
}

// path is the file that a file tool works on, where its input says so in one of
// the usual ways.
func (t Tool) path() string {
	switch t.Kind {
	case KindFileRead, KindFileWrite, KindFileEdit:
	default:
		return ""
	}
	var input map[string]json.RawMessage
	if json.Unmarshal(t.Input, &input) != nil {
		return ""
	}
	for _, key := range []string{"file_path", "path"} {
		var path string
		if json.Unmarshal(input[key], &path) == nil && path != "" {
			return path
		}
	}
	return ""
}

// text is what an error says.
func text(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}
