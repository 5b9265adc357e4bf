package gohook_test

import (
	"context"
	"encoding/json"
	"log/slog"
	"os"

	"github.com/grapnel-dev/grapnel/subscribers/gohook"
)

// LoggingHook logs what tools do.
type LoggingHook struct {
	gohook.Defaults
	Log *slog.Logger
}

func (LoggingHook) Name() string { return "logging-hook" }
func (LoggingHook) Events() []gohook.Event {
	return []gohook.Event{gohook.PreToolUse, gohook.PostToolUse, gohook.PostToolUseFailure}
}

func (h LoggingHook) Execute(ctx context.Context, in gohook.Input, _ *gohook.Context) (gohook.Output, error) {
	tool, _ := in.ToolName()
	h.Log.InfoContext(ctx, "hook event", "event", string(in.Event()), "tool", tool)
	return gohook.Allow(), nil
}

// The document's LoggingHook.
func Example_logging() {
	manager := gohook.NewManager(nil)
	if err := manager.Register(LoggingHook{Log: exampleLog()}); err != nil {
		panic(err)
	}
	for _, input := range []gohook.Input{
		gohook.NewPreToolUse("session-1", "Bash", json.RawMessage(`{"command":"make"}`)),
		gohook.NewPostToolUseFailure("session-1", "Bash", "exit status 2"),
		gohook.NewStop("session-1"),
	} {
		if _, err := manager.Execute(context.Background(), input, nil); err != nil {
			panic(err)
		}
	}
	// Output:
	// level=INFO msg="hook event" event=PreToolUse tool=Bash
	// level=INFO msg="hook event" event=PostToolUseFailure tool=Bash
}

// exampleLog logs to standard output, without the time.
func exampleLog() *slog.Logger {
	return slog.New(slog.NewTextHandler(os.Stdout, &slog.HandlerOptions{ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
		if a.Key == slog.TimeKey {
			return slog.Attr{}
		}
		return a
	}}))
}
