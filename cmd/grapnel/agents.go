package main

import (
	"fmt"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/grapnel-dev/grapnel/internal/edge"
	"github.com/grapnel-dev/grapnel/internal/edge/install"
)

func (a *app) agentsCommand() *cobra.Command {
	return &cobra.Command{
		Use: "agents", Short: "Agents known, their events, what each can do", Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			capabilities := edge.Capabilities()
			if a.json {
				return a.printJSON(capabilities)
			}
			settings, err := install.Inspect(&install.Options{Getenv: a.getenv})
			if err != nil {
				return err
			}
			w := tabwriter.NewWriter(a.out, 0, 4, 2, ' ', 0)
			fmt.Fprintln(w, "AGENT\tEVENT\tCANONICAL\tCLASS\tBLOCK\tASK\tGRANT\tREWRITE\tCONTEXT\tCONTINUE\tREGISTERED")
			registered := make(map[string]string)
			for _, f := range settings.Files {
				for _, event := range f.Events {
					registered[event] += f.Scope + " "
				}
			}
			for _, c := range capabilities {
				fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\n", c.Agent, c.Event, c.Canonical, c.Class,
					mark(c.Block), mark(c.Ask), mark(c.Grant), mark(c.Rewrite), mark(c.Context), mark(c.Continue), registered[c.Event])
			}
			return w.Flush()
		},
	}
}

func mark(yes bool) string {
	if yes {
		return "yes"
	}
	return "-"
}
