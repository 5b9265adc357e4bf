package main

import (
	"fmt"
	"io"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/grapnel-dev/grapnel/bus/cloudevent"
	"github.com/grapnel-dev/grapnel/bus/hook"
	"github.com/grapnel-dev/grapnel/subscribers/command"
	"github.com/grapnel-dev/grapnel/subscribers/policy"
)

func (a *app) hooksCommand() *cobra.Command {
	c := &cobra.Command{Use: "hooks", Short: "Hook commands: list, test, trace"}
	c.AddCommand(a.hooksListCommand(), a.hooksTestCommand(), a.hooksTraceCommand())
	return c
}

func (a *app) hooksListCommand() *cobra.Command {
	return &cobra.Command{
		Use: "list", Short: "List the hook commands that are configured", Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			c, err := loadConfig(a.paths)
			if err != nil {
				return err
			}
			if a.json {
				return a.printJSON(c.Hooks)
			}
			w := tabwriter.NewWriter(a.out, 0, 4, 2, ' ', 0)
			fmt.Fprintln(w, "NAME\tON\tRUNS\tFROM\tPROBLEM")
			for _, h := range c.Hooks {
				runs := fmt.Sprint(h.Command)
				if h.Shell != "" {
					runs = "sh: " + h.Shell
				}
				problem := "-"
				if _, err := command.New(h, nil); err != nil {
					problem = oneLine(err.Error(), 120)
				}
				fmt.Fprintf(w, "%s\t%v\t%s\t%s\t%s\n", h.Name, h.On, oneLine(runs, 80), a.paths.config, problem)
			}
			return w.Flush()
		},
	}
}

func (a *app) hooksTestCommand() *cobra.Command {
	var f emitFlags
	c := &cobra.Command{
		Use:   "test [EVENT]",
		Short: "Run the hook commands that match an event, here and now",
		Long: `Run the hook commands that match an event, in this process and without the bus,
and show input, output and decision of each. The event is described as for
` + "`grapnel emit`" + `, or is structured CloudEvents JSON on standard input when EVENT is
left out.`,
		Example: `  echo '{"command":"ls"}' | grapnel hooks test pre_tool_use --tool Bash --data -`,
		Args:    cobra.MaximumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			var e hook.Event
			var err error
			if len(args) == 1 {
				e, err = a.emitted(args[0], f)
			} else {
				var text []byte
				if text, err = io.ReadAll(io.LimitReader(a.in, 2*cloudevent.MaxData)); err == nil {
					e, err = cloudevent.Unmarshal(text)
				}
			}
			if err != nil {
				return fail(exitUsage, "`grapnel schema event` shows what an event looks like", err)
			}
			return a.testHooks(c, e)
		},
	}
	c.Flags().StringVar(&f.tool, "tool", "", "the tool's `name`, for tool events")
	c.Flags().StringVar(&f.kind, "kind", "", "the tool's `kind`; by default from the name")
	c.Flags().StringVar(&f.data, "data", "", "`file` with the data, or - for standard input")
	c.Flags().StringVar(&f.session, "session", "test", "session `id`")
	return c
}

// tested is one hook's part in `hooks test`.
type tested struct {
	command.Report
	Stdin   string `json:"stdin"`
	Stdout  string `json:"stdout"`
	Problem string `json:"problem,omitempty"`
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
	var all []tested
	failed := false
	for _, h := range cfg.Hooks {
		pattern, err := h.Pattern()
		if err != nil || !pattern.Match(e.Name, e.Subject) {
			continue
		}
		if wanted, err := holds(h.When, e); err == nil && !wanted {
			all = append(all, tested{Report: command.Report{Execution: command.Execution{
				Hook: h.Name, EventID: e.ID, Event: e.Key(), ExitCode: -1, Outcome: command.NotRun, Reason: "its condition does not hold: " + h.When,
			}}})
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
	if a.json {
		if err := a.printJSON(all); err != nil {
			return err
		}
	} else {
		a.printTests(e, all)
	}
	if failed {
		return silent(exitFound)
	}
	return nil
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
	if len(all) == 0 {
		fmt.Fprintf(a.out, "no hook command matches %s\n", e.Key())
	}
	for _, t := range all {
		if t.Command == nil && t.Reason != "" {
			fmt.Fprintf(a.out, "%s: not run, %s\n", t.Hook, oneLine(t.Reason, 300))
			continue
		}
		fmt.Fprintf(a.out, "%s: %s after %.1f ms\n", t.Hook, t.Outcome, t.DurationMS)
		fmt.Fprintf(a.out, "  runs    %s\n  in      %s\n", oneLine(fmt.Sprintf("%q", t.Command), 200), t.Dir)
		fmt.Fprintf(a.out, "  stdin   %s\n", oneLine(t.Stdin, 400))
		fmt.Fprintf(a.out, "  stdout  %s\n  stderr  %s\n  exit    %d %s\n", oneLine(t.Stdout, 400), oneLine(t.Execution.Stderr, 400), t.ExitCode, t.Signal)
		if t.Decision != nil {
			fmt.Fprintf(a.out, "  decides %s %s\n", t.Decision.Effect, oneLine(t.Decision.Reason, 300))
		}
		if t.Problem != "" {
			fmt.Fprintf(a.out, "  problem %s (its failure policy counts)\n", oneLine(t.Problem, 400))
		}
	}
}

func (a *app) hooksTraceCommand() *cobra.Command {
	var follow bool
	c := &cobra.Command{
		Use: "trace", Short: "Show the last runs of hook commands", Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			var shown time.Time
			for {
				var all []command.Execution
				if err := a.ask(c.Context(), verbTraces, nil, &all); err != nil {
					return err
				}
				for _, x := range all {
					if !x.Started.After(shown) {
						continue
					}
					shown = x.Started
					if err := a.printTrace(x); err != nil {
						return err
					}
				}
				if !follow {
					return nil
				}
				select {
				case <-time.After(500 * time.Millisecond):
				case <-c.Context().Done():
					return nil
				}
			}
		},
	}
	c.Flags().BoolVarP(&follow, "follow", "f", false, "go on showing new ones")
	return c
}

func (a *app) printTrace(x command.Execution) error {
	if a.json {
		return a.printJSON(x)
	}
	effect := "-"
	if x.Effect != nil {
		effect = x.Effect.String()
	}
	why := x.Reason
	if x.Error != "" {
		why = x.Error
	}
	_, err := fmt.Fprintf(a.out, "%s  %-16s %-24s %-9s %-8s exit %d  %.1f ms  %s\n", x.Started.Local().Format(time.TimeOnly),
		oneLine(x.Hook, 16), oneLine(x.Event, 24), x.Outcome, effect, x.ExitCode, x.DurationMS, oneLine(why, 160))
	return err
}
