package prompt_test

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/grapnel-dev/grapnel/bus/hook"
	"github.com/grapnel-dev/grapnel/subscribers/prompt"
	"github.com/grapnel-dev/grapnel/subscribers/prompt/prompttest"
)

// A prompt hook of codemie's documentation, answered by a model server on this
// machine.
func Example() {
	server := prompttest.Start(prompttest.Deny("it writes outside the project"))
	defer server.Close()

	hourly, err := prompt.NewBudget(prompt.Limits{Requests: 200, Money: 0.50})
	if err != nil {
		fmt.Println(err)
		return
	}
	judge, err := prompt.New(prompt.Hook{
		Name:   "file-review",
		On:     []string{"pre_tool_use.write", "pre_tool_use.edit"},
		Prompt: "You are a security reviewer. Evaluate if this file operation is safe:\n\nTool: $TOOL_NAME\nArguments: $TOOL_INPUT",
	}, prompt.Model{
		Provider: "ollama", BaseURL: server.OpenAIURL(), Name: "qwen3", Prices: prompt.Prices{Input: 0.2, Output: 0.6},
	}, &prompt.Options{Budget: hourly})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer judge.Close()

	decision, err := judge.Decide(context.Background(), hook.Event{
		Name: hook.PreToolUse, Subject: "Write",
		Data: hook.Data{Tool: &hook.Tool{Name: "Write", Kind: hook.KindFileWrite, Input: json.RawMessage(`{"file_path":"/etc/hosts"}`)}},
	})
	fmt.Println(decision.Effect, "-", decision.Reason, err)
	fmt.Println("may skip the agent's own prompt:", judge.Entry().Grants)
	fmt.Printf("spent: %.6f\n", hourly.Spent().Money)
	// Output:
	// deny - it writes outside the project <nil>
	// may skip the agent's own prompt: false
	// spent: 0.000032
}
