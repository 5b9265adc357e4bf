package gohook

import "maps"

// Context is where a hook is executed. The document's cancellation token is the
// context.Context beside it.
type Context struct {
	SessionID string
	// CWD is the agent's working directory, absolute; empty where unknown.
	CWD string
	// Env are variables for the hook. Of an event from the bus they are those of
	// [SubscriberOptions]; this process's own environment is never in it.
	Env map[string]string
}

// NewContext is a Context that knows its session alone.
func NewContext(sessionID string) *Context { return &Context{SessionID: sessionID} }

// clone is a copy for one call, which may outlive all others.
func (c *Context) clone(sessionID string) *Context {
	if c == nil {
		return NewContext(sessionID)
	}
	own := *c
	own.Env = maps.Clone(c.Env)
	if own.SessionID == "" {
		own.SessionID = sessionID
	}
	return &own
}
