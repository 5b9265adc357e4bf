package main

import (
	"context"
	"errors"
	"fmt"
	"os/user"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/grapnel-dev/grapnel/runner/trust"
	"github.com/grapnel-dev/grapnel/subscribers/command/dialect"
)

func (a *app) trustCommand() *cobra.Command {
	c := &cobra.Command{
		Use: "trust", Short: "Approvals of hooks that come from workspaces, downloads and extensions",
		Long: `Hooks that somebody else wrote run only as they were approved: their definition,
program, interpreter, script and declared files, by SHA-256. A changed hook is
asked about again, and denies what it guards until then.`,
	}
	c.AddCommand(a.trustListCommand(), a.trustAddCommand(false), a.trustAddCommand(true), a.trustRemoveCommand(), a.trustClearCommand())
	return c
}

// candidate is a hook that needs approval, for people and programs.
type candidate struct {
	Name     string       `json:"name"`
	Dialect  string       `json:"dialect"`
	Source   trust.Source `json:"source"`
	File     string       `json:"file"`
	ID       string       `json:"id"`
	State    trust.State  `json:"state"`
	Digest   string       `json:"digest,omitempty"`
	Runs     string       `json:"runs"`
	Parts    []trust.Part `json:"parts,omitempty"`
	Unpinned []string     `json:"unpinned,omitempty"`
	Changes  []string     `json:"changes,omitempty"`
	Problem  string       `json:"problem,omitempty"`
}

func (a *app) trustListCommand() *cobra.Command {
	var workspace string
	c := &cobra.Command{
		Use: "list", Short: "List the hooks of a workspace that need approval, and all approvals", Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			var pending []candidate
			var approvals []trust.Approval
			err := a.withCandidates(c.Context(), workspace, func(list []described, store *trust.Store) error {
				for _, d := range list {
					pending = append(pending, d.candidate)
				}
				var err error
				approvals, err = store.List()
				return err
			})
			if err != nil {
				return err
			}
			if a.json {
				return a.printJSON(map[string]any{"hooks": pending, "approvals": approvals})
			}
			for _, h := range pending {
				a.printCandidate(h)
			}
			if len(pending) == 0 {
				fmt.Fprintf(a.out, "no hook of %s needs approval\n", workspace)
			}
			if len(approvals) == 0 {
				return nil
			}
			w := tabwriter.NewWriter(a.out, 0, 4, 2, ' ', 0)
			fmt.Fprintln(w, "\nDIGEST\tANSWER\tHOOK\tDIALECT\tBY\tAT\tFILE")
			for _, p := range approvals {
				answer := "approved"
				if p.Refused {
					answer = "refused"
				}
				fmt.Fprintf(w, "%.12s\t%s\t%s\t%s\t%s\t%s\t%s\n", p.Digest, answer, oneLine(p.Name, 40), p.Dialect, oneLine(p.By, 30), p.At.Local().Format(time.DateTime), oneLine(p.File, 100))
			}
			return w.Flush()
		},
	}
	workspaceFlag(c, &workspace)
	return c
}

func (a *app) printCandidate(h candidate) {
	fmt.Fprintf(a.out, "%s (%s, %s): %s\n  file         %s\n  runs         %s\n", oneLine(h.Name, 80), h.Dialect, h.Source, h.State, oneLine(h.File, 200), oneLine(h.Runs, 300))
	if h.Problem != "" {
		fmt.Fprintf(a.out, "  problem      %s\n", oneLine(h.Problem, 400))
		return
	}
	fmt.Fprintf(a.out, "  digest       %s\n", h.Digest)
	for _, p := range h.Parts {
		switch p.Role {
		case trust.RoleDefinition:
		case trust.RoleMissing: // it has no path and no bytes
			fmt.Fprintf(a.out, "  missing      %s, which is not there\n", oneLine(p.Name, 200))
		default:
			fmt.Fprintf(a.out, "  %-12s %s %s\n", p.Role, oneLine(p.Path, 200), p.SHA256.String()[:12])
		}
	}
	for _, u := range h.Unpinned {
		fmt.Fprintf(a.out, "  not covered  %s\n", oneLine(u, 300))
	}
	for _, change := range h.Changes {
		fmt.Fprintf(a.out, "  changed      %s\n", oneLine(change, 300))
	}
}

