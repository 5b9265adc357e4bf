package audit_test

import (
	"context"
	"fmt"
	"log"
	"os"

	"github.com/grapnel-dev/grapnel/bus/hook"
	"github.com/grapnel-dev/grapnel/subscribers/audit"
)

// A command was denied. Its record is written, verified, proved to somebody
// who has no access to the log, and at last redacted.
func Example() {
	dir, err := os.MkdirTemp("", "audit-*")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	key, err := audit.GenerateKey("node-1.example/grapnel")
	if err != nil {
		log.Fatal(err)
	}
	ctx := context.Background()

	l, err := audit.Open(dir, key, nil)
	if err != nil {
		log.Fatal(err)
	}
	index, err := l.Append(ctx, hook.Record{
		Kind: hook.RecordVerdict,
		Event: hook.Event{
			ID: "1", Source: "/node-1/claude-code", Name: hook.PreToolUse, Subject: "Bash",
			Data: hook.Data{Tool: &hook.Tool{Name: "Bash", Kind: hook.KindShell, Input: []byte(`{"command":"PASSWORD=tr0ub4dor rm -rf /"}`)}},
		},
		Verdict: &hook.Verdict{EventID: "1", Effect: hook.Deny, Reason: "it deletes everything"},
	})
	if err != nil {
		log.Fatal(err)
	}
	proof, err := l.Prove(ctx, index)
	if err != nil {
		log.Fatal(err)
	}
	if _, err := l.Redact(ctx, index, "the person", "I would rather forget it"); err != nil {
		log.Fatal(err)
	}
	checkpoint := l.Checkpoint() // to be kept elsewhere
	if err := l.Close(); err != nil {
		log.Fatal(err)
	}

	result, err := audit.Verify(ctx, dir, key.Verifier(), &audit.VerifyOptions{Checkpoint: checkpoint.Note})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("in order:", result.OK(), "records:", result.Records, "redacted:", result.Redacted)

	proven, err := audit.CheckProof(proof, key.Verifier())
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("proved:", proven.Event, proven.Subject, proven.Effect, "secrets taken out:", proven.Secrets)
	// Output:
	// in order: true records: 2 redacted: 1
	// proved: pre_tool_use Bash deny secrets taken out: 1
}
