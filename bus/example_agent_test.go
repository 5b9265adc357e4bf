package bus_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/grapnel-dev/grapnel/bus"
	"github.com/grapnel-dev/grapnel/bus/hook"
	"github.com/grapnel-dev/grapnel/bus/natsd"
)

// An agent's loop around its tools: it asks before each call, obeys what comes
// back, and tells afterwards what became of it.
func Example_agent() {
	// A rule, and somebody who makes npm quiet. `grapnel up` has a policy there.
	rules := func(_ context.Context, e hook.Event) (hook.Decision, error) {
		switch command := string(e.Data.Tool.Input); {
		case strings.Contains(command, "rm -rf"):
			return hook.Decision{Effect: hook.Deny, Reason: "it deletes too much"}, nil
		case strings.Contains(command, "git push"):
			return hook.Decision{Effect: hook.Ask, Reason: "others will see it"}, nil
		}
		return hook.Decision{}, nil // no opinion
	}
	quiet := func(_ context.Context, e hook.Event) (hook.Decision, error) {
		if strings.Contains(string(e.Data.Tool.Input), "npm install") {
			return hook.Decision{Rewrite: json.RawMessage(`{"command":"npm install --no-fund"}`)}, nil
		}
		return hook.Decision{}, nil
	}
	conn, end := exampleBus(map[hook.Entry]hook.DeciderFunc{
		{Name: "rules", Filter: "pre_tool_use.bash"}:                 rules,
		{Name: "quiet", Filter: "pre_tool_use.bash", Rewrites: true}: quiet,
	})
	defer end()

	session := hook.Origin{Host: "laptop", Agent: "my-agent", Session: "s1", CWD: "/home/dev/shop"}
	person := func(question string) bool {
		fmt.Println("  the person is asked:", question)
		return true
	}
	run := func(t hook.Tool) (json.RawMessage, error) {
		fmt.Printf("  runs %s\n", t.Input)
		return json.RawMessage(`"done"`), nil
	}

	// call is what happens when the model calls a tool; the model is told what
	// it returns.
	call := func(t hook.Tool) (string, error) {
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		defer cancel() // the event carries this deadline
		asked := session.PreToolUse(t)
		v, err := conn.Request(ctx, asked)
		if err != nil {
			v = asked.Unanswered(err) // deny
		}
		switch {
		case v.Effect == hook.Halt:
			return "", errors.New(v.Reason) // the session is over
		case v.Effect == hook.Deny:
			return "not run: " + v.Reason, nil
		}
		if v.Input != nil {
			t.Input = v.Input // what runs is what was decided on
		}
		// An allow with a grant skips the agent's own prompt. Everything else
		// leaves that to the agent's own rules; here there are none.
		if v.Effect == hook.Ask && !person(v.Reason) {
			return "not run: the person does not want it", nil
		}
		began := time.Now()
		result, err := run(t)
		after := session.CausedBy(asked)
		told := after.PostToolUse(t, result, time.Since(began))
		if err != nil {
			told = after.PostToolUseFailure(t, err, time.Since(began))
		}
		if _, err := conn.Publish(ctx, told); err != nil {
			return "", err // or a line in the agent's log: the tool has run
		}
		return strings.TrimSpace(string(result) + "\n" + v.Context), nil
	}

	for _, command := range []string{"go test ./...", "rm -rf /", "git push", "npm install"} {
		fmt.Println(command)
		input, err := json.Marshal(map[string]string{"command": command})
		if err != nil {
			panic(err)
		}
		told, err := call(hook.Tool{Name: "Bash", Kind: hook.KindShell, Input: input})
		if err != nil {
			panic(err)
		}
		fmt.Println("  the model is told:", told)
	}
	// Output:
	// go test ./...
	//   runs {"command":"go test ./..."}
	//   the model is told: "done"
	// rm -rf /
	//   the model is told: not run: it deletes too much
	// git push
	//   the person is asked: others will see it
	//   runs {"command":"git push"}
	//   the model is told: "done"
	// npm install
	//   runs {"command":"npm install --no-fund"}
	//   the model is told: "done"
}

