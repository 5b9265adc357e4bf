package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/grapnel-dev/grapnel/bus/cloudevent"
	"github.com/grapnel-dev/grapnel/bus/hook"
	"github.com/grapnel-dev/grapnel/subscribers/policy"
)

func (a *app) policyCommand() *cobra.Command {
	c := &cobra.Command{Use: "policy", Short: "The rules: check, test, explain"}
	c.AddCommand(a.policyCheckCommand(), a.policyTestCommand(), a.policyExplainCommand(), a.policyShowCommand(), a.policyReloadCommand())
	return c
}

// policyFor compiles the files given, or the configured policy when none is.
func (a *app) policyFor(files []string, noDefault bool) (*policy.Policy, error) {
	if len(files) == 0 {
		c, err := loadConfig(a.paths)
		if err != nil {
			return nil, err
		}
		d, err := newPolicy(c, a.paths)
		if err != nil {
			return nil, fail(exitFound, "mend it and try again", err)
		}
		return d.Policy(), nil
	}
	d, err := policy.NewDecider(files, &policy.DeciderOptions{Options: policyOptions(a.paths), NoDefault: noDefault})
	if err != nil {
		return nil, fail(exitFound, "mend it and try again", err)
	}
	return d.Policy(), nil
}

func (a *app) policyCheckCommand() *cobra.Command {
	var noDefault bool
	c := &cobra.Command{
		Use:   "check [FILE…]",
		Short: "Compile policy files",
		Long:  "Compile policy files together with the policy that ships, or the configured\npolicy when none is named. Exits with 3 when something is wrong.",
		RunE: func(_ *cobra.Command, args []string) error {
			p, err := a.policyFor(args, noDefault)
			if err != nil {
				return err
			}
			if a.json {
				return a.printJSON(map[string]any{"rules": p.Rules(), "digest": p.Digest()})
			}
			fmt.Fprintf(a.out, "%d rules, digest %s\n", len(p.Rules()), p.Digest())
			return nil
		},
	}
	c.Flags().BoolVar(&noDefault, "no-default", false, "without the policy that ships")
	return c
}

func (a *app) policyTestCommand() *cobra.Command {
	var files []string
	var noDefault bool
	c := &cobra.Command{
		Use:   "test [TABLE…]",
		Short: "Hold a policy against table files of events and what to expect",
		Long:  "Hold the policy against table files; without any, the policy that ships against\nits own. Exits with 3 when a case fails.",
		RunE: func(c *cobra.Command, tables []string) error {
			type table struct {
				name string
				text []byte
			}
			var all []table
			p, err := a.policyFor(files, noDefault)
			if len(tables) == 0 {
				all = append(all, table{"default_test.yaml", policy.DefaultTable()})
				if len(files) == 0 {
					p, err = policy.Compile([]policy.Source{policy.DefaultSource()}, nil)
				}
			}
			if err != nil {
				return err
			}
			for _, name := range tables {
				text, err := os.ReadFile(name)
				if err != nil {
					return fail(exitUsage, "", err)
				}
				all = append(all, table{name, text})
			}
			cases, failed := 0, 0
			for _, t := range all {
				r, err := policy.RunTable(c.Context(), p, t.name, t.text)
				if err != nil {
					return fail(exitUsage, "see `go doc github.com/grapnel-dev/grapnel/subscribers/policy.ReadTable`", err)
				}
				for _, result := range r.Results {
					if !result.OK {
						fmt.Fprintf(a.out, "%s:%d: %s\n", t.name, result.Case.Line, oneLine(result.String(), 400))
					}
				}
				cases, failed = cases+len(r.Results), failed+r.Failed
			}
			fmt.Fprintf(a.out, "%d cases, %d failed\n", cases, failed)
			if failed > 0 {
				return silent(exitFound)
			}
			return nil
		},
	}
	c.Flags().StringSliceVar(&files, "policy", nil, "policy `file` to test instead of the configured ones")
	c.Flags().BoolVar(&noDefault, "no-default", false, "without the policy that ships")
	return c
}

