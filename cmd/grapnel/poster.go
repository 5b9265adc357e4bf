package main

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"os"

	"github.com/grapnel-dev/grapnel/bus/hook"
	"github.com/grapnel-dev/grapnel/subscribers/command/dialect"
	"github.com/grapnel-dev/grapnel/subscribers/webhook"
)

// poster sends requests for HTTP hooks of all dialects and our own. Those of
// the person's own configuration may reach what the configuration lists of this
// machine and network; all others reach public addresses alone.
type poster struct {
	own, others *webhook.Client
	log         *slog.Logger
}

func newPoster(c *config, log *slog.Logger) (*poster, error) {
	own, err := webhook.NewClient(&webhook.ClientOptions{AllowPrivate: c.Webhooks.Private})
	if err != nil {
		return nil, fmt.Errorf("webhooks.private: %w", err)
	}
	others, err := webhook.NewClient(nil)
	if err != nil {
		return nil, err
	}
	return &poster{own, others, log}, nil
}

func (p *poster) close() {
	p.own.Close()
	p.others.Close()
}

// post sends a dialect's own body and returns the response's.
func (p *poster) post(ctx context.Context, r dialect.Request) (dialect.Output, error) {
	client := p.others
	if r.Loosens {
		client = p.own
	}
	// A variable that may not be used, or is not set, is nothing there: it is no
	// reason not to ask.
	headers := make(map[string]string, len(r.Headers))
	for name, value := range r.Headers {
		expanded, missing, err := webhook.Expand(value, r.AllowedEnv, os.Environ())
		if err != nil {
			return dialect.Output{}, fmt.Errorf("header %s: %w", name, err)
		}
		if len(missing) > 0 {
			p.log.WarnContext(ctx, "hooks: variables of a header are not set or not allowed", "hook", r.Hook, "header", name, "variables", missing)
		}
		headers[name] = expanded
	}
	w, err := webhook.New(webhook.Hook{
		Name: "dialect", On: []string{">"}, URL: r.URL, Body: webhook.Native, Timeout: hook.Duration(r.Timeout),
	}, &webhook.Options{Client: client, Log: p.log})
	if err != nil {
		return dialect.Output{}, err
	}
	defer w.Close()
	response, err := w.Post(ctx, webhook.Message{Headers: headers, Body: r.Body})
	if err != nil {
		return dialect.Output{}, err
	}
	if response.Status == http.StatusNoContent {
		return dialect.Output{}, nil
	}
	return dialect.Output{Stdout: response.Body}, nil
}
