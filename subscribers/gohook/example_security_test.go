package gohook_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/grapnel-dev/grapnel/subscribers/gohook"
)

// SecurityHook keeps commands from running that hold one of some words. (A word
// in a command says little about what it does: package subscribers/policy reads
// commands as a shell does.)
type SecurityHook struct {
	gohook.Defaults
	BlockedPatterns []string
}

func (SecurityHook) Name() string           { return "security-hook" }
func (SecurityHook) Events() []gohook.Event { return []gohook.Event{gohook.PreToolUse} }
func (SecurityHook) Priority() int          { return 100 } // run early

func (h SecurityHook) Execute(_ context.Context, in gohook.Input, _ *gohook.Context) (gohook.Output, error) {
	if tool, _ := in.ToolName(); tool != "Bash" {
		return gohook.Allow(), nil
	}
	var input struct {
		Command string `json:"command"`
	}
	if err := in.DecodeToolInput(&input); err != nil {
		return gohook.Output{}, err // what cannot be read does not run
	}
	for _, pattern := range h.BlockedPatterns {
		if strings.Contains(input.Command, pattern) {
			return gohook.Block(fmt.Sprintf("Blocked: contains '%s'", pattern)), nil
		}
	}
	return gohook.Allow(), nil
}

// The document's SecurityHook.
func Example_security() {
	manager := gohook.NewManager(nil)
	if err := manager.Register(SecurityHook{BlockedPatterns: []string{"rm -rf", "sudo"}}); err != nil {
		panic(err)
	}
	for _, command := range []string{`{"command":"ls"}`, `{"command":"sudo reboot"}`, `{"command":["sudo"]}`} {
		input := gohook.NewPreToolUse("session-1", "Bash", json.RawMessage(command))
		output, err := manager.Execute(context.Background(), input, gohook.NewContext("session-1"))
		fmt.Println(output.ContinueExecution, output.StopReason, err != nil)
	}
	// Output:
	// true  false
	// false Blocked: contains 'sudo' false
	// false hook security-hook failed: gohook: not a usable input: the tool's input: unexpected JSON at "/command": a [ cannot be a string true
}
