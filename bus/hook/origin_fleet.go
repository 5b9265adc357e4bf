package hook

// The CloudEvents extensions that say how the agents of one run belong
// together. An event without them comes from the agent that a person started,
// in the session that they started. A sub-agent's own name is in the data
// ([Subagent]).
const (
	// ParentAgentExtension is the id of the sub-agent that started the one
	// that sends; it is absent where the agent itself did.
	ParentAgentExtension = "parentagentid"
	// ParentSessionExtension is the session that the event's session was
	// started from.
	ParentSessionExtension = "parentsessionid"
	// RootSessionExtension is the session that a person started and that the
	// event's session comes from, over however many others.
	RootSessionExtension = "rootsessionid"
)

// ParentSession is the session that the event's own was started from, or "".
func (e Event) ParentSession() string { return e.Extensions[ParentSessionExtension] }

// RootSession is the session that a person started and that the event's own
// comes from; the event's own where it does not say.
func (e Event) RootSession() string {
	if root := e.Extensions[RootSessionExtension]; root != "" {
		return root
	}
	return e.SessionID
}

// Unanswered is the verdict on a blocking event when there is none: deny for
// a gate, and abstain, which lets the agent go on, for everything else. err says
// why there is none; it is the reason. An agent that obeys it fails as all
// others do on the bus.
func (e Event) Unanswered(err error) Verdict {
	return Verdict{EventID: e.ID, Effect: FailDefault.Effect(e.Name.Class()), Reason: "no verdict: " + text(err), Time: e.Time}
}