// described is a candidate with its measurement.
type described struct {
	candidate
	measurement *trust.Measurement
}

// withCandidates measures the hooks of a workspace that need approval.
func (a *app) withCandidates(ctx context.Context, workspace string, use func([]described, *trust.Store) error) error {
	cfg, err := loadConfig(a.paths)
	if err != nil {
		return err
	}
	if len(cfg.Dialects) == 0 {
		return fail(exitUsage, "name them under dialects: in "+a.paths.config, errors.New("no hook dialect is switched on"))
	}
	return a.withSets(cfg, nil, func(sets []*dialect.Set, tr *dialect.Trust) error {
		var list []described
		for _, s := range sets {
			candidates, err := s.Candidates(ctx, workspace)
			if err != nil {
				return err
			}
			for _, c := range candidates {
				d := described{measurement: c.Measurement, candidate: candidate{
					Name: c.Hook.Label(), Dialect: s.Dialect().Name, Source: c.Hook.Origin.Source, File: c.Hook.Origin.File,
					ID: strings.TrimPrefix(c.Hook.ID(), c.Hook.Origin.File+"#"), State: c.State, Runs: c.Hook.Text(),
				}}
				if c.Err != nil {
					d.Problem = c.Err.Error()
				}
				if c.Measurement != nil {
					defer c.Measurement.Close()
					d.Digest, d.Parts, d.Unpinned = c.Measurement.Digest().String(), c.Measurement.Parts(), c.Measurement.Unpinned()
					if before, ok, err := tr.Store.Find(c.Measurement.Definition()); ok && err == nil {
						for _, change := range before.Diff(c.Measurement) {
							d.Changes = append(d.Changes, change.String())
						}
					}
				}
				list = append(list, d)
			}
		}
		return use(list, tr.Store)
	})
}

func (a *app) trustAddCommand(refuse bool) *cobra.Command {
	var workspace string
	var all bool
	c := &cobra.Command{
		Use: "add [HOOK|DIGEST]...", Short: "Approve hooks of a workspace, by name or by the beginning of their digest",
		Example: "  grapnel trust list\n  grapnel trust add 3f2a9c01",
	}
	if refuse {
		c.Use, c.Short, c.Example = "refuse [HOOK|DIGEST]...", "Refuse hooks of a workspace", ""
	}
	c.RunE = func(c *cobra.Command, args []string) error {
		if len(args) == 0 && !all {
			return fail(exitUsage, "`grapnel trust list` shows them; --all means every one of this workspace", errors.New("say which hooks"))
		}
		by := "unknown"
		if u, err := user.Current(); err == nil {
			by = u.Username
		}
		return a.withCandidates(c.Context(), workspace, func(list []described, store *trust.Store) error {
			// All are found before the first one is answered for: nobody is to
			// have approved half of what was said.
			chosen, err := choose(list, args, all, workspace)
			if err != nil {
				return err
			}
			for _, h := range chosen {
				if h.State.Runs() && !refuse {
					fmt.Fprintf(a.out, "%s is approved already\n", oneLine(h.Name, 80))
					continue
				}
				answer, did := store.Approve, "approved"
				if refuse {
					answer, did = store.Refuse, "refused"
				}
				if err := answer(h.measurement, by, time.Now()); err != nil {
					return err
				}
				fmt.Fprintf(a.out, "%s %s (%.12s)\n", did, oneLine(h.Name, 80), h.Digest)
			}
			if len(chosen) == 0 {
				fmt.Fprintf(a.out, "no hook of %s needs approval\n", workspace)
			}
			return nil
		})
	}
	workspaceFlag(c, &workspace)
	c.Flags().BoolVar(&all, "all", false, "every hook of the workspace")
	return c
}

