package policy_test

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/grapnel-dev/grapnel/bus/hook"
	"github.com/grapnel-dev/grapnel/subscribers/policy"
)

// A rule sees what a command does, however it is written.
func Example() {
	p, err := policy.Parse("policy.yaml", []byte(`
rules:
  - name: no-production
    on: pre_tool_use.bash
    when: shell.named("kubectl").exists(c, c.args.exists(a, a == "production"))
    effect: deny
    reason: Agents keep away from production; use the staging cluster.
`), &policy.Options{Home: "/home/dev"})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, command := range []string{"kubectl -n staging get pods", `sh -c 'sudo kube""ctl -n production delete pod x'`} {
		input, _ := json.Marshal(map[string]string{"command": command})
		d, err := p.Decide(context.Background(), hook.Event{
			Name: hook.PreToolUse, Subject: "Bash",
			Data: hook.Data{CWD: "/home/dev/project", Tool: &hook.Tool{Name: "Bash", Kind: hook.KindShell, Input: input}},
		})
		fmt.Println(d.Effect, d.Rules, d.Reason, err)
	}
	// Output:
	// abstain []  <nil>
	// deny [no-production] Agents keep away from production; use the staging cluster. <nil>
}

// A rewrite gives the tool another input.
func Example_rewrite() {
	p, err := policy.Parse("policy.yaml", []byte(`
rules:
  - name: quiet-installs
    on: pre_tool_use.bash
    when: event.tool.input.command == "npm install"
    effect: abstain
    rewrite: 'event.tool.input.with({"command": "npm install --no-audit --no-fund"})'
`), nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	d, err := p.Decide(context.Background(), hook.Event{
		Name: hook.PreToolUse, Subject: "Bash",
		Data: hook.Data{CWD: "/home/dev/project", Tool: &hook.Tool{Name: "Bash", Kind: hook.KindShell, Input: json.RawMessage(`{"command":"npm install"}`)}},
	})
	fmt.Println(d.Effect, string(d.Rewrite), err)
	// Output: abstain {"command":"npm install --no-audit --no-fund"} <nil>
}

// A mistake is told with its place.
func ExampleParse() {
	_, err := policy.Parse("policy.yaml", []byte(`
rules:
  - name: a
    when: shell.comands.size() > 0
    effect: ask
    reason: Sure?
`), nil)
	fmt.Println(err)
	// Output: policy.yaml:4: bad policy: rule a, when: column 6: undefined field 'comands'
}

// Explain tells why.
func ExamplePolicy_Explain() {
	p, err := policy.Parse(policy.DefaultName, policy.Default(), &policy.Options{Home: "/home/dev"})
	if err != nil {
		fmt.Println(err)
		return
	}
	x, err := p.Explain(context.Background(), hook.Event{
		Name: hook.PreToolUse, Subject: "Bash",
		Data: hook.Data{CWD: "/home/dev/project", Tool: &hook.Tool{Name: "Bash", Kind: hook.KindShell, Input: json.RawMessage(`{"command":"cd .. && rm -rf other"}`)}},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, r := range x.Rules {
		if r.Decided {
			fmt.Println(r.Name, r.Effect)
		}
	}
	for _, path := range x.Paths {
		fmt.Println(path.Op, path.Path, path.Where)
	}
	// Output:
	// delete-outside deny
	// delete /home/dev/other [home]
}

// A table file says what a policy should decide.
func ExampleRunTable() {
	p, err := policy.Parse(policy.DefaultName, policy.Default(), nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	result, err := policy.RunTable(context.Background(), p, "table.yaml", []byte(`
workspace: /home/dev/project
home: /home/dev
cases:
  - {bash: git push --force, expect: deny, rules: [force-push]}
  - {bash: [go test ./..., git push], expect: abstain}
  - {read: /home/dev/.ssh/id_ed25519, expect: deny}
`))
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, r := range result.Results {
		fmt.Println(r)
	}
	// Output:
	// ok line 5: "git push --force": got deny (force-push), want deny by force-push
	// ok line 6: "go test ./...": got abstain, want abstain
	// ok line 6: "git push": got abstain, want abstain
	// ok line 7: "/home/dev/.ssh/id_ed25519": got deny (secret-read), want deny
}

// A condition of a roster entry or a hook command.
func ExampleCompileWhen() {
	when, err := policy.CompileWhen(`shell.named("terraform").exists(c, c.args.exists(a, a == "apply"))`)
	if err != nil {
		fmt.Println(err)
		return
	}
	matches, err := when(hook.Event{
		Name: hook.PreToolUse, Subject: "Bash",
		Data: hook.Data{CWD: "/", Tool: &hook.Tool{Name: "Bash", Kind: hook.KindShell, Input: json.RawMessage(`{"command":"cd infra && terraform apply"}`)}},
	})
	fmt.Println(matches, err)
	// Output: true <nil>
}
