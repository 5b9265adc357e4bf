package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/grapnel-dev/grapnel/subscribers/command/dialects"
	"github.com/grapnel-dev/grapnel/subscribers/command/pack"
)

// packs is where hook packs are installed.
func (p paths) packs() string { return filepath.Join(p.state, "packs") }

func (a *app) hooksPackCommand() *cobra.Command {
	c := &cobra.Command{
		Use: "pack", Short: "Hook packs: hooks and their programs that somebody shares",
		Long: `A hook pack is a directory, or an archive of one, with a pack.json: which file
is whose configuration, and the SHA-256 of every file. The hooks of an installed
pack count as downloaded: none runs before it is approved, see ` + "`grapnel trust`" + `.`,
	}
	c.AddCommand(a.packInstallCommand(), a.packListCommand(), a.packVerifyCommand(), a.packRemoveCommand(), a.packBuildCommand())
	return c
}

func (a *app) packInstallCommand() *cobra.Command {
	var options pack.Options
	c := &cobra.Command{
		Use: "install PATH", Short: "Install a pack, or another version of it; its hooks wait for approval",
		Example: "  grapnel hooks pack install no-secrets-1.2.0.tar.gz\n  grapnel trust list", Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			p, err := pack.Open(args[0], dialects.Find)
			if err != nil {
				return fail(exitFailed, "nothing was installed", err)
			}
			options.Grapnel = version()
			done, err := pack.Install(c.Context(), p, a.paths.packs(), &options)
			if err != nil {
				return err
			}
			a.packProblems(p)
			if a.json {
				return a.printJSON(done)
			}
			switch {
			case done.Unchanged:
				fmt.Fprintf(a.out, "%s %s is installed already\n", done.Name, done.Version)
			case done.Previous != "":
				fmt.Fprintf(a.out, "installed %s %s in the place of %s; what it changes needs approval again\n", done.Name, done.Version, done.Previous)
			default:
				fmt.Fprintf(a.out, "installed %s %s; none of its hooks runs before it is approved:\n", done.Name, done.Version)
			}
			for _, h := range p.Hooks() {
				fmt.Fprintf(a.out, "  %s: %s on %s runs %s\n", h.Dialect, oneLine(h.Name, 60), oneLine(strings.Join(h.Events, ","), 80), oneLine(h.Runs, 200))
			}
			if !done.Unchanged {
				fmt.Fprintln(a.out, "`grapnel trust list` shows them with their files, `grapnel trust add NAME` approves")
			}
			a.warnSilent(done.Dialects)
			return nil
		},
	}
	c.Flags().BoolVar(&options.Force, "force", false, "install an older version, or other content under the same version")
	return c
}

// packProblems says what the dialects cannot read in a pack.
func (a *app) packProblems(p *pack.Pack) {
	for _, problem := range p.Problems() {
		fmt.Fprintf(a.err, "warning: %s\n", oneLine(problem.Error(), 400))
	}
}

// warnSilent names the dialects of a pack that are not switched on.
func (a *app) warnSilent(names []string) {
	cfg, err := loadConfig(a.paths)
	if err != nil {
		return // whatever needs the configuration will say so
	}
	for _, name := range names {
		if !cfg.speaks(name) {
			fmt.Fprintf(a.err, "warning: the dialect %s is not switched on; name it under dialects: in %s\n", name, a.paths.config)
		}
	}
}

func (a *app) packListCommand() *cobra.Command {
	return &cobra.Command{
		Use: "list", Short: "List the installed packs", Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			list, err := pack.List(a.paths.packs())
			if err != nil {
				return err
			}
			if a.json {
				return a.printJSON(list)
			}
			if len(list) == 0 {
				fmt.Fprintln(a.out, "no hook pack is installed")
				return nil
			}
			w := tabwriter.NewWriter(a.out, 0, 4, 2, ' ', 0)
			fmt.Fprintln(w, "NAME\tVERSION\tDIALECTS\tFILES\tDIRECTORY\tABOUT")
			for _, p := range list {
				about := p.Description
				if p.Problem != "" {
					about = "problem: " + p.Problem
				}
				fmt.Fprintf(w, "%s\t%s\t%s\t%d\t%s\t%s\n", p.Name, p.Version, strings.Join(p.Dialects, ","), p.Files, oneLine(p.Dir, 120), oneLine(about, 120))
			}
			return w.Flush()
		},
	}
}

func (a *app) packVerifyCommand() *cobra.Command {
	return &cobra.Command{
		Use: "verify [NAME]", Short: "Check that installed packs are what was installed", Args: cobra.MaximumNArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			names := args
			if len(names) == 0 {
				list, err := pack.List(a.paths.packs())
				if err != nil {
					return err
				}
				for _, p := range list {
					names = append(names, p.Name)
				}
			}
			results := make(map[string]string, len(names))
			failed := false
			for _, name := range names {
				results[name] = "whole"
				if err := pack.Verify(a.paths.packs(), name); err != nil {
					results[name], failed = strings.TrimPrefix(err.Error(), "verify "+name+": "), true
				}
				if !a.json {
					fmt.Fprintf(a.out, "%s: %s\n", oneLine(name, 80), oneLine(results[name], 400))
				}
			}
			if a.json {
				if err := a.printJSON(results); err != nil {
					return err
				}
			}
			if failed {
				return silent(exitFound)
			}
			return nil
		},
	}
}

func (a *app) packRemoveCommand() *cobra.Command {
	return &cobra.Command{
		Use: "remove NAME", Short: "Take a pack away, and all its hooks with it", Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			if err := pack.Remove(c.Context(), a.paths.packs(), args[0]); err != nil {
				return err
			}
			fmt.Fprintf(a.out, "removed %s\n", args[0])
			return nil
		},
	}
}

func (a *app) packBuildCommand() *cobra.Command {
	var output string
	c := &cobra.Command{
		Use: "build DIRECTORY", Short: "Write the checksums into a pack's manifest, check it, and make the archive",
		Example: "  grapnel hooks pack build ./no-secrets -o no-secrets-1.2.0.tar.gz", Args: cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			p, err := pack.Build(args[0], dialects.Find)
			if err != nil {
				return err
			}
			a.packProblems(p)
			m := p.Manifest()
			if output == "" {
				output = m.Name + "-" + m.Version + ".tar.gz"
			}
			f, err := os.OpenFile(output, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
			if err != nil {
				return fail(exitFailed, "name a file that is not there yet", err)
			}
			err = p.Write(f)
			if closeErr := f.Close(); err == nil {
				err = closeErr
			}
			if err != nil {
				_ = os.Remove(output)
				return err
			}
			fmt.Fprintf(a.out, "%s: %s %s, %d hooks, %d files, digest %s\n", output, m.Name, m.Version, len(p.Hooks()), len(m.Files), p.Digest())
			return nil
		},
	}
	c.Flags().StringVarP(&output, "output", "o", "", "archive `file` to write; NAME-VERSION.tar.gz by default")
	return c
}
