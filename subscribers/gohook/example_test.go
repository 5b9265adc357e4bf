package gohook_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"time"

	"github.com/grapnel-dev/grapnel/bus"
	"github.com/grapnel-dev/grapnel/bus/hook"
	"github.com/grapnel-dev/grapnel/bus/natsd"
	"github.com/grapnel-dev/grapnel/subscribers/gohook"
)

// Hooks written in Go on a bus: here they answer for an agent whose shell tool has
// another name.
func Example() {
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()

	// The hooks.
	manager := gohook.NewManager(nil)
	if err := manager.Register(SecurityHook{BlockedPatterns: []string{"rm -rf", "sudo"}}); err != nil {
		panic(err)
	}
	hooks, err := gohook.NewSubscriber("security", manager, &gohook.SubscriberOptions{
		ToolName: func(t hook.Tool) string {
			if t.Kind == hook.KindShell {
				return "Bash" // what the hooks call it
			}
			return t.Name
		},
	})
	if err != nil {
		panic(err)
	}

	// Their place on the bus: they answer there, and the roster says that they
	// must be heard.
	b := exampleBus(ctx)
	defer b.close()
	decider := b.connect(natsd.Decider)
	defer decider.Close()
	subscription, err := decider.Respond("security", hooks, nil)
	if err != nil {
		panic(err)
	}
	defer subscription.Close()
	entry, _ := hooks.Entry()
	fmt.Println(entry.Filter)
	if _, err := b.roster.Set(ctx, entry); err != nil {
		panic(err)
	}

	// An agent.
	agent := b.connect(natsd.Agent)
	defer agent.Close()
	for _, command := range []string{`{"command":"go test ./..."}`, `{"command":"sudo rm -rf /"}`} {
		v, err := agent.Request(ctx, hook.Event{
			ID: command, Source: "/laptop/gemini-cli", Name: hook.PreToolUse, Subject: "run_shell_command", Time: time.Now(),
			Data: hook.Data{Tool: &hook.Tool{Name: "run_shell_command", Kind: hook.KindShell, Input: json.RawMessage(command)}},
		})
		if err != nil {
			panic(err)
		}
		fmt.Printf("%s: %q\n", v.Effect, v.Reason)
	}
	// Output:
	// pre_tool_use,pre_shell,pre_mcp_call,pre_file_read
	// abstain: ""
	// deny: "Blocked: contains 'rm -rf'"
}

// exampleDaemon is what `grapnel up` runs: a broker with a gateway on it.
type exampleDaemon struct {
	connect func(natsd.Role) *bus.Conn
	roster  *bus.Roster
	close   func()
}

func exampleBus(ctx context.Context) exampleDaemon {
	dir, err := os.MkdirTemp("", "grapnel-example-")
	if err != nil {
		panic(err)
	}
	server, err := natsd.Start(ctx, dir, nil)
	if err != nil {
		panic(err)
	}
	connect := func(r natsd.Role) *bus.Conn {
		c, err := server.Connect(ctx, r, bus.ConnectOptions{Name: "example"})
		if err != nil {
			panic(err)
		}
		return c
	}
	control := connect(natsd.Gateway)
	roster, err := bus.OpenRoster(ctx, control, nil)
	if err != nil {
		panic(err)
	}
	gateway, err := bus.NewGateway(control, roster, nil)
	if err != nil {
		panic(err)
	}
	running, stop := context.WithCancel(ctx)
	ended := make(chan error)
	go func() { ended <- gateway.Run(running) }()
	<-gateway.Ready()
	return exampleDaemon{connect: connect, roster: roster, close: func() {
		stop()
		if err := <-ended; err != nil {
			panic(err)
		}
		roster.Close()
		control.Close()
		server.Close()
		_ = os.RemoveAll(dir)
	}}
}
