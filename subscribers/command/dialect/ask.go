package dialect

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/grapnel-dev/grapnel/bus/hook"
)

// Question is what a prompt hook asks a language model.
type Question struct {
	// Hook is the hook's label, Prompt its text with placeholders and Model who
	// is asked; nil leaves that to the host.
	Hook   string
	Prompt string
	Model  *Model
	// Input is the full hook input in the dialect's form, JSON.
	Input json.RawMessage
	// The placeholders' values.
	ToolName  string
	ToolInput json.RawMessage
	UserText  string
	SessionID string
	CWD       string
	// Dialect says whose placeholders they are.
	Dialect string
	Timeout time.Duration
}

// Request is what an HTTP hook is sent.
type Request struct {
	Hook       string
	EventID    string
	Time       time.Time
	URL        string
	Headers    map[string]string
	AllowedEnv []string
	Body       []byte
	Timeout    time.Duration
	// Loosens says that the hook is the person's own, who may have it reach
	// addresses of this machine and network.
	Loosens bool
}

// askModel asks a language model. What it says can only tighten.
func (s *Set) askModel(ctx context.Context, h Hook, c *Call, feed Feed, timeout time.Duration) (Answer, error) {
	if s.o.Ask == nil {
		return Answer{}, fmt.Errorf("%w: no language model is configured", ErrUnavailable)
	}
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	a, err := s.o.Ask(ctx, Question{
		Hook: h.Label(), Prompt: h.Prompt, Model: h.Model, Input: feed.Stdin, ToolName: c.Tool, ToolInput: c.ToolInput(),
		UserText: c.Event.Data.Prompt, SessionID: c.Event.SessionID, CWD: c.Event.Data.CWD, Dialect: s.dialect.Name, Timeout: timeout,
	})
	if err != nil {
		return Answer{}, fmt.Errorf("%w: %w", ErrFailed, err)
	}
	if a.Effect == hook.Allow {
		a.Effect = hook.Abstain
	}
	a.Rewrite, a.Patch = nil, nil
	return a, nil
}

// post sends the event to an HTTP hook.
func (s *Set) post(ctx context.Context, h Hook, c *Call, feed Feed, timeout time.Duration) (Output, error) {
	if s.o.Post == nil {
		return Output{}, fmt.Errorf("%w: HTTP hooks are not configured", ErrUnavailable)
	}
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	out, err := s.o.Post(ctx, Request{
		Hook: h.Label(), EventID: c.Event.ID, Time: c.Event.Time, URL: h.URL, Headers: h.Headers, AllowedEnv: h.AllowedEnv,
		Body: feed.Stdin, Timeout: timeout, Loosens: loosens(h.Origin.Source),
	})
	if err != nil {
		return Output{}, fmt.Errorf("%w: %w", ErrFailed, err)
	}
	return out, nil
}
