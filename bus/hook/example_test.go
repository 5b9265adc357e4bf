package hook_test

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/grapnel-dev/grapnel/bus/hook"
)

// A policy denies, a person's tool allows, and a third decider is not there:
// the strictest answer wins, and silence is never an allow.
func ExampleMerge() {
	answers := []hook.Answer{
		{Entry: hook.Entry{Name: "helper", Grants: true}, Outcome: hook.Answered,
			Decision: hook.Decision{Effect: hook.Allow, Reason: "I run this every day"}},
		{Entry: hook.Entry{Name: "policy", Priority: 10}, Outcome: hook.Answered,
			Decision: hook.Decision{Effect: hook.Deny, Reason: "it deletes the home directory", Rules: []string{"rm-outside-workspace"}}},
		{Entry: hook.Entry{Name: "judge", OnFailure: hook.FailAsk}, Outcome: hook.TimedOut, Err: "no answer in 10s"},
	}
	verdict := hook.Merge(hook.Gate, answers, hook.Abstain)
	fmt.Println(verdict.Effect, "-", verdict.Reason)
	for _, o := range verdict.Outcomes {
		fmt.Println(o.Decider, o.Outcome, o.Effect)
	}
	// Output:
	// deny - it deletes the home directory
	// policy answered deny
	// helper answered allow
	// judge timeout ask
}

func ExampleToken() {
	fmt.Println(hook.Token("Bash"))
	fmt.Println(hook.Token("mcp__github__create_issue"))
	fmt.Println(hook.Token("my tool.*"))
	fmt.Println(hook.Token(""))
	// Output:
	// bash
	// mcp__github__create_issue
	// x_wsytyto4m5ujdyf5
	// _
}

func ExampleParsePattern() {
	pattern, err := hook.ParsePattern("pre_tool_use.Bash")
	fmt.Println(pattern, err)
	fmt.Println(pattern.Match(hook.PreToolUse, "Bash"), pattern.Match(hook.PostToolUse, "Bash"))

	_, err = hook.ParsePattern("pretooluse.Bash")
	fmt.Println(err)
	// Output:
	// pre_tool_use.bash <nil>
	// true false
	// hook: bad event pattern "pretooluse.Bash": there is no event "pretooluse"
}

// A decider is a function of the event; the bus, the roster and the merge are
// somebody else's work.
func ExampleDeciderFunc() {
	var decider hook.Decider = hook.DeciderFunc(func(_ context.Context, e hook.Event) (hook.Decision, error) {
		if e.Data.Tool != nil && e.Data.Tool.Kind == hook.KindShell {
			return hook.Decision{Effect: hook.Ask, Reason: "a shell command"}, nil
		}
		return hook.Decision{}, nil
	})
	event := hook.Event{Name: hook.PreToolUse, Subject: "Bash", Data: hook.Data{Tool: &hook.Tool{Name: "Bash", Kind: hook.KindShell}}}
	decision, err := decider.Decide(context.Background(), event)
	if err != nil {
		fmt.Println(err)
		return
	}
	b, err := json.Marshal(decision)
	fmt.Println(event.Key(), string(b), err)
	// Output:
	// pre_tool_use.bash {"effect":"ask","reason":"a shell command"} <nil>
}
