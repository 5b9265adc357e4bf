package bus_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"time"

	"github.com/grapnel-dev/grapnel/bus"
	"github.com/grapnel-dev/grapnel/bus/hook"
	"github.com/grapnel-dev/grapnel/bus/natsd"
)

// An agent asks, a decider in Go answers, and the gateway in between sees to it
// that whoever must be heard is heard.
func Example() {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	dir, err := os.MkdirTemp("", "grapnel-example-")
	if err != nil {
		panic(err)
	}
	defer func() { _ = os.RemoveAll(dir) }()
	server, err := natsd.Start(ctx, dir, nil)
	if err != nil {
		panic(err)
	}
	defer server.Close()
	connect := func(r natsd.Role) *bus.Conn {
		c, err := server.Connect(ctx, r, bus.ConnectOptions{Name: "example"})
		if err != nil {
			panic(err)
		}
		return c
	}

	// The gateway, which `grapnel up` runs.
	control := connect(natsd.Gateway)
	defer control.Close()
	roster, err := bus.OpenRoster(ctx, control, nil)
	if err != nil {
		panic(err)
	}
	defer roster.Close()
	gateway, err := bus.NewGateway(control, roster, nil)
	if err != nil {
		panic(err)
	}
	running, stop := context.WithCancel(ctx)
	ended := make(chan error)
	go func() { ended <- gateway.Run(running) }()
	<-gateway.Ready()

	// A decider.
	decider := connect(natsd.Decider)
	defer decider.Close()
	friday, err := decider.Respond("no-friday-deploys", hook.DeciderFunc(func(_ context.Context, e hook.Event) (hook.Decision, error) {
		return hook.Decision{Effect: hook.Ask, Reason: "it is Friday: really " + e.Data.Tool.Name + "?"}, nil
	}), nil)
	if err != nil {
		panic(err)
	}
	defer friday.Close()
	// It must be heard on deploys. So must a reviewer, who is not there.
	for _, entry := range []hook.Entry{
		{Name: "no-friday-deploys", Filter: "pre_tool_use.deploy"},
		{Name: "reviewer", Filter: "pre_tool_use.delete_database"},
	} {
		if _, err := roster.Set(ctx, entry); err != nil {
			panic(err)
		}
	}

	// An agent.
	agent := connect(natsd.Agent)
	defer agent.Close()
	for i, tool := range []string{"deploy", "delete_database", "read_docs"} {
		v, err := agent.Request(ctx, hook.Event{
			ID: fmt.Sprint(i), Source: "/laptop/my-agent", Name: hook.PreToolUse, Subject: tool, Time: time.Now(),
			Data: hook.Data{Tool: &hook.Tool{Name: tool, Kind: hook.KindOther, Input: json.RawMessage(`{}`)}},
		})
		if err != nil {
			panic(err)
		}
		fmt.Printf("%s: %s %s\n", tool, v.Effect, v.Reason)
	}
	stop()
	if err := <-ended; err != nil {
		panic(err)
	}
	// Output:
	// deploy: ask it is Friday: really deploy?
	// delete_database: deny decider reviewer gave no usable answer (absent): nobody listens on its subject
	// read_docs: abstain
}
