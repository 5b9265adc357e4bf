package main

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"github.com/grapnel-dev/grapnel/bus/hook"
	"github.com/grapnel-dev/grapnel/subscribers/command/dialect"
	"github.com/grapnel-dev/grapnel/subscribers/prompt"
)

// asker asks language models for prompt hooks of all dialects and our own.
type asker struct {
	config *config
	budget *prompt.Budget
	log    *slog.Logger
}

// defaultRequests caps the questions of an hour when the configuration says
// nothing: a loop of agents must not cost a fortune.
const defaultRequests = 500

func newAsker(c *config, log *slog.Logger) (*asker, error) {
	limits := prompt.Limits(c.Budget)
	if limits == (prompt.Limits{}) {
		limits.Requests = defaultRequests
	}
	budget, err := prompt.NewBudget(limits)
	if err != nil {
		return nil, fmt.Errorf("budget: %w", err)
	}
	return &asker{config: c, budget: budget, log: log}, nil
}

func (a *asker) judge(h prompt.Hook, m prompt.Model) (*prompt.Judge, error) {
	return prompt.New(h, m, &prompt.Options{Budget: a.budget, Log: a.log})
}

// ask answers for a prompt hook of a dialect.
func (a *asker) ask(ctx context.Context, q dialect.Question) (dialect.Answer, error) {
	m, err := a.model(q.Model)
	if err != nil {
		return dialect.Answer{}, err
	}
	syntax := prompt.Codemie
	if q.Dialect == "claude-code" {
		syntax = prompt.ClaudeCode
	}
	j, err := a.judge(prompt.Hook{Name: q.Dialect, Prompt: q.Prompt, Syntax: syntax, Timeout: hook.Duration(max(q.Timeout, time.Second))}, m)
	if err != nil {
		return dialect.Answer{}, err
	}
	defer j.Close()
	answer, err := j.Ask(ctx, prompt.Question{
		Input: q.Input, ToolName: q.ToolName, ToolInput: q.ToolInput, Prompt: q.UserText, SessionID: q.SessionID, CWD: q.CWD,
	})
	if err != nil {
		return dialect.Answer{}, err
	}
	return dialect.Answer{Effect: answer.Effect, Reason: answer.Reason, Context: answer.Context}, nil
}

// model is who is asked: the model of the dialect's own configuration, one of
// ours that it names, or the default.
func (a *asker) model(m *dialect.Model) (prompt.Model, error) {
	switch {
	case m == nil:
		return a.config.model("")
	case m.Provider != "":
		return prompt.Model{Provider: m.Provider, BaseURL: m.BaseURL, Name: m.Name, Key: prompt.NewSecret(m.Key)}, nil
	}
	if found, err := a.config.model(m.Name); err == nil {
		return found, nil
	}
	found, err := a.config.model("")
	if err == nil && m.Name != "" {
		found.Name = m.Name
	}
	return found, err
}