// choose finds the hooks that the arguments mean, each once. A name that
// several have is nobody's: a file that comes later could bring one of the same
// name, and nobody would have looked at it.
func choose(list []described, args []string, all bool, workspace string) ([]described, error) {
	meant := make(map[string]bool, len(list)) // by digest, which covers dialect, file and id
	for _, arg := range args {
		var digests []string
		for _, h := range list {
			byDigest := len(arg) >= trust.MinDigest && strings.HasPrefix(h.Digest, arg)
			if arg != h.Name && arg != h.ID && !byDigest {
				continue
			}
			if h.measurement == nil {
				return nil, fail(exitFailed, "mend it first", fmt.Errorf("hook %s: %s", h.Name, h.Problem))
			}
			if !slices.Contains(digests, h.Digest) {
				digests = append(digests, h.Digest)
			}
		}
		switch len(digests) {
		case 0:
			hint := "`grapnel trust list` shows the hooks of this workspace"
			if len(arg) < trust.MinDigest && strings.Trim(arg, "0123456789abcdef") == "" {
				hint = fmt.Sprintf("give %d digits of a digest at least; %s", trust.MinDigest, hint)
			}
			return nil, fail(exitUsage, hint, fmt.Errorf("there is no hook %.80q in %s that needs approval", arg, workspace))
		case 1:
			meant[digests[0]] = true
		default:
			for i := range digests {
				digests[i] = digests[i][:12]
			}
			return nil, fail(exitUsage, "look at each with `grapnel trust list`, and name it by its digest", fmt.Errorf("%.80q is %d hooks: %s", arg, len(digests), strings.Join(digests, ", ")))
		}
	}
	var chosen []described
	for _, h := range list {
		switch {
		case h.measurement == nil && all:
			return nil, fail(exitFailed, "mend it first", fmt.Errorf("hook %s: %s", h.Name, h.Problem))
		case h.measurement == nil || !all && !meant[h.Digest]:
		case slices.ContainsFunc(chosen, func(had described) bool { return had.Digest == h.Digest }):
		default:
			chosen = append(chosen, h)
		}
	}
	return chosen, nil
}

func (a *app) trustRemoveCommand() *cobra.Command {
	var sel trust.Selector
	c := &cobra.Command{
		Use: "remove [DIGEST]", Short: "Forget approvals, by the beginning of a digest or by file, dialect and id", Args: cobra.MaximumNArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			if len(args) == 1 {
				sel.Digest = args[0]
			}
			return a.withStore(func(store *trust.Store) error {
				n, err := store.Remove(sel)
				switch {
				case errors.Is(err, trust.ErrSelector):
					return fail(exitUsage, "`grapnel trust list` shows the approvals; `grapnel trust clear` forgets all", err)
				case err != nil:
					return err
				case n == 0:
					return fail(exitFound, "`grapnel trust list` shows the approvals", errors.New("no approval is meant by that"))
				}
				fmt.Fprintf(a.out, "removed %d\n", n)
				return nil
			})
		},
	}
	c.Flags().StringVar(&sel.File, "file", "", "all of this configuration `file`")
	c.Flags().StringVar(&sel.Dialect, "dialect", "", "all of this `dialect`")
	c.Flags().StringVar(&sel.ID, "id", "", "the hook of this `id`")
	return c
}

func (a *app) trustClearCommand() *cobra.Command {
	return &cobra.Command{
		Use: "clear", Short: "Forget all approvals", Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			return a.withStore(func(store *trust.Store) error {
				if err := store.Clear(); err != nil {
					return err
				}
				fmt.Fprintln(a.out, "no hook is approved any more")
				return nil
			})
		},
	}
}

func (a *app) withStore(use func(*trust.Store) error) error {
	tr, closeTrust, err := openTrust(a.paths)
	if err != nil {
		return err
	}
	defer closeTrust()
	return use(tr.Store)
}
