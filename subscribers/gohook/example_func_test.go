package gohook_test

import (
	"context"
	"encoding/json"
	"fmt"
	"regexp"
	"time"

	"github.com/grapnel-dev/grapnel/subscribers/gohook"
)

// A function as a hook: for writing tools, before all others, within a second.
func ExampleNewFunc() {
	freeze := gohook.NewFunc(gohook.Spec{
		Name: "code-freeze", Events: []gohook.Event{gohook.PreToolUse},
		ToolMatcher: regexp.MustCompile("^(Write|Edit)$"), Timeout: time.Second, Priority: 10,
	}, func(context.Context, gohook.Input, *gohook.Context) (gohook.Output, error) {
		return gohook.Block("the code is frozen until Monday").WithContext("reading is fine"), nil
	})
	manager := gohook.NewManager(nil)
	if err := manager.Register(freeze); err != nil {
		panic(err)
	}
	for _, tool := range []string{"Write", "Read"} {
		output, err := manager.Execute(context.Background(), gohook.NewPreToolUse("session-1", tool, json.RawMessage(`{}`)), nil)
		fmt.Printf("%s: %t %q %q %v\n", tool, output.ContinueExecution, output.StopReason, output.AdditionalContext, err)
	}
	// Output:
	// Write: false "the code is frozen until Monday" "reading is fine" <nil>
	// Read: true "" "" <nil>
}

// The outputs of several hooks become one.
func ExampleOutput_Merge() {
	first := gohook.Allow().WithContext("it is Friday").WithUpdatedInput(json.RawMessage(`{"command":"make"}`))
	second := gohook.Block("no deploys on Fridays").WithContext("ask Kim")
	merged := first.Merge(second)
	fmt.Println(merged.ContinueExecution, merged.StopReason)
	fmt.Println(merged.AdditionalContext)
	// Output:
	// false no deploys on Fridays
	// it is Friday
	// ask Kim
}
