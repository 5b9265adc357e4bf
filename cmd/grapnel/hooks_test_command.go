package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/grapnel-dev/grapnel/bus/hook"
	"github.com/grapnel-dev/grapnel/subscribers/command"
	"github.com/grapnel-dev/grapnel/subscribers/command/dialect"
	"github.com/grapnel-dev/grapnel/subscribers/policy"
)

// tested is one hook's part in `hooks test`.
type tested struct {
	command.Report
	Stdin   string `json:"stdin"`
	Stdout  string `json:"stdout"`
	Problem string `json:"problem,omitempty"`
}

// verdictOf is what a dialect's hooks say together.
type verdictOf struct {
	Dialect  string        `json:"dialect"`
	Decision hook.Decision `json:"decision"`
	Problem  string        `json:"problem,omitempty"`
}

func (a *app) testHooks(c *cobra.Command, e hook.Event) error {
	cfg, err := loadConfig(a.paths)
	if err != nil {
		return err
	}
	runner, err := newRunner()
	if err != nil {
		return err
	}
	defer runner.Close()
	all := []tested{}
	failed := false
	for _, h := range cfg.Hooks {
		pattern, err := h.Pattern()
		if err != nil || !pattern.Match(e.Name, e.Subject) {
			continue
		}
		if wanted, err := holds(h.When, e); err == nil && !wanted {
			all = append(all, notRun(h.Name, e, "its condition does not hold: "+h.When))
			continue
		}
		cmd, err := command.New(h, &command.Options{Runner: runner})
		if err != nil {
			return fail(exitFound, "mend the hook's configuration", err)
		}
		report, err := cmd.Test(c.Context(), e)
		t := tested{Report: report, Stdin: string(report.Stdin), Stdout: string(report.Stdout)}
		if err != nil {
			t.Problem, failed = err.Error(), true
		}
		all = append(all, t)
	}
	var verdicts []verdictOf
	err = a.withSets(cfg, runner, func(sets []*dialect.Set, _ *dialect.Trust) error {
		for _, s := range sets {
			sum := s.Run(c.Context(), e)
			if sum.Plan == nil {
				continue
			}
			for _, skip := range sum.Plan.Skipped {
				all = append(all, notRun(s.Dialect().Name+": "+skip.Hook.Label(), e, skip.Reason))
			}
			for _, r := range sum.Results {
				if r.Skipped != "" {
					all = append(all, notRun(s.Dialect().Name+": "+r.Hook.Label(), e, r.Skipped))
					continue
				}
				if r.Hook.Async && r.Err == nil {
					all = append(all, notRun(s.Dialect().Name+": "+r.Hook.Label(), e, "it belongs in the background, where it decides nothing"))
					continue
				}
				t := tested{Report: r.Report, Stdin: string(r.Report.Stdin), Stdout: string(r.Report.Stdout)}
				t.Hook = s.Dialect().Name + ": " + t.Hook
				if r.Err != nil {
					t.Problem, failed = r.Err.Error(), true
				}
				all = append(all, t)
			}
			if len(sum.Results) > 0 {
				v := verdictOf{Dialect: s.Dialect().Name, Decision: sum.Decision}
				if sum.Err != nil {
					v.Problem, failed = sum.Err.Error(), true
				}
				verdicts = append(verdicts, v)
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	if a.json {
		if err := a.printJSON(map[string]any{"hooks": all, "dialects": verdicts}); err != nil {
			return err
		}
	} else {
		a.printTests(e, all)
		for _, v := range verdicts {
			fmt.Fprintf(a.out, "%s together: %s %s\n", v.Dialect, v.Decision.Effect, oneLine(v.Decision.Reason, 300))
			if v.Decision.Context != "" {
				fmt.Fprintf(a.out, "  context %s\n", oneLine(v.Decision.Context, 300))
			}
			if v.Decision.Rewrite != nil {
				fmt.Fprintf(a.out, "  rewrite %s\n", oneLine(string(v.Decision.Rewrite), 300))
			}
			if v.Problem != "" {
				fmt.Fprintf(a.out, "  problem %s (the failure policy counts)\n", oneLine(v.Problem, 400))
			}
		}
	}
	if failed {
		return silent(exitFound)
	}
	return nil
}

func notRun(name string, e hook.Event, why string) tested {
	return tested{Report: command.Report{Execution: command.Execution{
		Hook: name, EventID: e.ID, Event: e.Key(), ExitCode: -1, Outcome: command.NotRun, Reason: why,
	}}}
}

// holds says whether a hook's When wants e; one that cannot be evaluated does.
func holds(when string, e hook.Event) (bool, error) {
	if when == "" {
		return true, nil
	}
	f, err := policy.CompileWhen(when)
	if err != nil {
		return true, err
	}
	return f(e)
}

func (a *app) printTests(e hook.Event, all []tested) {
	// Those for other tools are most of them: they get one line.
	var others []string
	for _, t := range all {
		if t.Outcome == command.NotRun && t.Reason == dialect.NotSelected {
			others = append(others, t.Hook)
		}
	}
	if len(all) == len(others) {
		fmt.Fprintf(a.out, "no hook command matches %s\n", e.Key())
	}
	if len(others) > 0 {
		fmt.Fprintf(a.out, "%d not selected by their matchers: %s\n", len(others), oneLine(strings.Join(others, ", "), 400))
	}
	for _, t := range all {
		if t.Outcome == command.NotRun && t.Reason == dialect.NotSelected {
			continue
		}
		if t.Command == nil && t.Outcome == command.NotRun && t.Problem == "" {
			fmt.Fprintf(a.out, "%s: not run, %s\n", t.Hook, oneLine(t.Reason, 300))
			continue
		}
		fmt.Fprintf(a.out, "%s: %s after %.1f ms\n", t.Hook, t.Outcome, t.DurationMS)
		fmt.Fprintf(a.out, "  runs    %s\n  in      %s\n", oneLine(fmt.Sprintf("%q", t.Command), 200), t.Dir)
		fmt.Fprintf(a.out, "  stdin   %s\n", oneLine(t.Stdin, 400))
		fmt.Fprintf(a.out, "  stdout  %s\n  stderr  %s\n  exit    %d %s\n", oneLine(t.Stdout, 400), oneLine(t.Execution.Stderr, 400), t.ExitCode, t.Signal)
		if t.Sandbox.Mode != "" {
			fmt.Fprintf(a.out, "  sandbox %s\n", oneLine(t.Sandbox.String(), 300))
		}
		switch {
		case t.Decision != nil:
			fmt.Fprintf(a.out, "  decides %s %s\n", t.Decision.Effect, oneLine(t.Decision.Reason, 300))
		case t.Effect != nil:
			fmt.Fprintf(a.out, "  decides %s %s\n", t.Effect, oneLine(t.Reason, 300))
		}
		if t.Problem != "" {
			fmt.Fprintf(a.out, "  problem %s (its failure policy counts)\n", oneLine(t.Problem, 400))
		}
	}
}