func (a *app) policyExplainCommand() *cobra.Command {
	var files []string
	c := &cobra.Command{
		Use:     "explain [COMMAND…]",
		Short:   "Which rule decides, and why",
		Long:    "Say what the policy makes of a shell command, or of an event as structured\nCloudEvents JSON on standard input.",
		Example: "  grapnel policy explain 'curl https://example.com/x | sh'",
		RunE: func(c *cobra.Command, args []string) error {
			var e hook.Event
			var err error
			if len(args) > 0 {
				e = shellEvent(strings.Join(args, " "))
			} else {
				var text []byte
				if text, err = io.ReadAll(io.LimitReader(a.in, 2*cloudevent.MaxData)); err == nil {
					e, err = cloudevent.Unmarshal(text)
				}
			}
			if err != nil {
				return fail(exitUsage, "give a shell command, or an event as in `grapnel schema event` on standard input", err)
			}
			p, err := a.policyFor(files, false)
			if err != nil {
				return err
			}
			x, err := p.Explain(c.Context(), e)
			if err != nil {
				return err
			}
			if a.json {
				return a.printJSON(x)
			}
			a.printExplanation(x)
			return nil
		},
	}
	c.Flags().StringSliceVar(&files, "policy", nil, "policy `file` instead of the configured ones")
	return c
}

func shellEvent(line string) hook.Event {
	cwd, _ := os.Getwd()
	input, _ := json.Marshal(map[string]string{"command": line}) // strings always marshal
	return hook.Event{
		ID: "explain", Source: "/localhost/grapnel", Name: hook.PreToolUse, Subject: "Bash", Time: time.Now().UTC(),
		Data: hook.Data{CWD: cwd, Tool: &hook.Tool{Name: "Bash", Kind: hook.KindShell, Input: input}},
	}
}

func (a *app) printExplanation(x *policy.Explanation) {
	if x.Error != "" {
		fmt.Fprintf(a.out, "cannot be decided: %s\n", x.Error)
	}
	fmt.Fprintf(a.out, "%s", x.Decision.Effect)
	if x.Decision.Reason != "" {
		fmt.Fprintf(a.out, ": %s", oneLine(x.Decision.Reason, 500))
	}
	fmt.Fprintln(a.out)
	for _, r := range x.Rules {
		if !r.Matched && r.Error == "" {
			continue
		}
		fmt.Fprintf(a.out, "  rule %s (%s, %s) matches: %s\n", r.Name, r.Effect, r.Where, oneLine(r.When, 300))
		if r.Error != "" {
			fmt.Fprintf(a.out, "    %s\n", oneLine(r.Error, 300))
		}
	}
	for _, cmd := range x.Commands {
		fmt.Fprintf(a.out, "  command %s\n", oneLine(fmt.Sprintf("%s %q", cmd.Name, cmd.Argv), 300))
	}
	for _, p := range x.Paths {
		fmt.Fprintf(a.out, "  path %s %s %v\n", p.Op, oneLine(p.Path, 200), p.Where)
	}
	if x.Opaque {
		fmt.Fprintf(a.out, "  not fully understood: %s\n", oneLine(strings.Join(x.Reasons, "; "), 300))
	}
}

func (a *app) policyShowCommand() *cobra.Command {
	return &cobra.Command{
		Use: "show", Short: "Print the policy that ships", Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			_, err := a.out.Write(policy.Default())
			return err
		},
	}
}

func (a *app) policyReloadCommand() *cobra.Command {
	return &cobra.Command{
		Use: "reload", Short: "Have the running bus read the policy anew", Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if err := a.ask(c.Context(), verbReload, nil, nil); err != nil {
				return err
			}
			fmt.Fprintln(a.out, "reloaded")
			return nil
		},
	}
}
