package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/grapnel-dev/grapnel/internal/edge"
	"github.com/grapnel-dev/grapnel/internal/edge/hookwire"
	"github.com/grapnel-dev/grapnel/internal/edge/install"
	"github.com/grapnel-dev/grapnel/runner/process"
)

// check is one thing that doctor looked at.
type check struct {
	What string `json:"what"`
	OK   bool   `json:"ok"`
	// Note is what was found; where it is not well, what to do.
	Note string `json:"note,omitempty"`
}

func (a *app) doctorCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "doctor [AGENT]",
		Short: "Find every reason why a hook would not fire or not decide",
		Long: `Look at the bus, this machine and the agent's settings, and send a canary, an
event that must be denied, through the hook program that is registered. Exits
with 3 when something is wrong, and says what to do.`,
		Args: cobra.MaximumNArgs(1), ValidArgs: edge.Agents(),
		RunE: func(c *cobra.Command, args []string) error {
			if len(args) == 1 && args[0] != hookwire.ClaudeCode {
				return unknownAgent(args[0])
			}
			checks := append(a.checkBus(c.Context()), a.checkPlatform(c.Context())...)
			agent, err := a.checkClaudeCode(c.Context())
			if err != nil {
				return err
			}
			checks = append(checks, agent...)
			return a.reportChecks(checks)
		},
	}
}

func (a *app) reportChecks(checks []check) error {
	if a.json {
		if err := a.printJSON(checks); err != nil {
			return err
		}
	}
	wrong := 0
	for _, c := range checks {
		word := "ok   "
		if !c.OK {
			word, wrong = "WRONG", wrong+1
		}
		if !a.json {
			fmt.Fprintf(a.out, "%s  %s\n", word, c.What)
			for line := range strings.SplitSeq(c.Note, "\n") {
				if line != "" {
					fmt.Fprintf(a.out, "         %s\n", line)
				}
			}
		}
	}
	if wrong > 0 {
		return silent(exitFound)
	}
	return nil
}

func (a *app) checkBus(ctx context.Context) []check {
	var s status
	err := a.ask(ctx, verbStatus, nil, &s)
	var f *failure
	switch {
	case errors.As(err, &f) && f.code == exitUnreachable:
		return []check{{"the bus runs", false, err.Error() + "\n" + f.hint}}
	case err != nil:
		return []check{{"the bus runs", false, err.Error()}}
	}
	checks := []check{{"the bus runs", true, fmt.Sprintf("version %s, %d policy rules, %d audit records", s.Version, s.PolicyRules, s.AuditRecords)}}
	checks = append(checks, check{"its health is green", s.Health == "green", strings.Join(s.Reasons, "\n")})
	if s.Version != version() {
		checks = append(checks, check{"it is this version", false, "it is " + s.Version + "; restart it: grapnel down, grapnel up"})
	}
	return checks
}

// checkPlatform says what this system lacks; none of it is an error.
func (a *app) checkPlatform(ctx context.Context) []check {
	var lacking []string
	if edge.PeerCheck == "" {
		lacking = append(lacking, "callers of the hook socket are told apart by the directory's permissions alone")
	}
	runner, err := newRunner()
	if err != nil {
		return []check{{"hook commands can be run", false, err.Error()}}
	}
	defer func() { _ = runner.Close() }()
	confinement, err := runner.Check(ctx)
	if err != nil {
		return []check{{"hook commands can be run", false, err.Error()}}
	}
	if confinement == process.Group || confinement == process.Job {
		lacking = append(lacking, "what a hook command starts can outlive it by leaving its process group (confinement: "+string(confinement)+")")
	}
	return []check{{"this system has what is needed", true, strings.Join(lacking, "\n")}}
}

func (a *app) checkClaudeCode(ctx context.Context) ([]check, error) {
	s, err := install.Inspect(&install.Options{Getenv: a.getenv})
	if err != nil {
		return nil, err
	}
	if !s.Installed() {
		return []check{{"claude-code: hooks are registered", false, "put them there with `grapnel install claude-code`"}}, nil
	}
	checks := []check{{"claude-code: hooks are registered", len(s.Missing) == 0, ""}}
	if len(s.Missing) > 0 {
		checks[0].Note = "not registered: " + strings.Join(s.Missing, ", ") + "; run `grapnel install claude-code`"
	}
	for _, problem := range s.Problems {
		checks = append(checks, check{"claude-code: settings", false, problem})
	}
	for _, f := range s.Files {
		for _, line := range f.PreToolUse {
			checks = append(checks, a.canary(ctx, f.Scope, line))
		}
	}
	return checks, nil
}

// canary sends what must be denied through a registered command line, as the
// agent would, and looks whether the agent would have been stopped.
func (a *app) canary(ctx context.Context, scope, line string) check {
	what := "claude-code: a canary (rm -rf /) is denied through the hook in the " + scope + " settings"
	cwd, _ := os.Getwd()
	payload, err := json.Marshal(map[string]any{
		"session_id": "grapnel-doctor", "cwd": cwd, "hook_event_name": "PreToolUse", "permission_mode": "default",
		"tool_name": "Bash", "tool_input": map[string]string{"command": "rm -rf /"},
		"tool_use_id": fmt.Sprintf("canary-%d", time.Now().UnixNano()),
	})
	if err != nil {
		return check{what, false, err.Error()}
	}
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	cmd := shellCommand(ctx, line)
	cmd.Stdin = bytes.NewReader(payload)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	begin := time.Now()
	err = cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		return check{what, false, err.Error() + "; run `grapnel install claude-code` again"}
	}
	var answer struct {
		Specific struct {
			Decision string `json:"permissionDecision"`
			Reason   string `json:"permissionDecisionReason"`
		} `json:"hookSpecificOutput"`
		Decision string `json:"permissionDecision"`
		Reason   string `json:"permissionDecisionReason"`
	}
	if err := json.Unmarshal(stdout.Bytes(), &answer); err != nil {
		return check{what, false, "its answer is no JSON: " + oneLine(stdout.String()+" "+stderr.String(), 300)}
	}
	decision, reason := answer.Specific.Decision, answer.Specific.Reason
	if decision == "" {
		decision, reason = answer.Decision, answer.Reason
	}
	if decision != "deny" {
		return check{what, false, "the answer was " + oneLine(stdout.String(), 200) + "\nno rule denies it: is the policy that ships switched off?"}
	}
	return check{what, true, fmt.Sprintf("after %.1f ms: %s", float64(time.Since(begin).Microseconds())/1000, oneLine(reason, 200))}
}
