package gohook_test

import (
	"context"
	"fmt"

	"github.com/grapnel-dev/grapnel/subscribers/gohook"
)

// A tool that starts sub-agents says so before it does. With a bus.Conn as
// FirerOptions.Bus everybody there is asked as well.
func ExampleFirer() {
	ctx := context.Background()
	manager := gohook.NewManager(nil)
	running := 0
	if err := manager.Register(gohook.NewFunc(
		gohook.Spec{Name: "one-at-a-time", Events: []gohook.Event{gohook.SubagentStart, gohook.SubagentStop}},
		func(_ context.Context, in gohook.Input, _ *gohook.Context) (gohook.Output, error) {
			switch in.Event() {
			case gohook.SubagentStart:
				if running > 0 {
					return gohook.Block("there is one already"), nil
				}
				running++
			case gohook.SubagentStop:
				running--
			}
			return gohook.Allow(), nil
		})); err != nil {
		panic(err)
	}
	firer := gohook.NewFirer(manager, "session-1", nil)
	start := func(id string) {
		output, err := firer.Fire(ctx, gohook.NewSubagentStart("session-1", id, "explore", "find the parser"))
		fmt.Println("start", id, output.ContinueExecution, output.StopReason, err)
	}
	start("agent-1")
	start("agent-2")
	if _, err := firer.Fire(ctx, gohook.NewSubagentStop("session-1", "agent-1", true, "")); err != nil {
		panic(err)
	}
	start("agent-2")
	// Output:
	// start agent-1 true  <nil>
	// start agent-2 false there is one already <nil>
	// start agent-2 true  <nil>
}
