package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

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
		Long: `Look at the bus, this machine and the settings of every agent that has our
hooks, or of the one named, and send a canary, a tool call that must be denied,
through each hook that is registered, as the agent would. Exits with 3 when
something is wrong, and says what to do.`,
		Args: cobra.MaximumNArgs(1), ValidArgs: install.Agents(),
		RunE: func(c *cobra.Command, args []string) error {
			if len(args) == 1 && !slices.Contains(install.Agents(), args[0]) {
				return unknownAgent(args[0])
			}
			// The bus first: a canary starts one where there is none.
			checks := append(a.checkBus(c.Context()), a.checkPlatform(c.Context())...)
			agents, err := a.checkAgents(c.Context(), args)
			if err != nil {
				return err
			}
			return a.reportChecks(append(checks, agents...))
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

// checkAgents looks at the agents that are named, or that have our hooks; at
// Claude Code when none has.
func (a *app) checkAgents(ctx context.Context, named []string) ([]check, error) {
	var checks []check
	for _, agent := range install.Agents() {
		if len(named) > 0 && !slices.Contains(named, agent) {
			continue
		}
		s, err := install.Inspect(agent, &install.Options{Getenv: a.getenv})
		if err != nil {
			return nil, err
		}
		if s.Installed() || len(named) > 0 {
			checks = append(checks, a.checkAgent(ctx, s)...)
		}
	}
	if len(checks) == 0 {
		return a.checkAgents(ctx, []string{hookwire.ClaudeCode})
	}
	return checks, nil
}

func (a *app) checkAgent(ctx context.Context, s install.Status) []check {
	if !s.Installed() {
		checks := []check{{s.Agent + ": hooks are registered", false, "put them there with `grapnel install " + s.Agent + "`"}}
		return append(checks, problems(s)...)
	}
	again := "grapnel install " + s.Agent
	if s.Posts() {
		again += " --http"
	}
	registered := check{What: s.Agent + ": hooks are registered", OK: len(s.Missing) == 0}
	if len(s.Missing) > 0 {
		registered.Note = "not registered: " + strings.Join(s.Missing, ", ") + "; run `" + again + "`\n"
	}
	for _, event := range s.LeftOut {
		registered.Note += "left out: " + event + "\n"
	}
	registered.Note += strings.Join(s.Notes, "\n")
	checks := append([]check{registered}, problems(s)...)
	probe, ok := canaryOf(s.Agent, canaryCommand)
	if !ok {
		return checks
	}
	for _, f := range slices.Concat(s.Files, s.Managed) {
		for _, line := range f.Lines[probe.event] {
			checks = append(checks, a.canary(ctx, s.Agent, f.Scope, probe, line))
		}
		for _, post := range f.Posts[probe.event] {
			checks = append(checks, a.postedCanary(ctx, s.Agent, f.Scope, probe, post))
		}
	}
	return checks
}

func problems(s install.Status) []check {
	var checks []check
	for _, problem := range s.Problems {
		checks = append(checks, check{s.Agent + ": settings", false, problem})
	}
	return checks
}
