package main

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/grapnel-dev/grapnel/internal/edge"
	"github.com/grapnel-dev/grapnel/internal/edge/install"
)

// installFlags are those of install and uninstall.
type installFlags struct {
	user, project, print, messages, http bool
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
		Long: `Put grapnel's entries into the agent's own settings, keeping everything that is
there, comments included. Each file is replaced at once, with a backup beside
it; doing it twice changes nothing, and doing it with and without --http changes
from one to the other. With --http the token for the bus stands in the settings,
which are yours alone to read then. AGENT is one of
` + strings.Join(install.Agents(), " ") + `.`,
		Args: cobra.ExactArgs(1), ValidArgs: install.Agents(),
		RunE: func(_ *cobra.Command, args []string) error {
			shim, err := sibling("grapnel-hook")
			if err != nil {
				return err
			}
			if !exists(shim) {
				return fail(exitUsage, "build both: go install github.com/grapnel-dev/grapnel/cmd/...", fmt.Errorf("%s, which the agent would start, is not there", shim))
			}
			settings, err := a.edit(args[0], shim, f, (*install.Settings).PlanInstall)
			if err == nil && !f.print && settings.Note() != "" {
				fmt.Fprintf(a.out, "note: %s\n", settings.Note())
			}
			return err
		},
	}
	f.add(c)
	c.Flags().BoolVar(&f.messages, "message-display", false, "register the pieces of streamed messages too: one more process for each")
	c.Flags().BoolVar(&f.http, "http", false, "have hooks posted to the bus instead of starting a process for each, where the agent can; they stay commands where it cannot")
	return c
}

func (a *app) uninstallCommand() *cobra.Command {
	var f installFlags
	c := &cobra.Command{
		Use: "uninstall AGENT", Short: "Take our hooks out of an agent's settings, and nothing else",
		Args: cobra.ExactArgs(1), ValidArgs: install.Agents(),
		RunE: func(_ *cobra.Command, args []string) error {
			shim, err := sibling("grapnel-hook")
			if err != nil {
				return err
			}
			_, err = a.edit(args[0], shim, f, (*install.Settings).PlanUninstall)
			return err
		},
	}
	f.add(c)
	return c
}

// edit makes a plan and, unless it is only to be shown, the change.
func (a *app) edit(agent, shim string, f installFlags, plan func(*install.Settings) (*install.Plan, error)) (*install.Settings, error) {
	if !slices.Contains(install.Agents(), agent) {
		return nil, unknownAgent(agent)
	}
	post, err := a.posting(agent, f)
	if err != nil {
		return nil, err
	}
	settings, err := install.New(agent, f.scope(), shim, &install.Options{
		Getenv: a.getenv, MessageDisplay: f.messages, HTTP: post,
		Flags: []string{"--socket", a.paths.socket, "--state", a.paths.state, "--config", a.paths.config},
	})
	if errors.Is(err, install.ErrHTTP) {
		return nil, fail(exitUsage, listenHint, err)
	}
	if err != nil {
		return nil, err
	}
	change, err := plan(settings)
	if errors.Is(err, install.ErrSettings) {
		return nil, fail(exitFailed, "nothing has been changed; mend the file and try again", err)
	}
	if err != nil {
		return nil, err
	}
	for _, left := range change.Left {
		fmt.Fprintf(a.err, "grapnel: not touched, because it is not of our making: %s\n", left)
	}
	for _, note := range change.Notes {
		fmt.Fprintf(a.err, "grapnel: %s\n", note)
	}
	if f.print {
		fmt.Fprint(a.out, change.Diff())
		return settings, nil
	}
	if change.Empty() {
		fmt.Fprintf(a.out, "%s: nothing to change\n", settings.Path())
		return settings, nil
	}
	done, err := change.Apply()
	for _, d := range done {
		word := "changed"
		if d.Removed {
			word = "removed, since it was ours alone"
		}
		fmt.Fprintf(a.out, "%s: %s\n", d.Path, word)
		if d.Backup != "" {
			fmt.Fprintf(a.out, "%s: how it was\n", d.Backup)
		}
	}
	return settings, err
}

const listenHint = `put http: {listen: "127.0.0.1:7421"} into the configuration, or another loopback address with its port`

// posting says where hooks are posted to and with which token, nil without
// --http. A token is made where there is none, unless nothing is to change.
func (a *app) posting(agent string, f installFlags) (*install.HTTP, error) {
	if !f.http {
		return nil, nil
	}
	if err := install.CheckHTTP(agent, f.scope()); err != nil {
		return nil, fail(exitUsage, "leave --http out, or install for the user", err)
	}
	c, err := loadConfig(a.paths)
	if err != nil {
		return nil, err
	}
	if c.HTTP.Listen == "" {
		return nil, fail(exitUsage, listenHint, fmt.Errorf("%s names no address on which the bus listens", a.paths.config))
	}
	post := &install.HTTP{Base: "http://" + c.HTTP.Listen}
	if f.print {
		// What stands for the token is not shown, and neither is the token.
		post.Token = "none-yet"
		if text, err := os.ReadFile(a.paths.httpToken()); err == nil {
			post.Token = strings.TrimSpace(string(text))
		}
		return post, nil
	}
	if err := os.MkdirAll(a.paths.state, 0o700); err != nil {
		return nil, err
	}
	if post.Token, err = httpToken(a.paths); err != nil {
		return nil, fmt.Errorf("token for HTTP: %w", err)
	}
	return post, nil
}

func unknownAgent(agent string) error {
	return fail(exitUsage, fmt.Sprintf("it is one of %v", edge.Agents()), fmt.Errorf("agent %.40q is not known", agent))
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}
