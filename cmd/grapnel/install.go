package main

import (
	"errors"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/grapnel-dev/grapnel/internal/edge"
	"github.com/grapnel-dev/grapnel/internal/edge/hookwire"
	"github.com/grapnel-dev/grapnel/internal/edge/install"
)

// installFlags are those of install and uninstall.
type installFlags struct {
	user, project, print, messages bool
}

func (f *installFlags) add(c *cobra.Command) {
	c.Flags().BoolVar(&f.user, "user", false, "the user's own settings (the default)")
	c.Flags().BoolVar(&f.project, "project", false, "the settings of the project in this directory")
	c.Flags().BoolVar(&f.print, "print", false, "show the change and make none")
	c.MarkFlagsMutuallyExclusive("user", "project")
}

func (f *installFlags) scope() install.Scope {
	if f.project {
		return install.Project
	}
	return install.User
}

func (a *app) installCommand() *cobra.Command {
	var f installFlags
	c := &cobra.Command{
		Use:   "install AGENT",
		Short: "Put our hooks into an agent's own settings",
		Long: `Put grapnel's entries into the agent's own settings file, keeping everything that
is there, comments included. The file is replaced at once, with a backup beside
it; doing it twice changes nothing.`,
		Args: cobra.ExactArgs(1), ValidArgs: edge.Agents(),
		RunE: func(_ *cobra.Command, args []string) error {
			shim, err := sibling("grapnel-hook")
			if err != nil {
				return err
			}
			if !exists(shim) {
				return fail(exitUsage, "build both: go install github.com/grapnel-dev/grapnel/cmd/...", fmt.Errorf("%s, which the agent would start, is not there", shim))
			}
			return a.edit(args[0], shim, f, (*install.ClaudeCode).PlanInstall)
		},
	}
	f.add(c)
	c.Flags().BoolVar(&f.messages, "message-display", false, "register that event too: one more process for each streamed piece of text")
	return c
}

func (a *app) uninstallCommand() *cobra.Command {
	var f installFlags
	c := &cobra.Command{
		Use: "uninstall AGENT", Short: "Take our hooks out of an agent's settings, and nothing else",
		Args: cobra.ExactArgs(1), ValidArgs: edge.Agents(),
		RunE: func(_ *cobra.Command, args []string) error {
			shim, err := sibling("grapnel-hook")
			if err != nil {
				return err
			}
			return a.edit(args[0], shim, f, (*install.ClaudeCode).PlanUninstall)
		},
	}
	f.add(c)
	return c
}

func (a *app) edit(agent, shim string, f installFlags, plan func(*install.ClaudeCode) (*install.Change, error)) error {
	if agent != hookwire.ClaudeCode {
		return unknownAgent(agent)
	}
	settings, err := install.NewClaudeCode(f.scope(), shim, &install.Options{
		Getenv: a.getenv, MessageDisplay: f.messages,
		Flags: []string{"--socket", a.paths.socket, "--state", a.paths.state, "--config", a.paths.config},
	})
	if err != nil {
		return err
	}
	change, err := plan(settings)
	if errors.Is(err, install.ErrSettings) {
		return fail(exitFailed, "nothing has been changed; mend the file and try again", err)
	}
	if err != nil {
		return err
	}
	for _, left := range change.Left {
		fmt.Fprintf(a.err, "grapnel: not touched, because it is not of our making: %s\n", left)
	}
	if f.print {
		fmt.Fprint(a.out, change.Diff())
		return nil
	}
	if change.Empty() {
		fmt.Fprintf(a.out, "%s: nothing to change\n", change.Path)
		return nil
	}
	backup, err := change.Apply()
	if err != nil {
		return err
	}
	fmt.Fprintf(a.out, "%s: changed\n", change.Path)
	if backup != "" {
		fmt.Fprintf(a.out, "%s: how it was\n", backup)
	}
	return nil
}

func unknownAgent(agent string) error {
	return fail(exitUsage, fmt.Sprintf("it is one of %v", edge.Agents()), fmt.Errorf("agent %.40q is not known", agent))
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}
