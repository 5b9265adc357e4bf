package main

import (
	"fmt"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/grapnel-dev/grapnel/runner/trust"
	"github.com/grapnel-dev/grapnel/subscribers/command/codeforge"
	"github.com/grapnel-dev/grapnel/subscribers/command/dialect"
	"github.com/grapnel-dev/grapnel/subscribers/command/dialects"
)

func (a *app) hooksTemplatesCommand() *cobra.Command {
	to := codeforge.Name
	c := &cobra.Command{
		Use: "templates [NAME]", Short: "List the hooks that ship, or print one as a configuration file",
		Example: "  grapnel hooks templates audit-log --to code-forge", Args: cobra.MaximumNArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			all := codeforge.Templates()
			if len(args) == 0 && a.json {
				list := make([]map[string]string, len(all))
				for i, t := range all {
					list[i] = map[string]string{"name": t.Name, "about": t.About}
				}
				return a.printJSON(list)
			}
			if len(args) == 0 {
				w := tabwriter.NewWriter(a.out, 0, 4, 2, ' ', 0)
				for _, t := range all {
					fmt.Fprintf(w, "%s\t%s\n", t.Name, t.About)
				}
				return w.Flush()
			}
			target, err := findDialect("--to", to)
			if err != nil {
				return err
			}
			for _, t := range all {
				if t.Name != args[0] {
					continue
				}
				if target.Name == codeforge.Name {
					_, err := a.out.Write(t.Text)
					return err
				}
				source := codeforge.New()
				hooks, _ := source.Read(t.Text, dialect.Origin{File: t.Name, Source: trust.Builtin})
				result, err := dialect.Convert(hooks, source, target)
				if err != nil {
					return err
				}
				for _, l := range result.Lost {
					fmt.Fprintf(a.err, "lost: %s\n", oneLine(l, 400))
				}
				if result.Converted == 0 {
					return fail(exitFound, "", fmt.Errorf("%s cannot say this hook", to))
				}
				_, err = a.out.Write(result.Text)
				return err
			}
			return fail(exitUsage, "`grapnel hooks templates` lists them", fmt.Errorf("there is no template %.60q", args[0]))
		},
	}
	c.Flags().StringVar(&to, "to", to, "the `dialect` to write it in")
	_ = c.RegisterFlagCompletionFunc("to", cobra.FixedCompletions(dialects.Names(), cobra.ShellCompDirectiveNoFileComp))
	return c
}
