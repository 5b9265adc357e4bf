package main

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/grapnel-dev/grapnel/runner/process"
	"github.com/grapnel-dev/grapnel/subscribers/command"
	"github.com/grapnel-dev/grapnel/subscribers/command/dialect"
	"github.com/grapnel-dev/grapnel/subscribers/command/native"
)

// listedHook is one line of `hooks list`.
type listedHook struct {
	Name    string   `json:"name"`
	Dialect string   `json:"dialect"`
	Source  string   `json:"source"`
	On      []string `json:"on"`
	Matcher string   `json:"matcher,omitempty"`
	Runs    string   `json:"runs"`
	File    string   `json:"file"`
	// State is "ready", or why it does not run.
	State string `json:"state"`
}

func (a *app) hooksListCommand() *cobra.Command {
	var workspace string
	c := &cobra.Command{
		Use: "list", Short: "List the hooks there are, from where, and whether they may run", Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			cfg, err := loadConfig(a.paths)
			if err != nil {
				return err
			}
			list, problems, err := a.listHooks(c.Context(), cfg, workspace)
			if err != nil {
				return err
			}
			for _, p := range problems {
				fmt.Fprintf(a.err, "warning: %s\n", oneLine(p.Error(), 400))
			}
			if a.json {
				return a.printJSON(list)
			}
			w := tabwriter.NewWriter(a.out, 0, 4, 2, ' ', 0)
			fmt.Fprintln(w, "NAME\tDIALECT\tSOURCE\tON\tRUNS\tFROM\tSTATE")
			for _, h := range list {
				on := strings.Join(h.On, ",")
				switch {
				case h.Dialect == native.Name:
					on = h.Matcher // which has the events in it
				case h.Matcher != "":
					on += " (" + h.Matcher + ")"
				}
				fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%s\t%s\n", oneLine(h.Name, 40), h.Dialect, h.Source, oneLine(on, 50),
					oneLine(h.Runs, 60), oneLine(h.File, 200), oneLine(h.State, 160))
			}
			return w.Flush()
		},
	}
	workspaceFlag(c, &workspace)
	return c
}

// workspaceFlag is the workspace whose hooks are meant. It becomes the path that
// agents give: an approval is for a file, by its whole path.
func workspaceFlag(c *cobra.Command, workspace *string) {
	dir, _ := os.Getwd()
	c.Flags().StringVar(workspace, "workspace", dir, "`directory` of the workspace")
	c.PreRunE = func(*cobra.Command, []string) error {
		path, err := filepath.Abs(*workspace)
		if err != nil {
			return err
		}
		info, err := os.Stat(path)
		if err == nil && !info.IsDir() {
			err = fmt.Errorf("%s is not a directory", path)
		}
		if err != nil {
			return fail(exitUsage, "--workspace is the directory that the agent works in", err)
		}
		*workspace = path
		return nil
	}
}

func (a *app) listHooks(ctx context.Context, cfg *config, workspace string) ([]listedHook, []dialect.Problem, error) {
	list := make([]listedHook, 0, len(cfg.Hooks))
	for _, h := range cfg.Hooks {
		runs := fmt.Sprint(h.Command)
		if h.Shell != "" {
			runs = "sh: " + h.Shell
		}
		state := "ready"
		if _, err := command.New(h, nil); err != nil {
			state = err.Error()
		}
		list = append(list, listedHook{Name: h.Name, Dialect: "-", Source: "user", On: h.On, Runs: runs, File: a.paths.config, State: state})
	}
	for _, p := range cfg.Prompts {
		list = append(list, listedHook{Name: p.Name, Dialect: "-", Source: "user", On: p.On, Runs: "prompt: " + p.Prompt, File: a.paths.config, State: "ready"})
	}
	for _, h := range cfg.Webhooks.Hooks {
		list = append(list, listedHook{Name: h.Name, Dialect: "-", Source: "user", On: h.On, Runs: h.LogValue().String(), File: a.paths.config, State: "ready"})
	}
	var problems []dialect.Problem
	err := a.withSets(cfg, nil, func(sets []*dialect.Set, _ *dialect.Trust) error {
		for _, s := range sets {
			hooks, wrong := s.Hooks(workspace)
			problems = append(problems, wrong...)
			candidates, err := s.Candidates(ctx, workspace)
			if err != nil {
				return err
			}
			for _, h := range hooks {
				list = append(list, listedHook{
					Name: h.Label(), Dialect: s.Dialect().Name, Source: string(h.Origin.Source), On: h.Events, Matcher: h.Matcher,
					Runs: h.Text(), File: h.Origin.File, State: hookState(h, hooks, candidates),
				})
			}
			for _, c := range candidates {
				if c.Measurement != nil {
					_ = c.Measurement.Close()
				}
			}
		}
		return nil
	})
	return list, problems, err
}

// hookState says in a word or two whether a hook may run.
func hookState(h dialect.Hook, all []dialect.Hook, candidates []dialect.Candidate) string {
	if h.Disabled {
		return "disabled"
	}
	for _, name := range h.After {
		if !slices.ContainsFunc(all, func(o dialect.Hook) bool { return o.Name == name && !o.Disabled }) {
			return fmt.Sprintf("never runs: it comes after %q, and there is no such hook", name)
		}
	}
	i := slices.IndexFunc(candidates, func(c dialect.Candidate) bool { return c.Hook.ID() == h.ID() && c.Hook.Where == h.Where })
	switch {
	case i < 0:
		return "ready"
	case candidates[i].Err != nil:
		return candidates[i].Err.Error()
	case candidates[i].State.Runs():
		return "ready"
	}
	return string(candidates[i].State) + ", not approved"
}

// withSets makes the configured dialects ready for a command. A nil runner is
// for commands that run nothing.
func (a *app) withSets(cfg *config, runner *process.Runner, use func([]*dialect.Set, *dialect.Trust) error) error {
	if len(cfg.Dialects) == 0 {
		return use(nil, nil)
	}
	tr, closeTrust, err := openTrust(a.paths)
	if err != nil {
		return err
	}
	defer closeTrust()
	o := setOptions{runner: runner, trust: tr, log: slog.New(slog.DiscardHandler)}
	if o.runner == nil {
		if o.runner, err = newRunner(); err != nil {
			return err
		}
		defer o.runner.Close()
	}
	if o.asker, err = newAsker(cfg, o.log); err != nil {
		return err
	}
	if o.poster, err = newPoster(cfg, o.log); err != nil {
		return err
	}
	defer o.poster.close()
	sets, err := openSets(cfg, a.paths, o)
	if err != nil {
		return err
	}
	defer closeSets(sets)
	return use(sets, tr)
}
