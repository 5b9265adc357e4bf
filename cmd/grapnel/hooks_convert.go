package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/grapnel-dev/grapnel/runner/trust"
	"github.com/grapnel-dev/grapnel/subscribers/command/dialect"
	"github.com/grapnel-dev/grapnel/subscribers/command/dialects"
)

func (a *app) hooksConvertCommand() *cobra.Command {
	var from, to, output string
	c := &cobra.Command{
		Use:   "convert --from DIALECT --to DIALECT [FILE]",
		Short: "Write one dialect's hooks as another's, and say what is lost",
		Long: `Read a hook configuration file (or standard input) of one dialect and write it as
another's, to standard output or a file. What the other dialect cannot say is
listed on standard error. The hooks' programs stay what they are: each dialect
feeds them in its own form. Nothing is run.`,
		Example: "  grapnel hooks convert --from codemie --to grapnel ~/.codemie/codemie-cli.config.json",
		Args:    cobra.MaximumNArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			source, err := findDialect("--from", from)
			if err != nil {
				return err
			}
			target, err := findDialect("--to", to)
			if err != nil {
				return err
			}
			name, in := "standard input", a.in
			if len(args) == 1 && args[0] != "-" {
				f, err := os.Open(args[0])
				if err != nil {
					return fail(exitUsage, "", err)
				}
				defer f.Close()
				name, in = args[0], f
			}
			text, err := io.ReadAll(io.LimitReader(in, dialect.MaxFile+1))
			if err != nil {
				return err
			}
			if len(text) > dialect.MaxFile {
				return fail(exitUsage, "", fmt.Errorf("%s has more than %d bytes", name, dialect.MaxFile))
			}
			hooks, problems := source.Read(text, dialect.Origin{File: name, Source: trust.User})
			for _, p := range problems {
				fmt.Fprintf(a.err, "warning: %s\n", oneLine(p.Error(), 400))
			}
			if len(hooks) == 0 {
				return fail(exitFound, "", fmt.Errorf("%s holds no hook of dialect %s", name, from))
			}
			result, err := dialect.Convert(hooks, source, target)
			if err != nil {
				return err
			}
			for _, l := range result.Lost {
				fmt.Fprintf(a.err, "lost: %s\n", oneLine(l, 400))
			}
			fmt.Fprintf(a.err, "%d of %d hooks converted\n", result.Converted, len(hooks))
			if result.Converted == 0 {
				return fail(exitFound, "", fmt.Errorf("%s can say none of the hooks of %s", to, name))
			}
			if output == "" || output == "-" {
				_, err = a.out.Write(result.Text)
				return err
			}
			return writeNew(output, result.Text)
		},
	}
	c.Flags().StringVar(&from, "from", "", "the `dialect` of the file")
	c.Flags().StringVar(&to, "to", "", "the `dialect` to write")
	c.Flags().StringVarP(&output, "output", "o", "", "write to a new `file`")
	for _, name := range []string{"from", "to"} {
		_ = c.MarkFlagRequired(name)
		_ = c.RegisterFlagCompletionFunc(name, cobra.FixedCompletions(dialects.Names(), cobra.ShellCompDirectiveNoFileComp))
	}
	return c
}

// findDialect finds the dialect that a flag names.
func findDialect(flag, name string) (*dialect.Dialect, error) {
	d, ok := dialects.Find(name)
	if !ok {
		return nil, fail(exitUsage, "there are "+strings.Join(dialects.Names(), ", "), fmt.Errorf("%s: there is no hook dialect %.60q", flag, name))
	}
	return d, nil
}

// writeNew writes a file that must not be there yet.
func writeNew(name string, text []byte) error {
	if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		return err
	}
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return fail(exitFailed, "name a file that is not there yet", err)
	}
	_, err = f.Write(text)
	if closeErr := f.Close(); err == nil {
		err = closeErr
	}
	return err
}

func (a *app) hooksStatsCommand() *cobra.Command {
	return &cobra.Command{
		Use: "stats", Short: "How often the dialects' hooks ran, failed, denied, and how long they took", Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			var all []hookMetrics
			if err := a.ask(c.Context(), verbHookStats, nil, &all); err != nil {
				return err
			}
			if a.json {
				return a.printJSON(all)
			}
			w := tabwriter.NewWriter(a.out, 0, 4, 2, ' ', 0)
			fmt.Fprintln(w, "HOOK\tDIALECT\tRUNS\tFAILED\tDENIED\tCACHED\tMEAN\tMAX")
			for _, m := range all {
				mean := 0.0
				if m.Runs > 0 {
					mean = m.TotalMS / float64(m.Runs)
				}
				fmt.Fprintf(w, "%s\t%s\t%d\t%d\t%d\t%d\t%.1f ms\t%.1f ms\n", oneLine(m.Hook, 60), m.Dialect, m.Runs, m.Failures, m.Denials, m.Cached, mean, m.MaxMS)
			}
			return w.Flush()
		},
	}
}

// hookMetrics are one hook's counts with its dialect.
type hookMetrics struct {
	Dialect string `json:"dialect"`
	dialect.Metrics
}

func (d *daemon) hookMetrics() []hookMetrics {
	list := []hookMetrics{}
	for _, s := range d.sets {
		for _, m := range s.Metrics() {
			list = append(list, hookMetrics{s.Dialect().Name, m})
		}
	}
	return list
}
