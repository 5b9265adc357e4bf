package main

import (
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/grapnel-dev/grapnel/bus/cloudevent"
	"github.com/grapnel-dev/grapnel/bus/hook"
	"github.com/grapnel-dev/grapnel/subscribers/command"
)

func (a *app) hooksCommand() *cobra.Command {
	c := &cobra.Command{Use: "hooks", Short: "Hooks: list, test, trace, convert, packs"}
	c.AddCommand(a.hooksListCommand(), a.hooksTestCommand(), a.hooksTraceCommand(), a.hooksStatsCommand(),
		a.hooksConvertCommand(), a.hooksTemplatesCommand(), a.hooksPackCommand())
	return c
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

func (a *app) hooksTraceCommand() *cobra.Command {
	var follow bool
	c := &cobra.Command{
		Use: "trace", Short: "Show the last runs of hook commands", Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			// They come in the order of their ends, so one that started earlier
			// may be new.
			var shown map[string]bool
			for {
				var all []command.Execution
				if err := a.ask(c.Context(), verbTraces, nil, &all); err != nil {
					return err
				}
				before := shown
				shown = make(map[string]bool, len(all))
				for _, x := range all {
					key := fmt.Sprint(x.Dialect, x.Hook, x.File, x.EventID, x.Started.UnixNano())
					shown[key] = true
					if before[key] {
						continue
					}
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
	switch {
	case x.Cached:
		why = strings.TrimSuffix("its answer to the same input, again: "+why, ": ")
	case x.Async:
		why = strings.TrimSuffix("in the background, where it decides nothing: "+why, ": ")
	}
	exit := "-" // nothing was started, or an endpoint was asked
	if x.ExitCode >= 0 {
		exit = strconv.Itoa(x.ExitCode)
	}
	_, err := fmt.Fprintf(a.out, "%s  %-30s %-24s %-9s %-8s exit %s  %.1f ms  %s\n", x.Started.Local().Format(time.TimeOnly),
		oneLine(x.Hook, 30), oneLine(x.Event, 24), x.Outcome, effect, exit, x.DurationMS, oneLine(why, 160))
	return err
}
