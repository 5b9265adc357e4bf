package main

import (
	"context"
	"fmt"
	"log/slog"

	"github.com/grapnel-dev/grapnel/internal/redact"
	"github.com/grapnel-dev/grapnel/subscribers/command"
)

// cleanLog takes secrets out of what is logged: what hooks print is in errors.
type cleanLog struct {
	slog.Handler
	redactor *redact.Redactor
}

// Handle implements slog.Handler.
func (l cleanLog) Handle(ctx context.Context, r slog.Record) error {
	clean := slog.NewRecord(r.Time, r.Level, cleanText(l.redactor, r.Message), r.PC)
	r.Attrs(func(a slog.Attr) bool {
		clean.AddAttrs(l.attr(a))
		return true
	})
	return l.Handler.Handle(ctx, clean)
}

// WithAttrs implements slog.Handler.
func (l cleanLog) WithAttrs(attrs []slog.Attr) slog.Handler {
	clean := make([]slog.Attr, len(attrs))
	for i, a := range attrs {
		clean[i] = l.attr(a)
	}
	return cleanLog{l.Handler.WithAttrs(clean), l.redactor}
}

// WithGroup implements slog.Handler.
func (l cleanLog) WithGroup(name string) slog.Handler {
	return cleanLog{l.Handler.WithGroup(name), l.redactor}
}

func (l cleanLog) attr(a slog.Attr) slog.Attr {
	v := a.Value.Resolve()
	switch v.Kind() {
	case slog.KindString:
		return slog.String(a.Key, cleanText(l.redactor, v.String()))
	case slog.KindGroup:
		group := v.Group()
		clean := make([]slog.Attr, len(group))
		for i, member := range group {
			clean[i] = l.attr(member)
		}
		return slog.Attr{Key: a.Key, Value: slog.GroupValue(clean...)}
	case slog.KindAny: // errors, lists, whatever prints itself
		text := fmt.Sprintf("%+v", v.Any())
		if clean := cleanText(l.redactor, text); clean != text {
			return slog.String(a.Key, clean)
		}
	}
	return a
}

func cleanText(r *redact.Redactor, text string) string {
	clean, n := r.Bytes([]byte(text))
	if n == 0 {
		return text
	}
	return string(clean)
}

// cleanTrace takes secrets out of what a hook wrote.
func cleanTrace(r *redact.Redactor, x command.Execution) command.Execution {
	x.Reason, x.Error, x.Stderr = cleanText(r, x.Reason), cleanText(r, x.Error), cleanText(r, x.Stderr)
	return x
}
