package main

import (
	"context"
	"fmt"
	"time"

	"github.com/grapnel-dev/grapnel/bus"
	"github.com/grapnel-dev/grapnel/bus/hook"
	"github.com/grapnel-dev/grapnel/bus/natsd"
	"github.com/grapnel-dev/grapnel/subscribers/policy"
	"github.com/grapnel-dev/grapnel/subscribers/webhook"
)

// subscriber is one decider or handler of the daemon besides the policy.
type subscriber struct {
	entry   hook.Entry
	decider hook.Decider
	handler hook.Handler
	// notify selects the notification events that it handles; empty means
	// none.
	notify string
}

// subscribers lists the hook commands, dialects, prompt hooks and webhooks.
func (d *daemon) subscribers() []subscriber {
	var list []subscriber
	for _, h := range d.hooks {
		s := subscriber{entry: h.Entry(), decider: h, handler: h}
		if wantsClass(s.entry.Filter, false) {
			s.notify = s.entry.Filter
		}
		list = append(list, s)
	}
	for _, set := range d.sets {
		list = append(list, subscriber{entry: set.Entry(), decider: set, handler: set, notify: notificationFilter(set.Dialect())})
	}
	return append(list, d.others...)
}

// deciders lists those that blocking events must hear from.
func (d *daemon) deciders() []subscriber {
	var list []subscriber
	for _, s := range d.subscribers() {
		if s.decider != nil && wantsClass(s.entry.Filter, true) {
			list = append(list, s)
		}
	}
	return list
}

// openSubscribers makes prompt hooks and webhooks ready, and what the dialects'
// own of both need.
func (d *daemon) openSubscribers(context.Context) error {
	var err error
	if d.asker, err = newAsker(d.config, d.log); err != nil {
		return fail(exitUsage, "mend the configuration", err)
	}
	if d.poster, err = newPoster(d.config, d.log); err != nil {
		return fail(exitUsage, "mend the configuration", err)
	}
	d.onStop(d.poster.close)
	for _, p := range d.config.Prompts {
		model, err := d.config.model(p.Model)
		if err != nil {
			return fail(exitUsage, "name it under models: in the configuration", err)
		}
		judge, err := d.asker.judge(p.Hook, model)
		if err != nil {
			return fail(exitUsage, "mend the prompt hook's configuration", err)
		}
		d.onStop(judge.Close)
		d.others = append(d.others, subscriber{entry: judge.Entry(), decider: judge})
	}
	for _, h := range d.config.Webhooks.Hooks {
		w, err := webhook.New(h, &webhook.Options{Client: d.poster.own, Log: d.log})
		if err != nil {
			return fail(exitUsage, "mend the webhook's configuration", err)
		}
		s := subscriber{entry: w.Entry(), decider: w, handler: w}
		if wantsClass(s.entry.Filter, false) {
			s.notify = s.entry.Filter
		}
		d.others = append(d.others, s)
	}
	return nil
}

// openHandlers gives those that want notification events their place.
func (d *daemon) openHandlers(ctx context.Context) error {
	for _, s := range d.subscribers() {
		if s.handler == nil || s.notify == "" {
			continue
		}
		handler, err := conditional(s)
		if err != nil {
			return err
		}
		conn, err := d.connection(ctx, natsd.Runner, "handler "+s.entry.Name)
		if err != nil {
			return err
		}
		sub, err := conn.Consume(ctx, s.entry.Name, handler, &bus.ConsumeOptions{Filter: s.notify})
		if err != nil {
			return err
		}
		d.onStop(func() {
			drain, cancel := context.WithTimeout(context.Background(), 5*time.Second)
			defer cancel()
			sub.Drain(drain)
		})
	}
	return nil
}

// conditional keeps events from a handler for which its When does not hold; one
// that cannot be evaluated does.
func conditional(s subscriber) (hook.Handler, error) {
	if s.entry.When == "" {
		return s.handler, nil
	}
	when, err := policy.CompileWhen(s.entry.When)
	if err != nil {
		return nil, fmt.Errorf("%s: when: %w", s.entry.Name, err)
	}
	return hook.HandlerFunc(func(ctx context.Context, e hook.Event) error {
		if yes, err := when(e); err == nil && !yes {
			return nil
		}
		return s.handler.Handle(ctx, e)
	}), nil
}
