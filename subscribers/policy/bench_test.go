package policy_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/grapnel-dev/grapnel/bus/hook"
	"github.com/grapnel-dev/grapnel/subscribers/policy"
)

func bash(command string) hook.Event {
	input, err := json.Marshal(map[string]string{"command": command})
	if err != nil {
		panic(err)
	}
	return hook.Event{
		ID: "1", Source: "/host/claude-code", Name: hook.PreToolUse, Subject: "Bash", SessionID: "s",
		Data: hook.Data{
			CWD: "/home/dev/project", Workspace: "/home/dev/project",
			Tool:   &hook.Tool{Name: "Bash", Kind: hook.KindShell, Input: input},
			Native: hook.Native{Agent: "claude-code", Event: "PreToolUse"},
		},
	}
}

// BenchmarkDecide measures the policy that ships.
func BenchmarkDecide(b *testing.B) {
	p, err := policy.Parse(policy.DefaultName, policy.Default(), &policy.Options{Home: "/home/dev"})
	require.NoError(b, err)
	benchmark(b, p)
}

// BenchmarkDecideWithCEL measures the same without shortcuts.
func BenchmarkDecideWithCEL(b *testing.B) {
	p, err := policy.Parse(policy.DefaultName, policy.Default(), &policy.Options{Home: "/home/dev"})
	require.NoError(b, err)
	benchmark(b, policy.WithoutShortcuts(p))
}

func benchmark(b *testing.B, p *policy.Policy) {
	read := hook.Event{ID: "1", Source: "/host/claude-code", Name: hook.PreToolUse, Subject: "Read", Data: hook.Data{
		CWD: "/home/dev/project", Workspace: "/home/dev/project",
		Tool: &hook.Tool{Name: "Read", Kind: hook.KindFileRead, Input: json.RawMessage(`{"file_path":"/home/dev/project/main.go"}`)},
	}}
	for _, c := range []struct {
		name string
		ev   hook.Event
	}{
		{"go test", bash("go test ./...")},
		{"three commands", bash("cd web && npm test 2>&1 | tail -20")},
		{"rm in workspace", bash("rm -rf node_modules dist")},
		{"denied", bash("sudo rm -rf /")},
		{"read file", read},
		{"stop", hook.Event{ID: "1", Name: hook.Stop}},
	} {
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := p.Decide(b.Context(), c.ev); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkCompile measures loading the policy that ships.
func BenchmarkCompile(b *testing.B) {
	for b.Loop() {
		if _, err := policy.Parse(policy.DefaultName, policy.Default(), nil); err != nil {
			b.Fatal(err)
		}
	}
}