// An agent with sub-agents: one that works in the agent's own session, and one
// that has a session for itself. Whoever decides, and `grapnel tail --session`,
// sees that they belong together.
func Example_subagents() {
	conn, end := exampleBus(map[hook.Entry]hook.DeciderFunc{
		{Name: "observer"}: func(_ context.Context, e hook.Event) (hook.Decision, error) {
			who := "the agent"
			if s := e.Data.Subagent; s != nil {
				who = s.Type + " " + s.ID
			}
			fmt.Printf("%s: %s in session %s of run %s\n", e.Name, who, e.SessionID, e.RootSession())
			return hook.Decision{}, nil
		},
	})
	defer end()
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	ask := func(e hook.Event) {
		if _, err := conn.Request(ctx, e); err != nil {
			panic(err)
		}
	}
	read := hook.Tool{Name: "Read", Kind: hook.KindFileRead, Input: json.RawMessage(`{"file_path":"/home/dev/shop/go.mod"}`)}

	agent := hook.Origin{Host: "laptop", Agent: "my-agent", Session: "s1", CWD: "/home/dev/shop"}
	ask(agent.SessionStart("startup"))

	explorer := agent.Child("a1", "explore")
	ask(explorer.SubagentStart("find out what the module needs"))
	ask(explorer.PreToolUse(read))
	ask(explorer.SubagentStop("nothing but the standard library", false))

	reviewer := agent.Child("a2", "review").InSession("s2")
	ask(reviewer.PreToolUse(read))
	// Output:
	// session_start: the agent in session s1 of run s1
	// subagent_start: explore a1 in session s1 of run s1
	// pre_tool_use: explore a1 in session s1 of run s1
	// subagent_stop: explore a1 in session s1 of run s1
	// pre_tool_use: review a2 in session s2 of run s1
}

// There is no gateway. What is a gate does not happen then, and everything else
// goes on.
func ExampleConn_Request_withoutVerdict() {
	conn, end := exampleBus(nil)
	defer end()
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	session := hook.Origin{Host: "laptop", Agent: "my-agent", Session: "s1"}
	for _, e := range []hook.Event{
		session.UserPromptSubmit("tidy up"),
		session.PreToolUse(hook.Tool{Name: "Bash", Kind: hook.KindShell, Input: json.RawMessage(`{"command":"ls"}`)}),
		session.Stop("It is tidy.", false),
	} {
		v, err := conn.Request(ctx, e)
		if errors.Is(err, bus.ErrNoGateway) {
			v = e.Unanswered(errors.New("start it with `grapnel up`"))
		} else if err != nil {
			v = e.Unanswered(err)
		}
		fmt.Printf("%s, a %s: %s (%s)\n", e.Name, e.Name.Class(), v.Effect, v.Reason)
	}
	// Output:
	// user_prompt_submit, a gate: deny (no verdict: start it with `grapnel up`)
	// pre_tool_use, a gate: deny (no verdict: start it with `grapnel up`)
	// stop, a lifecycle: abstain (no verdict: start it with `grapnel up`)
}

// exampleBus starts a bus with these deciders, and without a gateway where
// there are none, and connects an agent. All of this is what `grapnel up` and
// bus.Connect do.
func exampleBus(deciders map[hook.Entry]hook.DeciderFunc) (agent *bus.Conn, end func()) {
	var undo []func()
	end = func() {
		for i := len(undo) - 1; i >= 0; i-- {
			undo[i]()
		}
	}
	must := func(err error) {
		if err != nil {
			panic(err)
		}
	}
	dir, err := os.MkdirTemp("", "grapnel-example-")
	must(err)
	undo = append(undo, func() { _ = os.RemoveAll(dir) })
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	undo = append(undo, cancel)
	server, err := natsd.Start(ctx, dir, nil)
	must(err)
	undo = append(undo, server.Close)
	connect := func(r natsd.Role) *bus.Conn {
		c, err := server.Connect(ctx, r, bus.ConnectOptions{Name: "example"})
		must(err)
		undo = append(undo, c.Close)
		return c
	}
	agent = connect(natsd.Agent)
	if deciders == nil {
		return agent, end
	}
	control := connect(natsd.Gateway)
	roster, err := bus.OpenRoster(ctx, control, nil)
	must(err)
	undo = append(undo, roster.Close)
	gateway, err := bus.NewGateway(control, roster, nil)
	must(err)
	running, stop := context.WithCancel(ctx)
	ended := make(chan error, 1)
	go func() { ended <- gateway.Run(running) }()
	undo = append(undo, func() {
		stop()
		must(<-ended)
	})
	<-gateway.Ready()
	for entry, d := range deciders {
		s, err := connect(natsd.Decider).Respond(entry.Name, d, nil)
		must(err)
		undo = append(undo, s.Close)
		_, err = roster.Set(ctx, entry)
		must(err)
	}
	return agent, end
}
