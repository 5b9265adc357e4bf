package gohook_test

import (
	"context"
	"log/slog"

	"github.com/grapnel-dev/grapnel/subscribers/gohook"
)

// SubagentMonitorHook logs what sub-agents do.
type SubagentMonitorHook struct {
	gohook.Defaults
	Log *slog.Logger
}

func (SubagentMonitorHook) Name() string { return "subagent-monitor" }
func (SubagentMonitorHook) Events() []gohook.Event {
	return []gohook.Event{gohook.SubagentStart, gohook.SubagentStop}
}

func (h SubagentMonitorHook) Execute(ctx context.Context, in gohook.Input, _ *gohook.Context) (gohook.Output, error) {
	switch d := in.Data.(type) {
	case gohook.SubagentStartData:
		h.Log.InfoContext(ctx, "sub-agent started", "id", d.SubagentID, "type", d.SubagentType, "description", d.Description)
	case gohook.SubagentStopData:
		if d.Success {
			h.Log.InfoContext(ctx, "sub-agent completed successfully", "id", d.SubagentID)
		} else {
			h.Log.WarnContext(ctx, "sub-agent failed", "id", d.SubagentID, "error", d.Error)
		}
	}
	return gohook.Allow(), nil
}

// The document's SubagentMonitorHook.
func Example_subagents() {
	manager := gohook.NewManager(nil)
	if err := manager.Register(SubagentMonitorHook{Log: exampleLog()}); err != nil {
		panic(err)
	}
	for _, input := range []gohook.Input{
		gohook.NewSubagentStart("session-1", "agent-1", "explore", "find the parser"),
		gohook.NewSubagentStop("session-1", "agent-1", true, ""),
		gohook.NewSubagentStop("session-1", "agent-2", false, "out of turns"),
	} {
		if _, err := manager.Execute(context.Background(), input, nil); err != nil {
			panic(err)
		}
	}
	// Output:
	// level=INFO msg="sub-agent started" id=agent-1 type=explore description="find the parser"
	// level=INFO msg="sub-agent completed successfully" id=agent-1
	// level=WARN msg="sub-agent failed" id=agent-2 error="out of turns"
}
