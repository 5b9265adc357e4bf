package codeforge

import (
	"bytes"
	"fmt"

	"github.com/grapnel-dev/grapnel/bus/hook"
	"github.com/grapnel-dev/grapnel/runner/process"
	"github.com/grapnel-dev/grapnel/subscribers/command"
	"github.com/grapnel-dev/grapnel/subscribers/command/dialect"
)

// exitNotFound is what a shell exits with when there is no such command.
const exitNotFound = 127

// answer reads what a hook did. An exit code other than 0 blocks what can be
// blocked and ends the chain, unless the shell did not find the command: that
// is logged and gone on from, and so is the failure of any other hook.
func answer(h dialect.Hook, c *dialect.Call, o dialect.Output) (dialect.Answer, error) {
	stdout := process.Text(bytes.TrimSpace(o.Stdout), command.MaxReason)
	stderr := process.Text(bytes.TrimSpace(o.Stderr), command.MaxReason)
	if o.ExitCode == 0 {
		return dialect.Answer{}, nil
	}
	if o.ExitCode == exitNotFound || !c.Blocks {
		err := fmt.Errorf("%w with exit code %d", dialect.ErrFailed, o.ExitCode)
		if said := process.Text([]byte(dialect.Lines(stderr, stdout)), 500); said != "" {
			err = fmt.Errorf("%w: %s", err, said)
		}
		return dialect.Answer{}, err
	}
	a := dialect.Answer{Effect: hook.Deny, Reason: dialect.Lines(stdout, stderr), End: !h.KeepGoing}
	if a.Reason == "" {
		a.Reason = fmt.Sprintf("hook %s blocked it (exit code %d) and gave no reason", h.Label(), o.ExitCode)
	}
	return a, nil
}
