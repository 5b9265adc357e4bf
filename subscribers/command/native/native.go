package native

import (
	"fmt"

	"github.com/grapnel-dev/grapnel/bus/cloudevent"
	"github.com/grapnel-dev/grapnel/bus/hook"
	"github.com/grapnel-dev/grapnel/runner/process"
	"github.com/grapnel-dev/grapnel/runner/trust"
	"github.com/grapnel-dev/grapnel/subscribers/command"
	"github.com/grapnel-dev/grapnel/subscribers/command/dialect"
)

// Name is the dialect's name.
const Name = "grapnel"

// New returns the dialect.
func New() *dialect.Dialect {
	d := &dialect.Dialect{
		Name:  Name,
		About: "grapnel's own hooks, in files of a person, a workspace or a pack",
		Files: []dialect.File{
			{Path: "~/.config/grapnel/hooks.json", Source: trust.User},
			{Path: ".grapnel/hooks.json", Source: trust.Workspace},
		},
		Timeout:  command.DefaultTimeout,
		Rewrites: true,
		Strict:   true,
		Read:     read,
		Write:    write,
		Order:    func(a, b dialect.Hook) int { return b.Priority - a.Priority },
		Feed:     feed,
		Answer:   answer,
	}
	for _, n := range hook.Names() {
		d.Vocabulary.Events = append(d.Vocabulary.Events, dialect.EventName{Canonical: n, Name: string(n), Blocks: n.Blocking()})
	}
	return d
}

func feed(h dialect.Hook, c *dialect.Call) (dialect.Feed, error) {
	f := dialect.Feed{Shell: h.Shell, Env: command.Variables(c.Event)}
	var err error
	if f.Stdin, err = cloudevent.Marshal(c.Event); err != nil {
		return f, fmt.Errorf("%w: %w", dialect.ErrFeed, err)
	}
	if len(h.Command) > 0 {
		if f.Command, err = command.Arguments(h.Command, c.Event); err != nil {
			return f, fmt.Errorf("%w: %w", dialect.ErrFeed, err)
		}
	}
	return f, nil
}

func answer(h dialect.Hook, c *dialect.Call, o dialect.Output) (dialect.Answer, error) {
	if !c.Event.Name.Blocking() {
		if o.ExitCode != 0 {
			return dialect.Answer{}, fmt.Errorf("%w with exit code %d: %s", dialect.ErrFailed, o.ExitCode, process.Text(o.Stderr, 500))
		}
		return dialect.Answer{}, nil
	}
	d, err := command.ReadResult(h.Label(), h.Rewrites, process.Result{
		ExitCode: o.ExitCode,
		Stdout:   process.Output{Bytes: o.Stdout, Total: int64(len(o.Stdout)), Truncated: o.Truncated},
		Stderr:   process.Output{Bytes: o.Stderr, Total: int64(len(o.Stderr))},
	})
	if err != nil {
		return dialect.Answer{}, fmt.Errorf("%w: %w", dialect.ErrFailed, err)
	}
	return dialect.Answer{Effect: d.Effect, Reason: d.Reason, Context: d.Context, Rewrite: d.Rewrite}, nil
}
