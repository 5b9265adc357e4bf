package main

import (
	"encoding/json"
	"fmt"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/grapnel-dev/grapnel/bus/hook"
)

func (a *app) rosterCommand() *cobra.Command {
	c := &cobra.Command{Use: "roster", Short: "Who must be heard"}
	c.AddCommand(a.rosterListCommand(), a.rosterSetCommand(), a.rosterRemoveCommand())
	return c
}

func (a *app) rosterListCommand() *cobra.Command {
	return &cobra.Command{
		Use: "list", Short: "List the deciders in the order in which they count", Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			var l rosterList
			if err := a.ask(c.Context(), verbRosterList, nil, &l); err != nil {
				return err
			}
			if a.json {
				return a.printJSON(l)
			}
			w := tabwriter.NewWriter(a.out, 0, 4, 2, ' ', 0)
			fmt.Fprintln(w, "NAME\tFROM\tPRIORITY\tFILTER\tTIMEOUT\tON FAILURE\tMAY")
			for _, e := range l.Entries {
				may := ""
				for _, m := range []struct {
					yes  bool
					word string
				}{{e.Entry.Rewrites, "rewrite "}, {e.Entry.Grants, "grant "}, {e.Entry.Shadow, "(shadow) "}} {
					if m.yes {
						may += m.word
					}
				}
				onFailure := string(e.Entry.OnFailure)
				if onFailure == "" {
					onFailure = "by event class"
				}
				timeout := "event's"
				if e.Entry.Timeout > 0 {
					timeout = time.Duration(e.Entry.Timeout).String()
				}
				filter := oneLine(e.Entry.Filter, 60)
				if filter == "" {
					filter = ">"
				}
				fmt.Fprintf(w, "%s\t%s\t%d\t%s\t%s\t%s\t%s\n", e.Entry.Name, e.Origin, e.Entry.Priority, filter, timeout, onFailure, may)
			}
			fmt.Fprintf(w, "revision %d\n", l.Revision)
			return w.Flush()
		},
	}
}

func (a *app) rosterSetCommand() *cobra.Command {
	var e hook.Entry
	var onFailure string
	var timeout time.Duration
	c := &cobra.Command{
		Use:   "set NAME",
		Short: "Say that a decider must be heard",
		Long: `Say that a decider must be heard. From then on an event that the filter matches
counts the decider's failure policy until somebody responds under that name.`,
		Example: "  grapnel roster set reviewer --filter 'pre_tool_use.bash' --timeout 10s --on-failure ask",
		Args:    cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			e.Name, e.OnFailure, e.Timeout = args[0], hook.FailurePolicy(onFailure), hook.Duration(timeout)
			if err := e.Validate(); err != nil {
				return fail(exitUsage, "see `grapnel roster set --help`", err)
			}
			body, err := json.Marshal(e)
			if err != nil {
				return err
			}
			return a.rosterChange(c, verbRosterSet, body)
		},
	}
	c.Flags().StringVar(&e.Filter, "filter", "", "event `pattern`; empty means all blocking events")
	c.Flags().StringVar(&e.When, "when", "", "CEL `expression` over the event")
	c.Flags().IntVar(&e.Priority, "priority", 0, "high goes first")
	c.Flags().DurationVar(&timeout, "timeout", 0, "how long it may take; 0 means until the event's deadline")
	c.Flags().StringVar(&onFailure, "on-failure", "", "deny, ask or abstain; by default by event class")
	c.Flags().BoolVar(&e.Rewrites, "rewrites", false, "it may change the tool's input")
	c.Flags().BoolVar(&e.Grants, "grants", false, "its allow may skip the agent's own prompt")
	c.Flags().BoolVar(&e.Shadow, "shadow", false, "its decision is recorded and does not count")
	c.Flags().BoolVar(&e.WaitAll, "wait-all", false, "wait for it even when somebody has denied")
	return c
}

func (a *app) rosterRemoveCommand() *cobra.Command {
	return &cobra.Command{
		Use: "remove NAME", Short: "Say that a decider need not be heard any more", Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			return a.rosterChange(c, verbRosterRemove, []byte(args[0]))
		},
	}
}

func (a *app) rosterChange(c *cobra.Command, verb string, body []byte) error {
	var l rosterList
	if err := a.ask(c.Context(), verb, body, &l); err != nil {
		return err
	}
	if a.json {
		return a.printJSON(l)
	}
	fmt.Fprintf(a.out, "revision %d\n", l.Revision)
	return nil
}
