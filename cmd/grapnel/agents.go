package main

import (
	"fmt"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/grapnel-dev/grapnel/internal/edge"
	"github.com/grapnel-dev/grapnel/internal/edge/install"
)

// agentEvent is what an agent can be made to do on an event, and where our
// hook for it stands.
type agentEvent struct {
	edge.Capability
	// Registered are the scopes whose settings have it.
	Registered []string `json:"registered"`
}

// agentAbout is one agent.
type agentAbout struct {
	Agent string `json:"agent"`
	edge.About
	Files  []agentsFile `json:"files"`
	Events []agentEvent `json:"events"`
}

// agentsFile is a settings file that can have our hooks.
type agentsFile struct {
	Scope     string `json:"scope"`
	Path      string `json:"path"`
	Installed bool   `json:"installed"`
}

func (a *app) agentsCommand() *cobra.Command {
	var markdown bool
	c := &cobra.Command{
		Use: "agents [AGENT]", Short: "Agents known, their events, what each can do",
		Long: `List what each agent can be made to do on each of its events, and where our hook
for it is registered. With AGENT also its settings files, what our hooks are not
registered for and why, and what its users should know.`,
		Args: cobra.MaximumNArgs(1), ValidArgs: edge.Agents(),
		RunE: func(_ *cobra.Command, args []string) error {
			if markdown {
				_, err := fmt.Fprint(a.out, edge.Page())
				return err
			}
			if len(args) == 1 {
				return a.showAgent(args[0])
			}
			var all []agentEvent
			for _, agent := range edge.Agents() {
				about, err := a.aboutAgent(agent)
				if err != nil {
					return err
				}
				all = append(all, about.Events...)
			}
			if a.json {
				return a.printJSON(all)
			}
			return a.agentTable(all)
		},
	}
	c.Flags().BoolVar(&markdown, "markdown", false, "all of it as a page of documentation")
	return c
}

func (a *app) aboutAgent(agent string) (agentAbout, error) {
	about := agentAbout{Agent: agent, About: edge.Describe(agent), Files: []agentsFile{}}
	var files []install.FileStatus
	if slices.Contains(install.Agents(), agent) {
		s, err := install.Inspect(agent, &install.Options{Getenv: a.getenv})
		if err != nil {
			return agentAbout{}, err
		}
		files = slices.Concat(s.Files, s.Managed)
	}
	for _, f := range files {
		about.Files = append(about.Files, agentsFile{f.Scope, f.Path, f.Installed()})
	}
	for _, c := range edge.Capabilities() {
		if c.Agent != agent {
			continue
		}
		e := agentEvent{Capability: c, Registered: []string{}}
		for _, f := range files {
			if slices.Contains(f.Events, c.Event) {
				e.Registered = append(e.Registered, f.Scope)
			}
		}
		about.Events = append(about.Events, e)
	}
	return about, nil
}

func (a *app) agentTable(events []agentEvent) error {
	w := tabwriter.NewWriter(a.out, 0, 4, 2, ' ', 0)
	fmt.Fprintln(w, "AGENT\tEVENT\tCANONICAL\tCLASS\tBLOCK\tASK\tGRANT\tREWRITE\tCONTEXT\tCONTINUE\tREGISTERED")
	for _, c := range events {
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\n", c.Agent, c.Event, c.Canonical, c.Class,
			mark(c.Block), mark(c.Ask), mark(c.Grant), mark(c.Rewrite), mark(c.Context), mark(c.Continue), strings.Join(c.Registered, " "))
	}
	return w.Flush()
}

func (a *app) showAgent(agent string) error {
	if !slices.Contains(edge.Agents(), agent) {
		return unknownAgent(agent)
	}
	about, err := a.aboutAgent(agent)
	if err != nil {
		return err
	}
	if a.json {
		return a.printJSON(about)
	}
	if err := a.agentTable(about.Events); err != nil {
		return err
	}
	section := func(title string, lines []string) {
		if len(lines) > 0 {
			fmt.Fprintf(a.out, "\n%s\n  %s\n", title, strings.Join(lines, "\n  "))
		}
	}
	var files, notes []string
	for _, f := range about.Files {
		state := "no hooks of ours"
		if f.Installed {
			state = "our hooks"
		}
		files = append(files, fmt.Sprintf("%s (%s): %s", f.Path, f.Scope, state))
	}
	for _, e := range about.Events {
		if e.Note != "" {
			notes = append(notes, e.Event+": "+e.Note)
		}
	}
	section("How it runs hooks:", []string{
		"hooks of one event run " + about.Manner.Order, "a tool call whose hook fails: " + about.Manner.Failure,
		"time-outs in its settings: " + about.Manner.Unit,
	})
	section("Settings of "+about.Title+":", files)
	section("Its events:", notes)
	section("Good to know:", about.Quirks)
	return nil
}

func mark(yes bool) string {
	if yes {
		return "yes"
	}
	return "-"
}
